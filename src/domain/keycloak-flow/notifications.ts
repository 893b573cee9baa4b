import { approveCommand } from './commands.ts';
import { notification, type Notification, type Severity } from '../core/notification.ts';
import type { PassResult } from './passes.ts';
import type { FlowRun, RunEvent } from './run.ts';
import type { KeycloakFlowState } from './state.ts';

/** A candidate that waits longer than this is told of a second time. */
export const pendingOldMs = 24 * 60 * 60 * 1_000;

/** What keeps people from logging in, or what somebody must stop now. */
const pages: readonly string[] = ['BoundAway', 'HoldLost', 'ProofFailed'];

interface Telling {
  /** What it is about: another of these is another message. */
  readonly about: string;
  readonly notification: Notification;
}

/**
 * What is to be said of a run, each once: it is told again only after it was over. A run that could not read says
 * nothing new, and ends nothing that was told.
 *
 * @param state after the run
 * @returns the messages, and what is told now
 */
export function runNotifications(
  state: KeycloakFlowState,
  run: FlowRun,
  now: number,
): { readonly notifications: readonly Notification[]; readonly told: KeycloakFlowState['told'] } {
  const notifications: Notification[] = [];
  const told: Record<string, string> = { ...state.told };
  const tell = (key: string, telling: Telling | null): void => {
    if (telling === null) delete told[key];
    else if (told[key] !== telling.about) {
      told[key] = telling.about;
      notifications.push(telling.notification);
    }
  };
  for (const result of [run.policy, run.requiredAction, run.flow]) {
    if (result === null || result.outcome === 'Undetermined') continue;
    tell(result.pass, ofPass(state, result, run));
  }
  if (run.flow !== null && run.flow.outcome !== 'Undetermined') tell('pendingOld', oldPending(state, now));
  const rollback = state.rollback === null ? null : `${state.rollback.by}/${state.rollback.at}`;
  if (rollback === null) tell('rollback', null);
  for (const event of run.events) {
    const notification = ofEvent(state, run, event);
    // One that is still to be carried out is tried at each run, and told of once.
    if (event.what === 'RollbackFailed' && rollback !== null) tell('rollback', { about: rollback, notification });
    else notifications.push(notification);
  }
  return { notifications, told };
}

function ofPass(state: KeycloakFlowState, result: PassResult, run: FlowRun): Telling | null {
  const about = `${result.outcome}/${result.reason}`;
  switch (result.outcome) {
    case 'Converged':
    case 'Undetermined':
      return null;
    case 'Bound':
      return { about: `${about}/${run.id}`, notification: say(state, 'Bound', 'info', result.message, run.id) };
    case 'PendingBind': {
      // Only where a person is asked: what a person brought about is not told to them.
      if (result.reason !== 'AwaitingApproval') return null;
      const hash = state.pending?.offerHash ?? '';
      const text = `${result.message}; ${approveCommand(state)}`;
      return { about: `${about}/${hash}`, notification: say(state, 'PendingBind', 'warning', text, hash) };
    }
    case 'Problem':
    case 'Refused': {
      const severity: Severity = pages.includes(result.reason) ? 'page' : 'warning';
      return { about, notification: say(state, result.reason, severity, result.message, run.id) };
    }
  }
}

const severities: Readonly<Record<RunEvent['what'], Severity>> = {
  RolledBack: 'info',
  // Somebody is trying to get people back in.
  RollbackFailed: 'page',
  HoldLifted: 'info',
  LostEdit: 'warning',
};

function ofEvent(state: KeycloakFlowState, run: FlowRun, { what, message }: RunEvent): Notification {
  return say(state, what, severities[what], message, `${run.id}/${message}`);
}

function oldPending(state: KeycloakFlowState, now: number): Telling | null {
  const { pending } = state;
  if (pending === null || now - pending.since < pendingOldMs) return null;
  const text = `"${pending.offer.candidate}" has been waiting to be bound since ${new Date(pending.since).toISOString()} (${pending.reason})`;
  return { about: pending.offerHash, notification: say(state, 'PendingBindOld', 'warning', text, pending.offerHash) };
}

function say(
  state: KeycloakFlowState,
  what: string,
  severity: Severity,
  text: string,
  occurrence: string,
): Notification {
  return notification(what, severity, `KeycloakFlow/${state.name}`, text, occurrence);
}
