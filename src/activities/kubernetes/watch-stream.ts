import { unmeasured } from '../../domain/core/verdict.ts';
import type { Unmeasured } from '../../domain/core/verdict.ts';
import { isRecord, judge, parseJson, parseStatus, unmeasuredBy } from './errors.ts';
import { readLines } from './lines.ts';
import type { KubeObject } from './port.ts';
import { isKubeObject } from './reads.ts';
import type { KubeRequest, Stream, Transport } from './transport.ts';

/** One event of one watch connection, or how it came to its end. */
export type StreamEvent<T> =
  | { readonly type: 'added' | 'modified' | 'deleted'; readonly object: T }
  | { readonly type: 'bookmark'; readonly resourceVersion: string }
  | StreamEnd;

export type StreamEnd =
  /** The stream is over, as all watches are after a while: go on from the last resourceVersion. */
  | { readonly type: 'ended' }
  /** The resourceVersion is too old (HTTP 410, or an ERROR event with 410): list again. */
  | { readonly type: 'expired' }
  /** It broke or was refused. */
  | {
      readonly type: 'broken';
      readonly reading: Unmeasured;
      readonly retryAfterMs?: number;
      readonly established: boolean;
    };

const types = { ADDED: 'added', MODIFIED: 'modified', DELETED: 'deleted' } as const;

/** Opens one watch and yields what comes, and exactly one StreamEnd last, unless the signal aborts. */
export async function* watchOnce<T extends KubeObject>(
  transport: Transport,
  what: string,
  request: KubeRequest,
  { quietMs, signal }: { readonly quietMs: number; readonly signal: AbortSignal },
): AsyncGenerator<StreamEvent<T>, void, undefined> {
  const stream = await transport.open({ ...request, signal });
  if (signal.aborted) {
    if (stream.kind === 'stream') stream.destroy();
    return;
  }
  if (stream.kind !== 'stream') {
    if (stream.kind === 'answer' && stream.status === 410) return yield { type: 'expired' };
    const wait = judge(stream).retryAfterMs;
    const reading = unmeasuredBy(what, transport.server, stream);
    return yield { type: 'broken', reading, established: false, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
  }
  try {
    for await (const line of readLines(untilQuiet(stream, quietMs))) {
      const event = parseEvent<T>(line);
      if (event === undefined) {
        // Resuming before it brings it again, whole.
        const reading = unmeasured(what, transport.server, 'unparsed', `${what}: a line of the watch is no event`);
        return yield { type: 'broken', reading, established: true };
      }
      if (event.type === 'error') {
        const code = event.code;
        if (code === 410) return yield { type: 'expired' };
        const reading = unmeasuredBy(what, transport.server, {
          kind: 'answer',
          status: code,
          contentType: '',
          body: event.body,
        });
        return yield { type: 'broken', reading, established: true };
      }
      yield event;
    }
    if (!signal.aborted) yield { type: 'ended' };
  } catch {
    if (signal.aborted) return;
    const reading = unmeasured(what, transport.server, 'unreachable', `${what}: the watch broke off`);
    yield { type: 'broken', reading, established: true };
  } finally {
    stream.destroy();
  }
}

/** Ends the stream when nothing has come for a while, bookmarks included: the connection may be dead without a word. */
async function* untilQuiet(stream: Stream, quietMs: number): AsyncGenerator<Uint8Array, void, undefined> {
  const source = stream.chunks[Symbol.asyncIterator]();
  for (;;) {
    let timer: NodeJS.Timeout | undefined;
    const quiet = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), quietMs);
    });
    try {
      const next = await Promise.race([source.next(), quiet]);
      if (next === undefined || next.done === true) return;
      yield next.value;
    } finally {
      clearTimeout(timer);
    }
  }
}

type Parsed<T> =
  Exclude<StreamEvent<T>, StreamEnd> | { readonly type: 'error'; readonly code: number; readonly body: string };

function parseEvent<T extends KubeObject>(line: string): Parsed<T> | undefined {
  const event = parseJson(line);
  if (!isRecord(event) || typeof event.type !== 'string' || !isRecord(event.object)) return undefined;
  if (event.type === 'ERROR') {
    const body = JSON.stringify(event.object);
    const code = event.object.code;
    return {
      type: 'error',
      code: typeof code === 'number' ? code : parseStatus(body)?.reason === 'Expired' ? 410 : 500,
      body,
    };
  }
  if (event.type === 'BOOKMARK') {
    const metadata = event.object.metadata;
    const version = isRecord(metadata) ? metadata.resourceVersion : undefined;
    return typeof version === 'string' ? { type: 'bookmark', resourceVersion: version } : undefined;
  }
  const type = Object.hasOwn(types, event.type) ? types[event.type as keyof typeof types] : undefined;
  if (type === undefined || !isKubeObject(event.object)) return undefined;
  return { type, object: event.object as T };
}
