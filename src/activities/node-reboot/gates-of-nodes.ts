import { isUnmeasured, unmeasured } from '../../domain/core/verdict.ts';
import type { GateReading } from '../../domain/node-reboot/gate.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { NodeRebootDependencies } from './dependencies.ts';
import { readGates } from './gates.ts';
import type { GatesInput } from './port.ts';
import { askSideBySide } from './side-by-side.ts';

/** Asks the gates of each node. See NodeRebootActivities.gatesOfNodes. */
export async function gatesOfNodes(
  dependencies: NodeRebootDependencies,
  { spec, nodes }: GatesInput,
  signal: AbortSignal,
): Promise<Record<string, readonly GateReading[]>> {
  const port = clusterOf(dependencies, spec.cluster);
  if (isUnmeasured(port)) return {};
  return askSideBySide<readonly GateReading[]>(
    nodes,
    (node) => readGates(dependencies, port, { spec, node, stage: 'before', signal }),
    (node, message) => [
      { gate: 'all', verdict: unmeasured(`gates of ${node}`, 'worker', 'timeout', message), lift: null },
    ],
    dependencies.clock ?? Date.now,
  );
}
