import { fail, pass, type Reading, type Verdict } from '../../core/verdict.ts';
import { leftCordoned, nodesOut, unheard, type NodeReading } from '../node.ts';
import type { GateReading, GateStage } from '../gate.ts';

/**
 * Every other node of the cluster is Ready and nobody has cordoned it. It cannot be forced: one node out is what a quorum of
 * three bears.
 *
 * @param turn the node whose turn it is: apart from this one all must be in
 * @param stage before the cordon the node itself must not carry a mark either: nobody would know who is to take it off
 * @param now epoch milliseconds
 */
export function nodesGate(
  nodes: Reading<readonly NodeReading[]>,
  turn: string,
  stage: GateStage,
  now: number,
): GateReading {
  return {
    gate: 'nodes',
    verdict: judge(nodes, turn, stage, now),
    lift: 'bring the node back, or uncordon it, and wait',
  };
}

function judge(nodes: Reading<readonly NodeReading[]>, turn: string, stage: GateStage, now: number): Verdict {
  if (nodes.kind === 'unmeasured') return nodes;
  const own = nodes.value.find(({ name }) => name === turn);
  if (own === undefined) return fail('NodeGone', `the cluster has no node ${turn}`);
  if (stage === 'before' && own.cordonedBy !== null) {
    return fail('LeftCordoned', leftCordoned(own));
  }
  const out = nodesOut(nodes.value, turn);
  if (out.length > 0) return fail('NodeOut', out.map(({ message }) => message).join(', '));
  const [silent] = nodes.value
    .filter(({ name }) => name !== turn)
    .map((other) => unheard(other, now))
    .filter((one) => one !== null);
  if (silent !== undefined) return silent;
  return pass(`${nodes.value.length} nodes are Ready`);
}
