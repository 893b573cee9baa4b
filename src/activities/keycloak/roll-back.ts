import { checkLift, checkRollback } from '../../domain/keycloak-flow/check-rollback.ts';
import { bindingBody, marksBody } from '../../domain/keycloak-flow/realm-body.ts';
import type { RealmMarks } from '../../domain/keycloak-flow/realm-marks.ts';
import type { RealmRepresentation } from '../../domain/keycloak-flow/representation.ts';
import type { WriteOutcome } from '../../domain/keycloak-flow/run.ts';
import type { Session } from './dependencies.ts';
import type { LiftInput, RollbackInput } from './port.ts';
import { bindingFaults, putRealm, writtenOver } from './put-realm.ts';

/** Binds the previous alias and holds binding, in one PUT; where there is no way back, the hold alone is written. */
export async function rollBack(session: Session, { name, hold }: RollbackInput): Promise<WriteOutcome> {
  const { reader, clock } = session;
  const flows = await reader.flows();
  const readAt = performance.now();
  const realm = await reader.realm();
  const check = checkRollback(name, hold, realm, flows, clock());
  switch (check.kind) {
    case 'end':
      return check.outcome;
    case 'holdOnly': {
      const written = await writeMarks(session, check.realm, check.marks, readAt, 'binding is held');
      if (written.kind !== 'written') return written;
      const { lost = [] } = written;
      const { outcome } = check;
      if (outcome.kind !== 'failed' || lost.length === 0) return { ...written, ...outcome };
      return { ...outcome, message: `${outcome.message}; ${writtenOver(lost)}` };
    }
    case 'bind':
      return putRealm(session, {
        write: { purpose: 'bind', before: check.realm, to: check.to },
        body: bindingBody(check.realm, check.to, check.marks),
        readAt,
        faults: bindingFaults(check.to, check.marks),
        done: `"${check.to}" is bound again, and binding is held; before it was "${check.realm.browserFlow}"`,
      });
  }
}

/** Takes the hold out of the realm. */
export async function liftHold(session: Session, { by }: LiftInput): Promise<WriteOutcome> {
  const readAt = performance.now();
  const check = checkLift(await session.reader.realm(), by);
  if (check.kind === 'end') return check.outcome;
  return writeMarks(session, check.realm, check.marks, readAt, check.message);
}

function writeMarks(
  session: Session,
  before: RealmRepresentation,
  marks: RealmMarks,
  readAt: number,
  done: string,
): Promise<WriteOutcome> {
  return putRealm(session, {
    write: { purpose: 'marks', before },
    body: marksBody(before, marks),
    readAt,
    faults: bindingFaults(before.browserFlow, marks),
    done,
  });
}
