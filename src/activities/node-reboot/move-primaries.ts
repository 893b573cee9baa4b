import { fail, pass, read, type Reading } from '../../domain/core/verdict.ts';
import { primariesOn, readCloudNativePg, type PrimaryHere } from '../../domain/node-reboot/gates/cloud-native-pg.ts';
import { cordonManager } from '../../domain/node-reboot/node.ts';
import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { sleep, type WaitContext } from '../wait-context.ts';
import { readNodes } from './nodes.ts';
import type { StepInput } from './port.ts';

const apiVersion = 'postgresql.cnpg.io/v1';
const pollMs = 2_000;

/** Which primaries were promoted away, so that another worker does not ask a second time. */
export interface MoveProgress {
  readonly promoted: readonly string[];
}

/**
 * Waits until no primary of a database is on the node any more: the cordon is what makes CloudNativePG switch over, and
 * evicting first would wait for ever at the budget of the primary. A primary that has not left by the deadline has its
 * successor promoted, once, and is given as much time again. See NodeRebootActivities.movePrimaries.
 */
export async function movePrimaries(
  port: KubernetesPort,
  { spec, record, deadline }: StepInput,
  clock: () => number,
  { signal, resumed, progress }: WaitContext<MoveProgress>,
): Promise<ResultOf<'movePrimaries'>> {
  const { node } = record.visit;
  const ended = (verdict: ResultOf<'movePrimaries'>['verdict']) => ({ of: 'movePrimaries', verdict }) as const;
  if (spec.gates.cloudNativePG === undefined) return ended(pass('the spec names no databases'));
  let { promoted } = resumed ?? { promoted: [] };
  for (;;) {
    const here = await primariesHere(port, node, signal);
    if (here.kind === 'read' && here.value.length === 0) return ended(pass(`no primary is on node ${node}`));
    if (here.kind === 'read' && clock() >= deadline) {
      for (const primary of here.value.filter(({ cluster, moving }) => !moving && !promoted.includes(cluster))) {
        if (!(await promote(port, primary, clock()))) continue;
        promoted = [...promoted, primary.cluster];
        progress({ promoted });
      }
    }
    if (clock() >= deadline + spec.moveTimeout) {
      if (here.kind === 'unmeasured') return ended(here);
      return ended(fail('PrimaryStays', here.value.map((primary) => describe(primary, node)).join('; ')));
    }
    await sleep(pollMs, signal);
  }
}

async function primariesHere(
  port: KubernetesPort,
  node: string,
  signal: AbortSignal,
): Promise<Reading<readonly PrimaryHere[]>> {
  const clusters = await port.list({ apiVersion, kind: 'Cluster' }, { signal });
  const pods = await port.list({ apiVersion: 'v1', kind: 'Pod', labelSelector: 'cnpg.io/cluster' }, { signal });
  signal.throwIfAborted();
  const facts = readCloudNativePg(
    clusters.kind === 'read' ? read(clusters.value.items) : clusters,
    pods.kind === 'read' ? read(pods.value.items) : pods,
  );
  return primariesOn(facts, await readNodes(port, signal), node);
}

/**
 * Asks the operator for a switchover, as `kubectl cnpg promote` does: by the target in the status of the cluster
 * (cloudnative-pg, internal/cmd/plugin/promote, with its optimistic lock). What comes of it is seen at the next look.
 *
 * @returns false where the cluster was no longer as it was read: the operator may have begun a failover to a better replica
 */
async function promote(
  port: KubernetesPort,
  { cluster, successor, version }: PrimaryHere,
  now: number,
): Promise<boolean> {
  if (successor === null) return true;
  const [namespace = '', name = ''] = cluster.split('/');
  const status = {
    targetPrimary: successor,
    targetPrimaryTimestamp: new Date(now).toISOString(),
    phase: 'Switchover in progress',
    phaseReason: `Switching over to ${successor}`,
  };
  const options = {
    ...({ type: 'merge', fieldManager: cordonManager, subresource: 'status' } as const),
    preconditions: { resourceVersion: version },
  };
  const outcome = await port.patch({ apiVersion, kind: 'Cluster', namespace, name }, { status }, options);
  return outcome.kind !== 'conflict';
}

function describe({ cluster, pod, successor }: PrimaryHere, node: string): string {
  const how = successor === null ? 'and no replica could take over' : `although ${successor} was to take over`;
  return `${pod} is still the primary of ${cluster} on node ${node}, ${how}`;
}
