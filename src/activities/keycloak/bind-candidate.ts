import { unmeasured, type Reading } from '../../domain/core/verdict.ts';
import { checkBind } from '../../domain/keycloak-flow/check-bind.ts';
import { command as shown } from '../../domain/keycloak-flow/commands.ts';
import { verify, type FlowReadBack } from '../../domain/keycloak-flow/read-back.ts';
import { bindingBody } from '../../domain/keycloak-flow/realm-body.ts';
import type { FlowRepresentation } from '../../domain/keycloak-flow/representation.ts';
import type { WriteOutcome } from '../../domain/keycloak-flow/run.ts';
import { uninterrupted, type KeycloakFlowDependencies, type Session } from './dependencies.ts';
import type { BindInput } from './port.ts';
import { bindingFaults, putRealm, writtenOver } from './put-realm.ts';
import { readSwitch } from './read-switch.ts';

/** Binds a candidate: everything is read again here, the realm last, so that the time between it and the PUT is short. */
export async function bindCandidate(
  dependencies: KeycloakFlowDependencies,
  session: Session,
  { name, desired, bind, command }: BindInput,
): Promise<WriteOutcome> {
  const { reader, signal, clock } = session;
  const flows = await reader.flows();
  const listed = flows.kind === 'read' ? flows.value.find((flow) => flow.alias === command.candidate) : undefined;
  const candidate: Reading<FlowReadBack> =
    listed === undefined
      ? unmeasured('the candidate', 'Keycloak', 'missing', `there is no top level flow "${command.candidate}"`)
      : await reader.readBack(listed);
  const bindSwitch = await readSwitch(dependencies, bind, signal);
  const readAt = performance.now();
  const realm = await reader.realm();

  const check = checkBind(desired, name, command, { bindSwitch, realm, flows, candidate }, clock());
  if (check.kind === 'end') return check.outcome;
  const { candidate: to } = command;
  const outcome = await putRealm(session, {
    write: { purpose: 'bind', before: check.realm, to },
    body: bindingBody(check.realm, to, check.marks),
    readAt,
    faults: bindingFaults(to, check.marks),
    done: `"${to}" is bound; before it was "${command.from}"`,
  });
  if (outcome.kind !== 'written' || listed === undefined) return outcome;
  return verifiedOnceMore(uninterrupted(session), { name, desired }, listed, outcome);
}

/** Nothing keeps others from editing the candidate after it was read for the last time: that is noticed here, not a pass later. */
async function verifiedOnceMore(
  { reader }: Session,
  { name, desired }: Pick<BindInput, 'name' | 'desired'>,
  listed: FlowRepresentation,
  outcome: Extract<WriteOutcome, { kind: 'written' }>,
): Promise<WriteOutcome> {
  const bound = await reader.readBack({ ...listed, authenticationExecutions: null });
  const verification = bound.kind === 'unmeasured' ? bound : verify(desired, bound.value);
  switch (verification.kind) {
    case 'verified':
      return outcome;
    case 'unmeasured': {
      const unread = `the flow was not read once more after it was bound: ${verification.message}`;
      return { ...outcome, notVerified: [...(outcome.notVerified ?? []), unread] };
    }
    case 'different': {
      const { lost = [] } = outcome;
      const also = lost.length === 0 ? '' : `; ${writtenOver(lost)}`;
      const message = `"${listed.alias}" was edited while it was being bound, and is bound like that: ${verification.differences.join('; ')}; take the edit back, or ${shown('rollback', name)}${also}`;
      return { kind: 'failed', reason: 'EditedMeanwhile', message };
    }
  }
}
