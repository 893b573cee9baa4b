import { exitCodeOf, type PassResult } from '../../domain/keycloak-flow/passes.ts';
import type { KeycloakFlowStatus } from '../../domain/keycloak-flow/status.ts';
import { alike } from './alike.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';

/** How a run of the passes ended. */
export interface FlowOutcome {
  readonly exitCode: ExitCode;
  /** A sentence for people. */
  readonly message: string;
}

/** What a KeycloakFlow that has come to rest amounts to, for scripts. */
export function flowOutcome(status: KeycloakFlowStatus): FlowOutcome {
  const { phase, passes } = status;
  switch (phase) {
    case 'Suspended':
      return { exitCode: exitCodes.waiting, message: `Suspended${waits(status)}` };
    case 'Unknown':
      return { exitCode: exitCodes.undetermined, message: `no pass was made${waits(status)}` };
    case 'Converged':
      return {
        exitCode: exitCodes.done,
        message: ['Converged: the realm is as declared', ...repairs(passes)].join('; '),
      };
    case 'Bound':
    case 'Problem':
    case 'Refused':
    case 'Undetermined':
    case 'PendingBind': {
      const said = alike(passes.filter((pass) => pass.outcome === phase)).map(
        ({ names, pass }) => `${names}: ${pass.message}`,
      );
      const next = phase === 'PendingBind' && status.waiting !== null ? `; next: ${status.waiting.next}` : '';
      return { exitCode: exitCodeOf(phase), message: `${phase}: ${said.join('; ')}${next}` };
    }
  }
}

/** What came of an approval, once the run after it is over. */
export function approvalOutcome(before: KeycloakFlowStatus, after: KeycloakFlowStatus): FlowOutcome {
  if (after.binds > before.binds) {
    return { exitCode: exitCodes.done, message: `"${after.bound?.alias ?? ''}" is bound` };
  }
  const flow = after.passes.find((pass) => pass.pass === 'flow' && pass.outcome !== 'Converged');
  const { exitCode, message } = flowOutcome(
    flow === undefined ? after : { ...after, phase: flow.outcome, passes: [flow] },
  );
  return { exitCode, message: `it is not bound: ${message}` };
}

/**
 * What came of a rollback, once the run after it is over.
 *
 * @param why what the history says of one that failed; empty where it says nothing
 */
export function rollbackOutcome(before: KeycloakFlowStatus, after: KeycloakFlowStatus, why: string): FlowOutcome {
  if (after.rollbacks > before.rollbacks) {
    const bound =
      after.bound === null ? 'what was bound before is bound again' : `"${after.bound.alias}" is bound again`;
    return { exitCode: exitCodes.done, message: `${bound}, and binding is held until lift-hold` };
  }
  if (after.waiting?.for.startsWith('the rollback of ') === true) {
    const message = `it is not known to be carried out${said(why)}; it is tried again within a minute, until it is`;
    return { exitCode: exitCodes.undetermined, message };
  }
  return { exitCode: exitCodes.failed, message: `the previous flow was NOT bound${said(why)}` };
}

/** What came of lifting the hold, once the run after it is over. */
export function liftOutcome(after: KeycloakFlowStatus): FlowOutcome {
  if (after.hold === null) return { exitCode: exitCodes.done, message: 'binding is held no longer' };
  return { exitCode: exitCodes.undetermined, message: `binding is still held${waits(after)}` };
}

function repairs(passes: readonly PassResult[]): string[] {
  return passes.filter((pass) => pass.reason === 'Repaired').map((pass) => pass.message);
}

function said(why: string): string {
  return why === '' ? '' : `: ${why}`;
}

function waits({ waiting }: KeycloakFlowStatus): string {
  return waiting === null ? '' : `: waits for ${waiting.for}; next: ${waiting.next}`;
}
