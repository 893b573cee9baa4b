import { Command } from '@commander-js/extra-typings';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { fileOption } from '../file-option.ts';
import { untilInterrupted } from '../interrupt.ts';
import { formatObjectName } from '../object-name.ts';
import { examples } from '../output/examples.ts';
import { print } from '../output/print.ts';
import { createProgress, type Progress } from '../output/progress.ts';
import { describeChanges } from '../release/changes.ts';
import { looks } from '../release/follow.ts';
import { outcomeOf, waitsForPerson, type Outcome } from '../release/outcome.ts';
import { applyRelease, askStatus, sendAction, type Decider } from '../release/release-client.ts';
import type { ReleaseStatus } from '../../domain/release/status.ts';
import { requireSpecs, type Spec } from '../spec-files.ts';
import { withTemporal, type Temporal } from '../temporal/connect.ts';
import { asOption, reasonOption, whoAsks } from '../who.ts';
import { appliedLine } from './apply.ts';

/** `holdfast run -f FILE --wait`: one pass now, for CI. */
export function runCommand() {
  return new Command('run')
    .description(
      'Applies a spec and has it looked at now instead of at the next poll. With --wait it follows the pass to its end, a line per change, and ends with what came of it.',
    )
    .addOption(fileOption())
    .option('-w, --wait', 'follow it to its end')
    .addOption(asOption())
    .addOption(reasonOption())
    .addHelpText(
      'after',
      `
With --wait the exit code is
  0    every target runs what is wanted; in Observe and Shadow: it was looked at
  1    a target failed, or a measured reason keeps it from what is wanted (blocked, no such architecture, a window)
  3    something could not be read, or nothing was measured about the new image (it is not rolled back then)
  4    a person is waited for: an approval, a pause, an incumbent that holds Enforce down
  5    rolled back
  130  left with Ctrl-C; the release goes on, and holdfast status KIND/NAME --watch follows it again
${examples([
  ['holdfast run -f release.yaml --wait', 'the last step of a pipeline'],
  ['holdfast run -f release.yaml --wait || test $? = 4', 'an approval may come later'],
])}`,
    )
    .action(async ({ file, wait = false, as, reason }) => {
      const specs = await requireSpecs(file);
      const [spec] = specs;
      if (spec === undefined || specs.length > 1) {
        throw new CliError(
          exitCodes.invalid,
          `run takes one document, and ${file.join(', ')} has ${specs.length}; run them one after the other`,
        );
      }
      await withTemporal((temporal) => runOnce(temporal, spec, { by: whoAsks(as), reason }, wait));
    });
}

async function runOnce(temporal: Temporal, spec: Spec, decider: Decider, wait: boolean): Promise<void> {
  const object = formatObjectName(spec);
  const applied = await applyRelease(temporal, spec.name, spec.spec, decider);
  print(appliedLine(object, applied));
  // A release that was just created looks by itself.
  const before = applied.result === 'created' ? null : await askStatus(temporal, spec.name);
  if (before !== null) await sendAction(temporal, spec.name, 'runNow', decider);
  if (!wait) {
    print(`${object} is looked at now; follow it: holdfast status ${object} --watch`);
    return;
  }
  const progress = createProgress();
  const outcome = await followToEnd(temporal, spec.name, before, progress);
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
