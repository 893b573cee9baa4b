import { policyBody, policyDrift } from '../../domain/keycloak-flow/policy.ts';
import { movedFields, policyReadBack } from '../../domain/keycloak-flow/policy-write.ts';
import type { WriteOutcome } from '../../domain/keycloak-flow/run.ts';
import type { Session } from './dependencies.ts';
import type { FlowInput } from './port.ts';
import { notRead, putRealm } from './put-realm.ts';

/** Puts the declared keys right that differ now, whatever differed when it was asked for. */
export async function writePolicy(session: Session, { desired }: FlowInput): Promise<WriteOutcome> {
  const policy = desired.webAuthnPolicyPasswordless;
  const first = await session.reader.realm();
  if (first.kind === 'unmeasured') return notRead(first);
  const seen = policyDrift(policy, first.value);
  if (seen.length === 0) return { kind: 'written', message: 'the passwordless policy is as declared' };

  const readAt = performance.now();
  const again = await session.reader.realm();
  if (again.kind === 'unmeasured') return notRead(again);
  const moved = movedFields(first.value, again.value, seen);
  if (moved.length > 0) {
    const message = `somebody else is editing the realm (${moved.join(', ')}), so that nothing was written`;
    return { kind: 'stopped', reason: 'EditedMeanwhile', message };
  }
  const before = again.value;
  const drift = policyDrift(policy, before);
  if (drift.length === 0) return { kind: 'written', message: 'the passwordless policy is as declared' };
  return putRealm(session, {
    write: { purpose: 'policy', before, policy },
    body: policyBody(before, drift),
    readAt,
    faults: (after) => policyReadBack(policy, before, after),
    done: `the passwordless policy was put right: ${drift.map(({ key }) => key).join(', ')}`,
  });
}
