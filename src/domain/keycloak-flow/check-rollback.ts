import type { Reading } from '../core/verdict.ts';
import { readRealmMarks, type RealmMarks } from './realm-marks.ts';
import type { FlowRepresentation, RealmRepresentation } from './representation.ts';
import type { WriteOutcome } from './run.ts';
import type { PersonMark } from './state.ts';

/** Which PUT a rollback is: the previous alias with the hold, the hold alone where there is no way back, or none. */
export type RollbackCheck =
  | { readonly kind: 'bind'; readonly realm: RealmRepresentation; readonly to: string; readonly marks: RealmMarks }
  | {
      readonly kind: 'holdOnly';
      readonly realm: RealmRepresentation;
      readonly marks: RealmMarks;
      /** How it ends once the hold is written. */
      readonly outcome: WriteOutcome;
    }
  | { readonly kind: 'end'; readonly outcome: WriteOutcome };

/**
 * Decides the PUT of a rollback, from what is read right before it. Repeated, it comes to the same: the previous alias
 * stays what it was, so that a second rollback does not go forth again.
 *
 * @param name of the KeycloakFlow
 * @param now epoch milliseconds
 */
export function checkRollback(
  name: string,
  hold: PersonMark,
  realm: Reading<RealmRepresentation>,
  flows: Reading<readonly FlowRepresentation[]>,
  now: number,
): RollbackCheck {
  if (realm.kind === 'unmeasured') return notRead(realm.message);
  const read = readRealmMarks(realm.value.attributes);
  if (read.kind === 'unmeasured') return notRead(read.message);
  const { previous } = read.value;
  const { by, reason, at } = hold;
  const held: RealmMarks = { ...read.value, hold: { by, reason, at } };
  const holdOnly = (why: string, message: string): RollbackCheck =>
    sameHold(read.value.hold, hold)
      ? { kind: 'end', outcome: { kind: 'failed', reason: why, message } }
      : { kind: 'holdOnly', realm: realm.value, marks: held, outcome: { kind: 'failed', reason: why, message } };
  if (previous === null) {
    return holdOnly(
      'NoPrevious',
      `binding is held, and "${realm.value.browserFlow}" stays bound: the realm does not say what was bound before; bind a flow in the admin console`,
    );
  }
  if (realm.value.browserFlow === previous) {
    const message = `"${previous}" is bound, and binding is held`;
    if (sameHold(read.value.hold, hold)) return { kind: 'end', outcome: { kind: 'written', message } };
    return { kind: 'holdOnly', realm: realm.value, marks: held, outcome: { kind: 'written', message } };
  }
  if (flows.kind === 'unmeasured') return notRead(flows.message);
  if (!flows.value.some((flow) => flow.alias === previous && flow.topLevel)) {
    return holdOnly(
      'PreviousGone',
      `binding is held, and "${realm.value.browserFlow}" stays bound: there is no top level flow "${previous}" any more; bind a flow in the admin console`,
    );
  }
  const bound = { of: name, alias: previous, by, at: now, away: [] };
  return { kind: 'bind', realm: realm.value, to: previous, marks: { ...held, bound } };
}

/** The PUT that lifts the hold; none where there is none. */
export function checkLift(
  realm: Reading<RealmRepresentation>,
  by: string,
):
  | {
      readonly kind: 'write';
      readonly realm: RealmRepresentation;
      readonly marks: RealmMarks;
      readonly message: string;
    }
  | { readonly kind: 'end'; readonly outcome: WriteOutcome } {
  if (realm.kind === 'unmeasured') return notRead(realm.message);
  const read = readRealmMarks(realm.value.attributes);
  if (read.kind === 'unmeasured') return notRead(read.message);
  const { hold } = read.value;
  if (hold === null) return { kind: 'end', outcome: { kind: 'written', message: 'the realm holds no binding' } };
  const message = `the hold of ${hold.by} on binding is lifted by ${by}`;
  return { kind: 'write', realm: realm.value, marks: { ...read.value, hold: null }, message };
}

function sameHold(a: RealmMarks['hold'], b: PersonMark): boolean {
  return a !== null && a.by === b.by && a.reason === b.reason && a.at === b.at;
}

/** It is tried again: what a person asked for is not over because the server did not answer. */
function notRead(message: string): { readonly kind: 'end'; readonly outcome: WriteOutcome } {
  return { kind: 'end', outcome: { kind: 'notRead', message } };
}
