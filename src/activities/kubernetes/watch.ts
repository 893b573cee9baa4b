import { setTimeout as sleep } from 'node:timers/promises';
import { unmeasured } from '../../domain/core/verdict.ts';
import { describeQuery, resourcePath } from './kinds.ts';
import type { KubeObject, ListQuery, WatchEvent } from './port.ts';
import { listObjects } from './reads.ts';
import type { Connection } from './reads.ts';
import { jitter } from './retry.ts';
import { watchOnce } from './watch-stream.ts';
import type { StreamEnd } from './watch-stream.ts';

/** How a watch paces itself; tests make it faster. */
export interface WatchPace {
  /** How long one watch is asked to last at most: long, since each end costs a request. Half of it at least. */
  readonly lastMs: number;
  /** Bookmarks come about once a minute; after this long without a byte the connection counts as dead. */
  readonly quietMs: number;
  readonly firstBackoffMs: number;
  readonly maxBackoffMs: number;
}

export const defaultPace: WatchPace = {
  lastMs: 10 * 60_000,
  quietMs: 3 * 60_000,
  firstBackoffMs: 250,
  maxBackoffMs: 10_000,
};

/**
 * Lists, then follows; see KubernetesPort.watch. Resumes by resourceVersion wherever it can, so that an idle watch costs
 * one request each few minutes and no list. A break is told (`interrupted`) only when the first try to resume fails too.
 */
export async function* watchObjects<T extends KubeObject>(
  connection: Connection,
  query: ListQuery,
  signal: AbortSignal,
  pace: WatchPace = defaultPace,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const { transport } = connection;
  const what = describeQuery(query).replace(/^list/, 'watch');
  const backoff = createBackoff(pace, signal);
  let version: string | undefined;
  let brokenInARow = 0;

  while (!signal.aborted) {
    if (version === undefined) {
      const list = await listObjects<T>(connection, query, { signal });
      if (signal.aborted) return;
      if (list.kind === 'unmeasured') {
        yield { type: 'interrupted', reading: list };
        await backoff.wait();
        continue;
      }
      version = list.value.resourceVersion;
      yield { type: 'listed', items: list.value.items, resourceVersion: version };
    }
    const path = await watchPath(connection, query);
    if (path === undefined) {
      yield { type: 'interrupted', reading: unmeasured(what, transport.server, 'error', `${what} has no address`) };
      await backoff.wait();
      continue;
    }
    const started = performance.now();
    const request = watchRequest(path, query, version, connection.requestTimeoutMs, pace);
    let end: StreamEnd = { type: 'ended' };
    let heard = false;
    for await (const event of watchOnce<T>(transport, what, request, { quietMs: pace.quietMs, signal })) {
      if (event.type === 'ended' || event.type === 'expired' || event.type === 'broken') {
        end = event;
        break;
      }
      heard = true;
      brokenInARow = 0;
      version = event.type === 'bookmark' ? event.resourceVersion : (event.object.metadata.resourceVersion ?? version);
      if (event.type !== 'bookmark') yield event;
      if (signal.aborted) return;
    }
    if (signal.aborted) return;
    // A watch that lasted or brought something is a sound one: no need to hold back before the next.
    if (heard || performance.now() - started > 5_000) backoff.reset();
    if (end.type === 'expired') version = undefined;
    if (end.type === 'broken') {
      brokenInARow += 1;
      // A connection that broke off is resumed at once, and told only if that fails too.
      if (brokenInARow > 1 || !end.established) yield { type: 'interrupted', reading: end.reading };
    }
    await backoff.wait(end.type === 'broken' ? end.retryAfterMs : undefined);
  }
}

function watchRequest(path: string, query: ListQuery, version: string, timeoutMs: number, pace: WatchPace) {
  return {
    method: 'GET' as const,
    path,
    query: {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: version,
      timeoutSeconds: String(Math.max(1, Math.round(jitter(pace.lastMs) / 1_000))),
      labelSelector: query.labelSelector,
      fieldSelector: query.fieldSelector,
    },
    timeoutMs,
  };
}

async function watchPath({ discovery, requestTimeoutMs }: Connection, query: ListQuery): Promise<string | undefined> {
  const resource = await discovery.resource(query, requestTimeoutMs);
  if (resource.kind === 'unmeasured') return undefined;
  const path = resourcePath(query, resource.value);
  return 'path' in path ? path.path : undefined;
}

/** However long the API server asks to wait, somebody may be waiting for the news. */
const maxRetryAfterMs = 60_000;

/** The first wait after a reset is none; then they double, up to the maximum. */
function createBackoff({ firstBackoffMs, maxBackoffMs }: WatchPace, signal: AbortSignal) {
  let next = 0;
  return {
    reset(): void {
      next = 0;
    },
    async wait(atLeastMs = 0): Promise<void> {
      const waitMs = Math.max(jitter(next), Math.min(atLeastMs, maxRetryAfterMs));
      next = Math.min(maxBackoffMs, next === 0 ? firstBackoffMs : next * 2);
      if (waitMs === 0 || signal.aborted) return;
      // The only error is the abort, which the caller looks at next.
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    },
  };
}
