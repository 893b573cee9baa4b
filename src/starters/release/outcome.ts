import type { ReleaseStatus } from '../../domain/release/status.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';

/** How a pass ended. */
export interface Outcome {
  readonly exitCode: ExitCode;
  /** A sentence for people. */
  readonly message: string;
}

/** Reasons of Failed that say that nothing was measured about the image. */
const notMeasured = new Set(['Unmeasured', 'WorkloadPaused', 'Unknown']);

/**
 * What a release that has come to rest amounts to, for scripts. 0 means that every target runs what is wanted, or that
 * the spec asked for no more than a look (Observe, Shadow).
 */
export function outcomeOf(status: ReleaseStatus): Outcome {
  const { waiting } = status;
  const waits = waiting === null ? '' : `: waits for ${waiting.for}; next: ${waiting.next}`;
  switch (status.phase) {
    case 'Current':
      return { exitCode: exitCodes.done, message: 'every target runs what is wanted' };
    case 'Degraded':
      return degraded(status);
    case 'Unknown':
      return { exitCode: exitCodes.undetermined, message: `not everything could be read${waits}` };
    case 'Pending':
      return pending(status, waits);
    case 'Held':
      return { exitCode: heldCode(status), message: `held${waits}` };
    case 'Suspended':
    case 'AwaitingApproval':
    case 'RollingOut':
      return { exitCode: exitCodes.waiting, message: `${status.phase}${waits}` };
  }
}

/**
 * True where a release that is not at rest goes on only when a person decides: an approval, a pause, a mode.
 */
export function waitsForPerson(status: ReleaseStatus): boolean {
  return status.waiting?.who === 'person' && (status.phase === 'AwaitingApproval' || status.phase === 'RollingOut');
}

function degraded(status: ReleaseStatus): Outcome {
  const failed = status.targets.filter((target) => target.phase === 'Failed');
  const measured = failed.filter((target) => !notMeasured.has(target.reason));
  const back = status.targets.filter((target) => target.phase === 'RolledBack');
  const [exitCode, worst] =
    measured[0] !== undefined
      ? [exitCodes.failed, measured[0]]
      : failed[0] !== undefined
        ? [exitCodes.undetermined, failed[0]]
        : [exitCodes.rolledBack, back[0]];
  return { exitCode, message: worst === undefined ? 'degraded' : `${worst.name} is ${worst.phase}: ${worst.message}` };
}

/** In Shadow a plan is all that was asked for; in Enforce somebody holds it up. */
function pending(status: ReleaseStatus, waits: string): Outcome {
  const targets = status.plan.items.map((item) => item.target).join(', ');
  if (status.mode !== 'Enforce') {
    return {
      exitCode: exitCodes.done,
      message: `${status.mode} wrote nothing; Enforce would roll ${targets === '' ? 'the targets that are Pending' : targets}`,
    };
  }
  return { exitCode: exitCodes.waiting, message: `pending${waits}` };
}

/** Time and upstream have measured reasons, which nobody can decide away: the image is not where it is wanted. */
function heldCode(status: ReleaseStatus): ExitCode {
  switch (status.waiting?.who) {
    case 'person':
      return exitCodes.waiting;
    case 'outside':
      return exitCodes.undetermined;
    case 'time':
    case 'upstream':
    case 'rollout':
    case undefined:
      return exitCodes.failed;
  }
}
