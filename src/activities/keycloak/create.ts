import { isUnmeasured } from '../../domain/core/verdict.ts';
import type { BuildOutcome, WriteOutcome } from '../../domain/keycloak-flow/run.ts';
import { atBoundary } from '../release/boundary.ts';
import { waiting } from '../wait-context.ts';
import { bindCandidate } from './bind-candidate.ts';
import { buildCandidate, type BuildHeartbeat } from './build-candidate.ts';
import { openSession, type KeycloakFlowDependencies, type Session } from './dependencies.ts';
import { observeRealm } from './observe.ts';
import type { FlowInput, KeycloakFlowActivities } from './port.ts';
import { proveLogin } from './prove-login.ts';
import { notRead } from './put-realm.ts';
import { liftHold, rollBack } from './roll-back.ts';
import { writePolicy } from './write-policy.ts';
import { writeRequiredAction } from './write-required-action.ts';

/** The activities of KeycloakFlows over their ports. One set serves any number of them. */
export function createKeycloakFlowActivities(dependencies: KeycloakFlowDependencies): KeycloakFlowActivities {
  const write = (name: string, input: FlowInput, work: (session: Session) => Promise<WriteOutcome>) =>
    atBoundary(name, () =>
      waiting<undefined, WriteOutcome>(({ signal }) => {
        const session = openSession(dependencies, input, signal);
        return isUnmeasured(session) ? Promise.resolve(notRead(session)) : work(session);
      }),
    );
  return {
    observeRealm: (input) =>
      atBoundary('observeRealm', () => waiting(({ signal }) => observeRealm(dependencies, input, signal))),
    writePolicy: (input) => write('writePolicy', input, (session) => writePolicy(session, input)),
    writeRequiredAction: (input) => write('writeRequiredAction', input, writeRequiredAction),
    buildCandidate: (input) =>
      atBoundary('buildCandidate', () =>
        waiting<BuildHeartbeat, BuildOutcome>((context) => {
          const session = openSession(dependencies, input, context.signal);
          return isUnmeasured(session) ? Promise.resolve(session) : buildCandidate(session, input, context);
        }),
      ),
    proveLogin: (input) =>
      atBoundary('proveLogin', () => waiting(({ signal }) => proveLogin(dependencies, input, signal))),
    bindCandidate: (input) => write('bindCandidate', input, (session) => bindCandidate(dependencies, session, input)),
    rollBack: (input) => write('rollBack', input, (session) => rollBack(session, input)),
    liftHold: (input) => write('liftHold', input, (session) => liftHold(session, input)),
  };
}
