import { appliedLine } from '../applied-line.ts';
import { exitCodes } from '../exit-codes.ts';
import { untilInterrupted } from '../interrupt.ts';
import { print } from '../output/print.ts';
import { createProgress, type Progress } from '../output/progress.ts';
import type { ReleaseSpec } from '../../domain/release/spec.ts';
import type { ReleaseStatus } from '../../domain/release/status.ts';
import type { Temporal } from '../temporal/connect.ts';
import type { Decider } from '../who.ts';
import { describeChanges } from './changes.ts';
import { looks } from './follow.ts';
import { outcomeOf, waitsForPerson, type Outcome } from './outcome.ts';
import { applyRelease, askStatus, sendAction } from './release-client.ts';

/** Applies a release and has it looked at now; with `wait` until it rests or a person is waited for. */
export async function runRelease(
  temporal: Temporal,
  { name, spec }: { readonly name: string; readonly spec: ReleaseSpec },
  decider: Decider,
  wait: boolean,
): Promise<void> {
  const object = `release/${name}`;
  const applied = await applyRelease(temporal, name, spec, decider);
  print(appliedLine(object, applied));
  // A release that was just created looks by itself.
  const before = applied.result === 'created' ? null : await askStatus(temporal, name);
  if (before !== null) await sendAction(temporal, name, 'runNow', decider);
  if (!wait) {
    print(`${object} is looked at now; follow it: holdfast status ${object} --watch`);
    return;
  }
  const progress = createProgress();
  const outcome = await followToEnd(temporal, name, before, progress);
  progress.end();
  if (outcome === null) {
    progress.say(`left; ${object} goes on. Follow it: holdfast status ${object} --watch`);
    process.exitCode = exitCodes.interrupted;
    return;
  }
  print(`${object}: ${outcome.message}`);
  process.exitCode = outcome.exitCode;
}

/** @returns null where the person left */
async function followToEnd(
  temporal: Temporal,
  name: string,
  start: ReleaseStatus | null,
  progress: Progress,
): Promise<Outcome | null> {
  let before = start;
  // A rollout may be under way already, and may soak for long: where it is would else be told only once it goes on.
  if (start !== null && start.rollout !== null) for (const line of describeChanges(null, start)) progress.say(line);
  for await (const { status, atRest } of looks(temporal, name, { signal: untilInterrupted(), say: progress.say })) {
    for (const line of describeChanges(before, status)) progress.say(line);
    before = status;
    if (atRest || waitsForPerson(status)) return outcomeOf(status);
    progress.at(status.waiting === null ? status.phase : `${status.phase}: ${status.waiting.for}`);
  }
  return null;
}
