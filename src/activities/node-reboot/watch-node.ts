import { pass, unmeasured, type Verdict } from '../../domain/core/verdict.ts';
import { checkBoot } from '../../domain/node-reboot/check-node.ts';
import { describeBlocking } from '../../domain/node-reboot/gate.ts';
import { judgeReturn } from '../../domain/node-reboot/judge-return.ts';
import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { sleep, type WaitContext } from '../release/wait-context.ts';
import type { NodeRebootDependencies } from './dependencies.ts';
import { readGates } from './gates.ts';
import { readNode } from './nodes.ts';
import type { StepInput } from './port.ts';
import { readHost } from './read-host.ts';

const pollMs = 2_000;

/** See NodeRebootActivities.awaitReturn. While the API server does not answer nothing is known of the node, and nothing is said. */
export async function awaitReturn(
  port: KubernetesPort,
  { record, deadline }: StepInput,
  clock: () => number,
  { signal }: WaitContext<undefined>,
): Promise<ResultOf<'awaitReturn'>> {
  const { visit } = record;
  for (;;) {
    const seen = await readNode(port, visit.node, signal);
    if (seen.kind === 'read') {
      const judged = judgeReturn(seen.value.node, visit, deadline, clock());
      const { message } = judged;
      if (judged.kind === 'returned') return { of: 'awaitReturn', outcome: 'returned', bootId: judged.bootId, message };
      if (judged.kind !== 'waiting') return { of: 'awaitReturn', outcome: judged.kind, message };
    }
    await sleep(pollMs, signal);
  }
}

/** How long the node has been Ready without a break: kept in the heartbeat, so that another worker goes on counting. */
export interface ReadyProgress {
  readonly readySince: number | null;
}

/** See NodeRebootActivities.checkNode. A node that cannot be measured is asked again until the deadline. */
export async function checkNode(
  dependencies: NodeRebootDependencies,
  port: KubernetesPort,
  { spec, record, deadline }: StepInput,
  clock: () => number,
  { signal, resumed, progress }: WaitContext<ReadyProgress>,
): Promise<ResultOf<'checkNode'>> {
  const { visit } = record;
  let readySince = resumed?.readySince ?? null;
  let trouble: string;
  for (;;) {
    const seen = await readNode(port, visit.node, signal);
    if (seen.kind === 'unmeasured') {
      trouble = seen.message;
    } else if (!seen.value.node.ready) {
      readySince = null;
      trouble = `node ${visit.node} is not Ready`;
    } else {
      readySince ??= clock();
      const heldMs = clock() - readySince;
      trouble = `node ${visit.node} was Ready for ${Math.floor(heldMs / 1_000)} s`;
      if (heldMs >= spec.readyHold) {
        const host = await readHost(port, dependencies.hostImage, visit.node, clock, signal);
        const sentinel = host.kind === 'read' ? host.value.sentinel : host;
        const { node } = seen.value;
        const verdict = checkBoot({ node, sentinel }, visit, spec);
        if (verdict.kind !== 'unmeasured') return { of: 'checkNode', verdict, kernel: node.kernel };
        trouble = verdict.message;
      }
    }
    progress({ readySince });
    if (clock() >= deadline) {
      const verdict = unmeasured(`node ${visit.node}`, 'API server', 'timeout', `${trouble}, until the deadline`);
      return { of: 'checkNode', verdict, kernel: '' };
    }
    await sleep(pollMs, signal);
  }
}

/** See NodeRebootActivities.settle: the gates and the release delay, whichever is later. */
export async function settle(
  dependencies: NodeRebootDependencies,
  port: KubernetesPort,
  { spec, record, deadline }: StepInput,
  clock: () => number,
  { signal }: WaitContext<undefined>,
): Promise<ResultOf<'settle'>> {
  const { node, uncordonedAt } = record.visit;
  const restedAt = (uncordonedAt ?? clock()) + spec.releaseDelay;
  for (;;) {
    const verdict = await settled(dependencies, port, spec, node, signal);
    if (verdict.kind === 'pass' && clock() >= restedAt) return { of: 'settle', verdict };
    if (verdict.kind === 'fail' && verdict.reason === 'VolumeFaulted') return { of: 'settle', verdict };
    if (clock() >= Math.max(deadline, restedAt)) return { of: 'settle', verdict };
    await sleep(Math.min(pollMs * 5, Math.max(pollMs, restedAt - clock())), signal);
  }
}

async function settled(
  dependencies: NodeRebootDependencies,
  port: KubernetesPort,
  spec: StepInput['spec'],
  node: string,
  signal: AbortSignal,
): Promise<Verdict> {
  const readings = await readGates(dependencies, port, { spec, node, stage: 'after', signal });
  const faulted = readings.find(({ verdict }) => verdict.kind === 'fail' && verdict.reason === 'VolumeFaulted');
  if (faulted !== undefined) return faulted.verdict;
  const blocking = readings.filter(({ verdict }) => verdict.kind !== 'pass');
  if (blocking.length === 0) return pass(`every gate passes after the reboot of node ${node}`);
  return unmeasured('the gates', 'the cluster', 'not-ready', describeBlocking(blocking));
}
