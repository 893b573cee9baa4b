import { pass, read, unmeasured, type Reading, type Verdict } from '../../domain/core/verdict.ts';
import { checkBoot, judgeDaemonPods, judgeSettled } from '../../domain/node-reboot/check-node.ts';
import { describeBlocking } from '../../domain/node-reboot/gate.ts';
import { judgeReturn } from '../../domain/node-reboot/judge-return.ts';
import type { NodeReading } from '../../domain/node-reboot/node.ts';
import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { sleep, type WaitContext } from '../wait-context.ts';
import type { NodeRebootDependencies } from './dependencies.ts';
import { followingNode } from './follow-node.ts';
import { podsOn } from './drain.ts';
import { readEtcdGate, readGates } from './gates.ts';
import { readNode } from './nodes.ts';
import type { StepInput } from './port.ts';
import { readHost } from './read-host.ts';

/** Between two looks at a node of which nothing is heard. */
const quietMs = 5_000;

/** How long a node has to say how it is once it can be looked at: what is shown first may be of before its reboot. */
const graceMs = 60_000;

/**
 * See NodeRebootActivities.awaitReturn. While the API server does not answer nothing is known of the node, and nothing is said;
 * where it comes back only past the deadline, the node is not judged by what was last known of it.
 */
export function awaitReturn(
  port: KubernetesPort,
  { record, deadline }: StepInput,
  clock: () => number,
  { signal }: WaitContext<undefined>,
): Promise<ResultOf<'awaitReturn'>> {
  const { visit } = record;
  const fromNowOn = () => Math.max(deadline, clock() + graceMs);
  return followingNode(port, visit.node, signal, async (next) => {
    let until = clock() < deadline ? deadline : fromNowOn();
    for (;;) {
      let seen = await next(quietMs);
      // A watch whose connection died without a word shows the node as it was: past the deadline it is read.
      if (clock() >= deadline) seen = nodeOf(await readNode(port, visit.node, signal));
      if (seen.kind === 'unmeasured') {
        // The API server has answered: somebody has deleted the node.
        if (seen.why === 'missing' && clock() >= until) {
          return { of: 'awaitReturn', outcome: 'hung', message: `the cluster has no node ${visit.node} any more` };
        }
        if (seen.why !== 'missing') until = fromNowOn();
        continue;
      }
      const judged = judgeReturn(seen.value, visit, until, clock());
      const { message } = judged;
      if (judged.kind === 'returned') return { of: 'awaitReturn', outcome: 'returned', bootId: judged.bootId, message };
      if (judged.kind !== 'waiting') return { of: 'awaitReturn', outcome: judged.kind, message };
    }
  });
}

function nodeOf(seen: Awaited<ReturnType<typeof readNode>>): Reading<NodeReading> {
  return seen.kind === 'read' ? read(seen.value.node) : seen;
}

/** How long the node has been Ready without a break, as the heartbeat shows it. */
export interface ReadyProgress {
  readonly readySince: number | null;
}

/**
 * See NodeRebootActivities.checkNode. A node that cannot be measured is asked again until the deadline. Time in which nobody
 * looked is no time in which it was Ready, so that another worker counts anew.
 */
export function checkNode(
  dependencies: NodeRebootDependencies,
  port: KubernetesPort,
  { spec, record, deadline }: StepInput,
  clock: () => number,
  { signal, progress }: WaitContext<ReadyProgress>,
): Promise<ResultOf<'checkNode'>> {
  const { visit } = record;
  return followingNode(port, visit.node, signal, async (next) => {
    let readySince: number | null = null;
    for (;;) {
      const leftMs = readySince === null ? quietMs : readySince + spec.readyHold - clock();
      const seen = await next(Math.min(quietMs, Math.max(500, leftMs)));
      let trouble: string;
      if (seen.kind === 'unmeasured') {
        readySince = null;
        trouble = seen.message;
      } else if (!seen.value.ready) {
        readySince = null;
        trouble = `node ${visit.node} is not Ready`;
      } else {
        readySince ??= clock();
        trouble = `node ${visit.node} is not Ready for long enough`;
        if (clock() - readySince >= spec.readyHold) {
          const host = await readHost(port, dependencies.hostImage, visit.node, clock, signal);
          const sentinel = host.kind === 'read' ? host.value.sentinel : host;
          // A watch whose connection died without a word shows the node as it was.
          const now = nodeOf(await readNode(port, visit.node, signal));
          if (now.kind === 'read' && now.value.ready) {
            const boot = checkBoot({ node: now.value, sentinel }, visit, spec);
            const verdict =
              boot.kind === 'pass' ? await whatIsBack(dependencies, port, spec, visit.node, boot, signal) : boot;
            if (verdict.kind !== 'unmeasured') return { of: 'checkNode', verdict, kernel: now.value.kernel };
            trouble = verdict.message;
            await sleep(quietMs, signal);
          } else {
            readySince = null;
            trouble = now.kind === 'read' ? `node ${visit.node} is not Ready` : now.message;
          }
        }
      }
      progress({ readySince });
      if (clock() >= deadline) {
        const verdict = unmeasured(`node ${visit.node}`, 'API server', 'timeout', `${trouble}, until the deadline`);
        return { of: 'checkNode', verdict, kernel: '' };
      }
    }
  });
}

/** Its member of etcd and its DaemonSets, which come back after the node itself. @returns `boot` where they are back */
async function whatIsBack(
  dependencies: NodeRebootDependencies,
  port: KubernetesPort,
  { gates }: StepInput['spec'],
  node: string,
  boot: Verdict,
  signal: AbortSignal,
): Promise<Verdict> {
  const pods = judgeDaemonPods(await podsOn(port, node, signal), node);
  if (pods.kind !== 'pass' || gates.etcd === undefined) return pods.kind === 'pass' ? boot : pods;
  const { verdict } = await readEtcdGate(dependencies, gates.etcd, signal);
  if (verdict.kind !== 'fail') return verdict.kind === 'pass' ? boot : verdict;
  // A member may still be on its way back.
  return unmeasured('etcd', `its members`, 'not-ready', verdict.message);
}

/** While everything rests nobody waits for an answer; afterwards somebody does. */
const restingMs = 5 * 60_000;
const settlingMs = 10_000;

/** See NodeRebootActivities.settle: the gates and the release delay, whichever is later. */
export async function settle(
  dependencies: NodeRebootDependencies,
  port: KubernetesPort,
  { spec, record, deadline }: StepInput,
  clock: () => number,
  { signal }: WaitContext<undefined>,
): Promise<ResultOf<'settle'>> {
  const { node, uncordonedAt, bootedAs } = record.visit;
  const restedAt = (uncordonedAt ?? clock()) + spec.releaseDelay;
  for (;;) {
    const own = judgeSettled(nodeOf(await readNode(port, node, signal)), node, bootedAs, clock());
    const verdict = own.kind === 'pass' ? await settled(dependencies, port, spec, node, signal) : own;
    if (verdict.kind === 'pass' && clock() >= restedAt) return { of: 'settle', verdict };
    if (verdict.kind === 'fail') return { of: 'settle', verdict };
    if (clock() >= Math.max(deadline, restedAt)) return { of: 'settle', verdict };
    const leftMs = restedAt - clock();
    await sleep(leftMs > 0 ? Math.min(restingMs, leftMs) : settlingMs, signal);
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
