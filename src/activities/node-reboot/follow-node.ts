import { unmeasured, type Reading } from '../../domain/core/verdict.ts';
import type { NodeReading } from '../../domain/node-reboot/node.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { createPulse } from '../pulse.ts';
import { nodeReading, type NodeObject } from './nodes.ts';

/** Waits for a change of the node, or so many milliseconds, and tells how it is then. */
export type NextLook = (ms: number) => Promise<Reading<NodeReading>>;

/**
 * Follows one node by a watch while `work` runs: a node that takes minutes to boot costs no request a look. While the API
 * server does not answer nothing is known of the node. The watch ends with the work.
 */
export async function followingNode<T>(
  port: KubernetesPort,
  name: string,
  signal: AbortSignal,
  work: (next: NextLook) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const pulse = createPulse();
  const what = `node ${name}`;
  let latest: Reading<NodeReading> = unmeasured(what, 'API server', 'not-ready', `${what} was not seen yet`);

  async function watch(): Promise<void> {
    const query = { apiVersion: 'v1', kind: 'Node', fieldSelector: `metadata.name=${name}` };
    const events = port.watch<NodeObject>(query, { signal: AbortSignal.any([signal, end.signal]) });
    for await (const event of events) {
      if (event.type === 'interrupted') latest = event.reading;
      else {
        const object = event.type === 'listed' ? event.items[0] : event.object;
        const isGone = object === undefined || event.type === 'deleted';
        latest = isGone ? unmeasured(what, 'API server', 'missing', `${what} is gone`) : nodeReading(object);
      }
      pulse.happened();
    }
  }

  const watching = watch();
  try {
    return await work(async (ms) => {
      await pulse.next(ms, signal);
      return latest;
    });
  } finally {
    end.abort();
    await watching.catch(() => undefined);
  }
}
