import type { KeycloakFlowSpec } from '../../domain/keycloak-flow/spec.ts';
import type { KeycloakFlowStatus } from '../../domain/keycloak-flow/status.ts';
import { appliedLine } from '../applied-line.ts';
import { exitCodes } from '../exit-codes.ts';
import { untilInterrupted } from '../interrupt.ts';
import { print } from '../output/print.ts';
import { createProgress, type Progress } from '../output/progress.ts';
import type { Temporal } from '../temporal/connect.ts';
import type { Decider } from '../who.ts';
import { flowLooks } from './await-run.ts';
import { describeFlowChanges } from './changes.ts';
import { applyFlow, askFlowStatus, sendFlowAction } from './flow-client.ts';
import { flowOutcome } from './outcome.ts';

export interface RunOptions {
  /** Until the run of the passes has ended. */
  readonly wait: boolean;
  /** The run binds nothing. */
  readonly noBind: boolean;
}

/** Applies a KeycloakFlow and has its passes made now. */
export async function runFlow(
  temporal: Temporal,
  { name, spec }: { readonly name: string; readonly spec: KeycloakFlowSpec },
  decider: Decider,
  { wait, noBind }: RunOptions,
): Promise<void> {
  const object = `keycloakflow/${name}`;
  const applied = await applyFlow(temporal, name, spec, decider, noBind);
  print(appliedLine(object, applied));
  // One that was just created makes its passes by itself.
  const before = applied.result === 'created' ? null : await askFlowStatus(temporal, name);
  if (before !== null) await sendFlowAction(temporal, name, 'runNow', { ...decider, noBind });
  if (!wait) {
    print(`${object} makes its passes now; follow it: holdfast status ${object} --watch`);
    return;
  }
  const progress = createProgress();
  const status = await followToEnd(temporal, name, before, progress);
  progress.end();
  if (status === null) {
    progress.say(`left; ${object} goes on. Follow it: holdfast status ${object} --watch`);
    process.exitCode = exitCodes.interrupted;
    return;
  }
  const { message, exitCode } = flowOutcome(status);
  print(`${object}: ${message}`);
  process.exitCode = exitCode;
}

/** @returns null where the person left */
async function followToEnd(
  temporal: Temporal,
  name: string,
  start: KeycloakFlowStatus | null,
  progress: Progress,
): Promise<KeycloakFlowStatus | null> {
  let before = start;
  const options = { signal: untilInterrupted(), say: progress.say };
  for await (const { status, atRest, doing } of flowLooks(temporal, name, options)) {
    for (const line of describeFlowChanges(before, status)) progress.say(line);
    before = status;
    if (atRest) return status;
    progress.at(doing ?? status.phase);
  }
  return null;
}
