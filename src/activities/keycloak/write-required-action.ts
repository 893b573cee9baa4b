import { enrolmentAction } from '../../domain/keycloak-flow/desired.ts';
import { differingFields } from '../../domain/keycloak-flow/json-body.ts';
import type { RequiredAction } from '../../domain/keycloak-flow/representation.ts';
import { formatPath } from '../../domain/keycloak-flow/request-path.ts';
import { requiredActionBody, requiredActionState } from '../../domain/keycloak-flow/required-action.ts';
import type { WriteOutcome } from '../../domain/keycloak-flow/run.ts';
import { uninterrupted, type Session } from './dependencies.ts';
import { endedUnsent, lackingOutcome, notRead } from './put-realm.ts';

/** Puts the two fields of the enrolment action right; all others go back as they were read. */
export async function writeRequiredAction(session: Session): Promise<WriteOutcome> {
  const { client, reader, scope, signal } = session;
  const actions = await reader.requiredActions();
  if (actions.kind === 'unmeasured') return notRead(actions);
  const before = actions.value.find((action) => action.alias === enrolmentAction);
  if (before === undefined) {
    const message = `${enrolmentAction} is no longer registered in the realm; it is never registered from here`;
    return { kind: 'stopped', reason: 'Unregistered', message };
  }
  if (requiredActionState([before], []).kind === 'asDeclared') {
    return { kind: 'written', message: 'the required action is as declared' };
  }
  const path = formatPath(['admin', 'realms', scope.realm, 'authentication', 'required-actions', enrolmentAction]);
  const body = requiredActionBody(before);
  const sent = await client.send({ method: 'PUT', path, body }, { ...scope, requiredAction: before }, signal);
  const ended = endedUnsent(sent);
  if (ended !== null) return ended;

  const after = await uninterrupted(session).reader.requiredActions();
  if (after.kind === 'unmeasured') {
    return { ...after, message: `whether the required action was written is not known: ${after.message}` };
  }
  const lacking = faults(body, after.value);
  if (lacking.length > 0) return lackingOutcome(sent, lacking);
  return { kind: 'written', message: 'the required action was put right' };
}

function faults(body: RequiredAction, after: readonly RequiredAction[]): readonly string[] {
  const found = after.find((action) => action.alias === enrolmentAction);
  if (found === undefined) return [`${enrolmentAction} is gone`];
  return differingFields(body, found).map((field) => `${field} is not what was written`);
}
