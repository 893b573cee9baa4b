import type { NodeRebootStatus } from '../../domain/node-reboot/status.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';

/** How a NodeReboot came to rest. */
export interface RebootOutcome {
  readonly exitCode: ExitCode;
  /** A sentence for people. */
  readonly message: string;
}

/**
 * True where nothing goes on before something from outside changes: every node that may go has gone, a person is asked, or it
 * is held back.
 */
export function isAtRest({ waiting, turn, stopped, phase }: NodeRebootStatus): boolean {
  return phase === 'Hung' || (waiting !== null && (turn === null || stopped !== null));
}

/** What a NodeReboot that has come to rest amounts to, for scripts. */
export function rebootOutcome(status: NodeRebootStatus): RebootOutcome {
  const { phase, waiting, turn, nodes, mode, effectiveMode } = status;
  const done = nodes.filter(({ reboot }) => reboot === 'done').length;
  if (phase === 'Hung') {
    return { exitCode: exitCodes.failed, message: `Hung: node ${turn?.node ?? ''} has not come back${next(status)}` };
  }
  const message = `${phase}: ${waiting === null ? 'it is being looked at' : `waits for ${waiting.for}`}${next(status)}`;
  if (phase === 'Stopped') return { exitCode: exitCodes.failed, message };
  switch (waiting?.reason) {
    case 'NoNodeWantsOne':
      return { exitCode: exitCodes.done, message: `Idle: no node wants a reboot; ${done} were rebooted` };
    case 'Mode':
      return { exitCode: mode === effectiveMode ? exitCodes.done : exitCodes.waiting, message };
    case 'AwaitingApproval':
    case 'Paused':
    case 'Suspended':
      return { exitCode: exitCodes.waiting, message };
    case 'Unmeasured':
    case 'PageUndelivered':
    case undefined:
      return { exitCode: exitCodes.undetermined, message };
    default:
      return { exitCode: exitCodes.failed, message };
  }
}

function next({ waiting }: NodeRebootStatus): string {
  return waiting === null ? '' : `; next: ${waiting.next}`;
}
