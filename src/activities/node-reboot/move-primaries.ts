import { fail, pass, read } from '../../domain/core/verdict.ts';
import { primariesOn, readCloudNativePg } from '../../domain/node-reboot/gates/cloud-native-pg.ts';
import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { sleep, type WaitContext } from '../release/wait-context.ts';
import { readNodes } from './nodes.ts';
import type { StepInput } from './port.ts';

const pollMs = 2_000;

/**
 * Waits until no primary of a database is on the node any more: the cordon is what makes CloudNativePG switch over, and
 * evicting first would wait for ever at the budget of the primary. See NodeRebootActivities.movePrimaries.
 */
export async function movePrimaries(
  port: KubernetesPort,
  { spec, record, deadline }: StepInput,
  clock: () => number,
  { signal }: WaitContext<undefined>,
): Promise<ResultOf<'movePrimaries'>> {
  const { node } = record.visit;
  if (spec.gates.cloudNativePG === undefined)
    return { of: 'movePrimaries', verdict: pass('the spec names no databases') };
  for (;;) {
    const clusters = await port.list({ apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster' }, { signal });
    const pods = await port.list({ apiVersion: 'v1', kind: 'Pod', labelSelector: 'cnpg.io/cluster' }, { signal });
    signal.throwIfAborted();
    const facts = readCloudNativePg(
      clusters.kind === 'read' ? read(clusters.value.items) : clusters,
      pods.kind === 'read' ? read(pods.value.items) : pods,
    );
    const here = primariesOn(facts, await readNodes(port, signal), node);
    if (here.kind === 'read' && here.value.length === 0) {
      return { of: 'movePrimaries', verdict: pass(`no primary is on node ${node}`) };
    }
    if (clock() >= deadline) {
      if (here.kind === 'unmeasured') return { of: 'movePrimaries', verdict: here };
      const named = here.value.map(({ cluster, pod }) => `${pod} of ${cluster}`).join(', ');
      return { of: 'movePrimaries', verdict: fail('PrimaryStays', `still primary on node ${node}: ${named}`) };
    }
    await sleep(Math.min(pollMs, Math.max(0, deadline - clock())), signal);
  }
}
