import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Agent, request } from 'undici';
import { kube } from './kube-api.ts';
import type { LabEnv } from './lab.ts';

/** An object as the API server shows it, as far as a watch needs it. */
export interface WatchedObject {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

/** One write: what it left, or that it took the object away. `revision` is that of etcd, the same for objects of all kinds. */
export interface Written<T> {
  readonly revision: number;
  readonly object: T;
  readonly gone: boolean;
}

export interface KubeWatch {
  /** How often what happened in between can not be told: the API server no longer had it. */
  gaps(): number;
  /** @returns once everything has been seen that was written before */
  caughtUp(): Promise<boolean>;
  stop(): Promise<void>;
}

interface List<T> {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly T[];
}

interface Event<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

const pauseMs = 200;

/**
 * Follows every write to the objects of a path by the API's own watch, apart from the product's client. A watch that ends goes
 * on where it was; where the API server no longer knows that, everything is listed anew.
 *
 * @param path of a list, with its query
 */
export function watchKube<T extends WatchedObject>(
  env: Pick<LabEnv, 'apiServer' | 'caFile' | 'adminToken'>,
  path: string,
  onWrite: (written: Written<T>) => void,
): KubeWatch {
  const agent = new Agent({ connect: { ca: readFileSync(env.caFile, 'utf8') }, headersTimeout: 0, bodyTimeout: 0 });
  const stopping = new AbortController();
  const known = new Map<string, T>();
  let listings = 0;

  function saw(object: T, gone: boolean, at = object.metadata.resourceVersion): void {
    const { name, resourceVersion } = object.metadata;
    if (!gone && known.get(name)?.metadata.resourceVersion === resourceVersion) return;
    if (gone) known.delete(name);
    else known.set(name, object);
    onWrite({ revision: Number(at), object, gone });
  }

  async function list(): Promise<string> {
    const { metadata, items } = await kube<List<T>>(env, 'GET', path);
    listings += 1;
    const there = new Set(items.map((item) => item.metadata.name));
    for (const [name, object] of known) if (!there.has(name)) saw(object, true, metadata.resourceVersion);
    for (const item of items) saw(item, false);
    return metadata.resourceVersion;
  }

  /** Until the watch ends. @returns from where to go on; null where that is no longer known */
  async function follow(from: string): Promise<string | null> {
    const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${from}`;
    const { statusCode, body } = await request(`${env.apiServer}${path}${path.includes('?') ? '&' : '?'}${query}`, {
      dispatcher: agent,
      headers: { authorization: `Bearer ${env.adminToken}`, 'user-agent': 'holdfast-observer' },
      signal: stopping.signal,
    });
    if (statusCode !== 200) {
      await body.dump();
      return statusCode === 410 ? null : from;
    }
    let reached = from;
    try {
      for await (const line of createInterface({ input: body })) {
        const { type, object } = JSON.parse(line) as Event<T>;
        if (type === 'ERROR') return null;
        if (type !== 'BOOKMARK') saw(object, type === 'DELETED');
        reached = object.metadata.resourceVersion;
      }
    } catch {
      // The connection broke, as where the API server was killed: the last whole line counts.
    }
    return reached;
  }

  async function run(): Promise<void> {
    let from: string | null = null;
    while (!stopping.signal.aborted) {
      try {
        from = await follow(from ?? (await list()));
      } catch {
        // Nobody answers: asked again for as long as it takes.
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  const running = run();
  return {
    gaps: () => Math.max(0, listings - 1),
    async caughtUp() {
      const { items } = await kube<List<T>>(env, 'GET', path);
      return items.every(({ metadata }) => {
        const seen = known.get(metadata.name)?.metadata.resourceVersion ?? '0';
        return Number(seen) >= Number(metadata.resourceVersion);
      });
    },
    async stop() {
      stopping.abort();
      await running;
      await agent.destroy();
    },
  };
}
