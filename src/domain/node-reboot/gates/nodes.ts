import { fail, pass, type Reading, type Verdict } from '../../core/verdict.ts';
import { nodesOut, type NodeReading } from '../node.ts';
import type { GateReading } from '../gate.ts';

/**
 * Every other node of the cluster is Ready and nobody has cordoned it. It cannot be forced: one node out is what a quorum of
 * three bears.
 *
 * @param turn the node whose turn it is: apart from this one all must be in
 */
export function nodesGate(nodes: Reading<readonly NodeReading[]>, turn: string): GateReading {
  return { gate: 'nodes', verdict: judge(nodes, turn), lift: 'bring the node back, or uncordon it, and wait' };
}

function judge(nodes: Reading<readonly NodeReading[]>, turn: string): Verdict {
  if (nodes.kind === 'unmeasured') return nodes;
  if (!nodes.value.some(({ name }) => name === turn)) return fail('NodeGone', `the cluster has no node ${turn}`);
  const out = nodesOut(nodes.value, turn);
  if (out.length > 0) return fail('NodeOut', out.map(({ message }) => message).join(', '));
  return pass(`${nodes.value.length} nodes are Ready`);
}
