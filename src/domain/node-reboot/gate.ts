import { own } from '../core/own.ts';
import type { Verdict } from '../core/verdict.ts';

/** What one gate said. */
export interface GateReading {
  /** As the spec and `holdfast force` name it. */
  readonly gate: string;
  readonly verdict: Verdict;
  /** What would lift it, where it does not pass; null where nothing but time does. */
  readonly lift: string | null;
}

/**
 * When gates are asked. `before` the lock and after it; `last` between drain and reboot, where the damage that the drain
 * itself does is discounted; `after` the uncordon, when everything is to be as it was.
 */
export type GateStage = 'before' | 'last' | 'after';

/** Gates that nobody can force, each with the reason and the way out, as the end of a sentence. */
const unforcible: Readonly<Record<string, string>> = {
  nodes: 'no node goes down while another is out: bring it back, or uncordon it',
  locks: 'no node goes down while others hold a lock: let them finish, or remove their annotation',
  // It would cordon the node and move its primaries, to stop at the first look.
  drain:
    'the drain itself would stop at the same pods; move them, allow the loss under spec.drain, or name under gates.budgets.expectedBlocked a budget that gives way once the node is cordoned',
};

/** Why nobody can set a gate aside, and what to do instead; null for a gate that can be. */
export function whyUnforcible(gate: string): string | null {
  return own(unforcible, gate) ?? null;
}

/** One gate set aside by a person, for one visit of one node, until it expires. */
export interface Override {
  readonly gate: string;
  readonly node: string;
  readonly by: string;
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly expiresAt: number;
  /** When the visit began that used it; null as long as none has. */
  readonly usedFor: number | null;
}

/** Which gates hold a node back, and which overrides let it pass all the same. */
export interface GateJudgement {
  readonly blocking: readonly GateReading[];
  readonly used: readonly Override[];
}

/**
 * Holds readings against overrides. An override counts for its gate and its node, for the one visit that first used it, and
 * never after it has expired, unless that visit had begun with it.
 *
 * @param visitAt what names the visit: when it began, epoch milliseconds
 */
export function judgeGates(
  readings: readonly GateReading[],
  overrides: readonly Override[],
  node: string,
  visitAt: number,
  now: number,
): GateJudgement {
  const lifted = (gate: string) =>
    whyUnforcible(gate) !== null
      ? undefined
      : overrides.find((one) => one.gate === gate && one.node === node && counts(one, visitAt, now));
  const failing = readings.filter(({ verdict }) => verdict.kind !== 'pass');
  return {
    blocking: failing.filter(({ gate }) => lifted(gate) === undefined),
    used: failing.map(({ gate }) => lifted(gate)).filter((one) => one !== undefined),
  };
}

function counts({ usedFor, expiresAt }: Override, visitAt: number, now: number): boolean {
  return usedFor === null ? now < expiresAt : usedFor === visitAt;
}

/** Why a node is held back, one gate a sentence. */
export function describeBlocking(blocking: readonly GateReading[]): string {
  return blocking
    .map(({ gate, verdict }) => {
      if (verdict.kind === 'unmeasured') return `${gate}: unmeasured, ${verdict.message}`;
      return verdict.kind === 'fail' ? `${gate}: ${verdict.message}` : gate;
    })
    .join('; ');
}
