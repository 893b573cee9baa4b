import type { Pod } from '../../domain/core/workload.ts';
import type { NodeState } from '../../domain/release/pod-trouble.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { nodeStateOf, type NodeObject } from './nodes.ts';
import type { Pulse } from '../pulse.ts';

/** Reads the nodes that pods are on, beside the watching: a node in trouble is no fault of an image. */
export interface NodeKeeper {
  /** Reads the nodes of these pods that are not known or known for long. */
  look(pods: readonly Pod[]): void;
  /** By name, as far as they could be read. */
  known(): Readonly<Record<string, NodeState>>;
}

const OLD_MS = 10_000;

export function createNodeKeeper(
  port: KubernetesPort,
  clock: () => number,
  pulse: Pulse,
  signal: AbortSignal,
): NodeKeeper {
  const states: Record<string, NodeState> = {};
  const asked = new Map<string, number>();

  async function read(name: string): Promise<void> {
    const found = await port.get<NodeObject>({ apiVersion: 'v1', kind: 'Node', name }, { signal });
    if (found.kind === 'read') states[name] = nodeStateOf(found.value);
    // A node that has gone takes its pods with it; one that may not be read stays unknown.
    else if (found.why === 'missing') states[name] = { ready: false, cordoned: null, platform: null };
    pulse.happened();
  }

  return {
    known: () => states,
    look(pods) {
      const now = clock();
      for (const name of new Set(pods.map((pod) => pod.spec?.nodeName ?? ''))) {
        if (name === '' || now - (asked.get(name) ?? 0) < OLD_MS) continue;
        asked.set(name, now);
        // Its only error is the abort of the whole watch.
        read(name).catch(() => undefined);
      }
    },
  };
}
