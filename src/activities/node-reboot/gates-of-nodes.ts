import { isUnmeasured } from '../../domain/core/verdict.ts';
import type { GateReading } from '../../domain/node-reboot/gate.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { NodeRebootDependencies } from './dependencies.ts';
import { readGates } from './gates.ts';
import type { GatesInput } from './port.ts';

/** Asks the gates of each node, one node after the other. See NodeRebootActivities.gatesOfNodes. */
export async function gatesOfNodes(
  dependencies: NodeRebootDependencies,
  { spec, nodes }: GatesInput,
  signal: AbortSignal,
): Promise<Record<string, readonly GateReading[]>> {
  const port = clusterOf(dependencies, spec.cluster);
  if (isUnmeasured(port)) return {};
  const gates: Record<string, readonly GateReading[]> = {};
  for (const node of nodes) {
    gates[node] = await readGates(dependencies, port, { spec, node, stage: 'before', signal });
  }
  return gates;
}
