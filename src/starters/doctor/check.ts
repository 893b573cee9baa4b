import type { Verdict } from '../../domain/core/verdict.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { paint } from '../output/paint.ts';

/** One thing that was looked at. */
export interface Check {
  /** What was looked at, such as `search attributes`. */
  readonly name: string;
  readonly verdict: Verdict;
  /** What to do where it is not right; null where nothing is to be done. */
  readonly fix: string | null;
}

/** A failure outweighs what could not be measured. */
export function checksExitCode(checks: readonly Check[]): ExitCode {
  if (checks.some(({ verdict }) => verdict.kind === 'fail')) return exitCodes.failed;
  return checks.some(({ verdict }) => verdict.kind === 'unmeasured') ? exitCodes.undetermined : exitCodes.done;
}

/** A line per check, and below one that is not right what to do. */
export function checksView(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks
    .map(({ name, verdict, fix }) => {
      const line = `${mark(verdict)} ${name.padEnd(width)}  ${verdict.message ?? ''}`.trimEnd();
      return verdict.kind === 'pass' || fix === null ? line : `${line}\n${' '.repeat(width + 9)}fix: ${fix}`;
    })
    .join('\n');
}

function mark(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'pass':
      return paint('green', 'ok    ');
    case 'fail':
      return paint('red', 'WRONG ');
    case 'unmeasured':
      return paint('yellow', '?     ');
  }
}
