import type { Reading } from '../core/verdict.ts';
import type { SwitchReading } from './bind-switch.ts';
import { contentHash } from './candidate-name.ts';
import type { DesiredState } from './desired.ts';
import { sameJson } from './json-body.ts';
import { verify, type FlowReadBack } from './read-back.ts';
import { readRealmMarks, type RealmMarks } from './realm-marks.ts';
import type { FlowRepresentation, RealmRepresentation } from './representation.ts';
import type { BindCommand, WriteOutcome } from './run.ts';

/** What is read once more in the activity that binds, after whatever time has passed since the run decided. */
export interface BeforeBind {
  readonly bindSwitch: SwitchReading;
  readonly realm: Reading<RealmRepresentation>;
  readonly flows: Reading<readonly FlowRepresentation[]>;
  /** The candidate, all of it. */
  readonly candidate: Reading<FlowReadBack>;
}

/** Whether the one PUT is sent, and with which marks; or how the bind ends without it. */
export type BindCheck =
  | { readonly kind: 'send'; readonly realm: RealmRepresentation; readonly marks: RealmMarks }
  | { readonly kind: 'end'; readonly outcome: WriteOutcome };

/**
 * The last look before a bind. Everything is as it was when it was decided, or nothing is sent.
 *
 * @param name of the KeycloakFlow
 * @param now epoch milliseconds
 */
export function checkBind(
  desired: DesiredState,
  name: string,
  command: BindCommand,
  fresh: BeforeBind,
  now: number,
): BindCheck {
  const { bindSwitch, realm, flows, candidate } = fresh;
  if (realm.kind === 'unmeasured') return notRead(realm.message);
  const marks = readRealmMarks(realm.value.attributes);
  if (marks.kind === 'unmeasured') return notRead(marks.message);
  if (isBound(name, command, realm.value, marks.value)) {
    const unseen = 'an edit by somebody else right before the bind would not be noticed: an earlier try has sent it';
    const outcome: WriteOutcome = {
      kind: 'written',
      message: `"${command.candidate}" is bound`,
      notVerified: [unseen],
    };
    return { kind: 'end', outcome: notBound(candidateFault(desired, command, flows, candidate)) ?? outcome };
  }
  if (bindSwitch.kind !== 'read')
    return bindSwitch.kind === 'invalid'
      ? notSent('InvalidSwitch', bindSwitch.message)
      : notRead(`the bind switch: ${bindSwitch.message}`);
  if (bindSwitch.value !== command.bindSwitch || bindSwitch.value === 'false') {
    return notSent('SwitchTurned', `the bind switch is ${bindSwitch.value} now; it was ${command.bindSwitch}`);
  }
  if (marks.value.hold !== null) return notSent('Held', `binding is held by ${marks.value.hold.by} since then`);
  if (realm.value.browserFlow !== command.from) {
    return notSent('BoundMeanwhile', `"${realm.value.browserFlow}" was bound meanwhile; it was "${command.from}"`);
  }
  const fault = notBound(candidateFault(desired, command, flows, candidate));
  if (fault !== null) return { kind: 'end', outcome: fault };
  return { kind: 'send', realm: realm.value, marks: marksOfBind(name, marks.value, command, now) };
}

/** True after a PUT whose answer never came: what it did is there, with our marks. */
function isBound(name: string, { candidate }: BindCommand, realm: RealmRepresentation, { bound }: RealmMarks): boolean {
  return realm.browserFlow === candidate && bound !== null && bound.of === name && bound.alias === candidate;
}

/** A candidate as it was verified when something was decided about it. */
export type DecidedCandidate = Pick<BindCommand, 'candidate' | 'flowId' | 'treeHash'>;

/**
 * Why a candidate is no longer what was decided about; null where it is. For before a bind, and for before and after a
 * proof: what was shown of a flow that somebody edited meanwhile was shown of nothing.
 */
export function candidateFault(
  desired: DesiredState,
  { candidate: alias, flowId, treeHash }: DecidedCandidate,
  flows: BeforeBind['flows'],
  candidate: BeforeBind['candidate'],
): Extract<WriteOutcome, { kind: 'stopped' | 'notRead' }> | null {
  if (flows.kind === 'unmeasured') return unread(flows.message);
  const listed = flows.value.find((flow) => flow.alias === alias && flow.topLevel);
  if (listed === undefined) return changed('CandidateGone', `there is no top level flow "${alias}" any more`);
  if (candidate.kind === 'unmeasured') return unread(candidate.message);
  if (listed.id !== flowId || candidate.value.flow.id !== flowId || candidate.value.flow.alias !== alias) {
    return changed('CandidateReplaced', `"${alias}" is another flow than the one that was verified`);
  }
  const verification = verify(desired, candidate.value);
  if (verification.kind === 'unmeasured') return unread(verification.message);
  if (verification.kind === 'different') {
    return changed('CandidateChanged', `"${alias}" was changed: ${verification.differences.join('; ')}`);
  }
  // Said a second time and in another way: whatever is bound has the hash of what is declared.
  if (verification.treeHash === treeHash && treeHash === contentHash(desired)) return null;
  return changed('CandidateChanged', `"${alias}" is not the tree that was decided on`);
}

/** The marks that go with a bind: what is bound, who let it be, and the way back. */
export function marksOfBind(name: string, before: RealmMarks, command: BindCommand, now: number): RealmMarks {
  return {
    ...before,
    bound: { of: name, alias: command.candidate, by: command.by, at: now, away: [...command.away] },
    previous: command.from,
  };
}

/** What a PUT of the binding did not come to; null where the realm reads back as it was sent. */
export function bindingFault(
  sent: { readonly browserFlow: string; readonly marks: RealmMarks },
  after: RealmRepresentation,
): string | null {
  if (after.browserFlow !== sent.browserFlow) {
    return `"${after.browserFlow}" is bound after "${sent.browserFlow}" was written`;
  }
  const marks = readRealmMarks(after.attributes);
  if (marks.kind === 'unmeasured') return marks.message;
  return sameJson(marks.value, sent.marks) ? null : 'the marks in the realm are not those that were written';
}

function notSent(reason: string, message: string): BindCheck {
  return { kind: 'end', outcome: changed(reason, `nothing was bound: ${message}`) };
}

function notRead(message: string): BindCheck {
  return { kind: 'end', outcome: unread(`nothing was bound: ${message}`) };
}

function notBound(fault: ReturnType<typeof candidateFault>): WriteOutcome | null {
  return fault === null ? null : { ...fault, message: `nothing was bound: ${fault.message}` };
}

function changed(reason: string, message: string): Extract<WriteOutcome, { kind: 'stopped' }> {
  return { kind: 'stopped', reason, message };
}

function unread(message: string): Extract<WriteOutcome, { kind: 'notRead' }> {
  return { kind: 'notRead', message };
}
