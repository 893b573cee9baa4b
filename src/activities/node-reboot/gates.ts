import type { GateReading, GateStage } from '../../domain/node-reboot/gate.ts';
import { locksGate } from '../../domain/node-reboot/gates/locks.ts';
import { nodesGate } from '../../domain/node-reboot/gates/nodes.ts';
import type { NodeRebootSpec } from '../../domain/node-reboot/spec.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import type { NodeRebootDependencies } from './dependencies.ts';
import { readDaemons } from './incumbents.ts';
import { readNodes } from './nodes.ts';

/** What the gates are asked about. */
export interface GateQuestion {
  readonly spec: NodeRebootSpec;
  /** The node whose turn it is, or would be. */
  readonly node: string;
  readonly stage: GateStage;
  readonly signal: AbortSignal;
}

/** Reads everything that the gates of a spec need, once, and asks each of them. */
export async function readGates(
  _dependencies: NodeRebootDependencies,
  port: KubernetesPort,
  { spec, node, stage, signal }: GateQuestion,
): Promise<GateReading[]> {
  const [nodes, daemons] = await Promise.all([readNodes(port, signal), readDaemons(port, spec.incumbents, signal)]);
  return [nodesGate(nodes, node, stage), locksGate(daemons.foreignLock)];
}
