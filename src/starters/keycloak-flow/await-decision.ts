import type { KeycloakFlowStatus } from '../../domain/keycloak-flow/status.ts';
import { exitCodes } from '../exit-codes.ts';
import { untilInterrupted } from '../interrupt.ts';
import { note } from '../output/print.ts';
import { createProgress } from '../output/progress.ts';
import type { Temporal } from '../temporal/connect.ts';
import { awaitRun } from './await-run.ts';
import { askFlowHistory } from './flow-client.ts';
import { approvalOutcome, liftOutcome, rollbackOutcome, type FlowOutcome } from './outcome.ts';

/** Waits for the run that a decision begins; says what came of it, and gives the status after it. */
export type AwaitDecision = (temporal: Temporal, before: KeycloakFlowStatus) => Promise<KeycloakFlowStatus>;

/** Until the approved candidate is bound, or it is known why not. */
export const awaitApproval: AwaitDecision = (temporal, before) =>
  decided(temporal, before, (after) => approvalOutcome(before, after));

/** Until people log in by the previous flow again, or it is known why not. */
export const awaitRollback: AwaitDecision = (temporal, before) =>
  decided(temporal, before, async (after) => {
    const { evidence } = await askFlowHistory(temporal, before.name);
    return rollbackOutcome(before, after, evidence.findLast(({ what }) => what === 'rollback')?.message ?? '');
  });

/** Until binding is held no longer. */
export const awaitLift: AwaitDecision = (temporal, before) => decided(temporal, before, liftOutcome);

async function decided(
  temporal: Temporal,
  before: KeycloakFlowStatus,
  outcomeOf: (after: KeycloakFlowStatus) => FlowOutcome | Promise<FlowOutcome>,
): Promise<KeycloakFlowStatus> {
  const progress = createProgress();
  const after = await awaitRun(temporal, before.name, { ...progress, signal: untilInterrupted() });
  progress.end();
  const object = `keycloakflow/${before.name}`;
  if (after === null) {
    note(`Left; what was decided goes on. Follow it: holdfast status ${object} --watch`);
    process.exitCode = exitCodes.interrupted;
    return before;
  }
  const { message, exitCode } = await outcomeOf(after);
  note(`${object}: ${message}`);
  process.exitCode = exitCode;
  return after;
}
