import type { Reading, Verdict } from '../../domain/core/verdict.ts';
import type { Pod } from '../../domain/core/workload.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import type { Placement } from '../../domain/release/observation.ts';
import type { Agents, Health } from '../../domain/release/spec.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { readAgents } from './agents.ts';
import { askHealth } from './health.ts';

export interface GateQuestion {
  readonly target: TargetAddress;
  readonly health: Health;
  readonly agents: Agents;
  readonly pods: readonly Pod[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What a target's pods said of themselves. */
export interface GateAnswers {
  readonly health: Verdict;
  /** Null where the target has no agents. */
  readonly agents: Reading<readonly Placement[]> | null;
}

/** Asks health and agents of the given pods at the same time. */
export async function askGate(port: KubernetesPort, question: GateQuestion): Promise<GateAnswers> {
  const { agents } = question;
  const [health, placements] = await Promise.all([
    askHealth(port, question),
    agents === 'none' ? null : readAgents(port, { ...question, agents }),
  ]);
  return { health, agents: placements };
}
