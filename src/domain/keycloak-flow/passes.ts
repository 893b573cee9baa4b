import { clipped } from '../core/clipped.ts';

/** The three passes, in the order in which they are made. None waits for another, and none stops another. */
export const passNames = ['policy', 'requiredAction', 'flow'] as const;
export type PassName = (typeof passNames)[number];

/**
 * What a pass came to. `PendingBind`: a verified candidate waits for a person. `Refused`: something a person gave is
 * wrong, and nothing was done. `Undetermined`: something could not be read, and nothing was written.
 */
export type PassOutcome = 'Converged' | 'PendingBind' | 'Bound' | 'Problem' | 'Refused' | 'Undetermined';

/** The result of one pass. Plain JSON. */
export interface PassResult {
  readonly pass: PassName;
  readonly outcome: PassOutcome;
  /** One CamelCase word that programs may branch on. */
  readonly reason: string;
  /** A sentence for people, with the way out where there is one. */
  readonly message: string;
  /** What differs from what is declared. */
  readonly differences: readonly string[];
  /** True where the pass changed something in the realm. */
  readonly wrote: boolean;
}

/** The exit code of each outcome. */
const exitCodes = {
  Converged: 0,
  Bound: 0,
  Problem: 1,
  Refused: 2,
  Undetermined: 3,
  PendingBind: 4,
} as const satisfies Readonly<Record<PassOutcome, number>>;

/** From what outweighs everything to what outweighs nothing. */
const weights: readonly PassOutcome[] = ['Problem', 'Refused', 'Undetermined', 'PendingBind', 'Bound', 'Converged'];

/**
 * What a run of all passes came to: the outcome that outweighs the others. A run whose passes are not all done is
 * undetermined: nothing was proven by not looking.
 */
export function runOutcome(results: readonly PassResult[]): PassOutcome {
  const all = passNames.every((name) => results.some((result) => result.pass === name));
  const found = weights.find((outcome) => results.some((result) => result.outcome === outcome));
  if (found === undefined) return 'Undetermined';
  return all || weights.indexOf(found) < weights.indexOf('Undetermined') ? found : 'Undetermined';
}

/** The exit code of a run. */
export function exitCodeOf(outcome: PassOutcome): (typeof exitCodes)[PassOutcome] {
  return exitCodes[outcome];
}

/** Results are kept in the history of a workflow, and a tree that differs in everything says a lot. */
const longestMessage = 1_500;
const longestDifference = 300;
const mostDifferences = 100;

/** A result; nothing differs and nothing was written unless said. */
export function passResult(
  pass: PassName,
  outcome: PassOutcome,
  reason: string,
  message: string,
  more: Partial<Pick<PassResult, 'differences' | 'wrote'>> = {},
): PassResult {
  const { differences = [], wrote = false } = more;
  return {
    pass,
    outcome,
    reason,
    message: clipped(message, longestMessage),
    differences: differences.slice(0, mostDifferences).map((difference) => clipped(difference, longestDifference)),
    wrote,
  };
}
