import { Command } from '@commander-js/extra-typings';
import type { ReleaseStatus } from '../../domain/release/status.ts';
import { exitCodes } from '../exit-codes.ts';
import { untilInterrupted } from '../interrupt.ts';
import { formatObjectName, parseObjectName, type ObjectName } from '../object-name.ts';
import { outputOption, printData, type Format } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { note, print } from '../output/print.ts';
import { createProgress } from '../output/progress.ts';
import { visible } from '../output/visible.ts';
import { describeChanges } from '../release/changes.ts';
import { looks } from '../release/follow.ts';
import { askStatus, whenEnded } from '../release/release-client.ts';
import { statusView } from '../release/status-view.ts';
import { withTemporal, type Temporal } from '../temporal/connect.ts';

const clearScreen = '\u001b[2J\u001b[3J\u001b[H';

/** `holdfast status KIND/NAME`: how it is, and what it waits for. */
export function statusCommand() {
  return new Command('status')
    .description(
      'How it is: phase, what it waits for, since when, who can lift that and what happens next; pins and blocks, and each target.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .option('-w, --watch', 'go on: on a terminal the view is kept fresh, elsewhere each change is a line')
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast status release/hive', ''],
        ['holdfast status release/hive --watch', 'until Ctrl-C (exit code 130)'],
        ["holdfast status release/hive -o json | jq -r '.waiting.for'", ''],
      ]),
    )
    .action(async (object, { watch = false, output }) => {
      await withTemporal(async (temporal) => {
        if (watch) return follow(temporal, object, output);
        const ended = await whenEnded(temporal, object.name);
        const status = await askStatus(temporal, object.name);
        if (ended !== null) note(`${formatObjectName(object)} has ${ended.how}; this is how it was:`);
        if (output === 'table') print(statusView(status));
        else printData(output, status);
        // Nobody looks after its targets any more, and how they are now was not asked.
        if (ended?.completed === false) process.exitCode = exitCodes.undetermined;
      });
    });
}

async function follow(temporal: Temporal, object: ObjectName, output: Format): Promise<void> {
  const signal = untilInterrupted();
  const progress = createProgress();
  const live = output === 'table' && process.stdout.isTTY;
  let before: ReleaseStatus | null = null;
  for await (const { status } of looks(temporal, object.name, { signal, say: progress.say })) {
    if (live)
      process.stdout.write(`${clearScreen}${visible(statusView(status))}\n\nCtrl-C leaves; the release goes on.\n`);
    else if (output === 'table') showChanges(before, status);
    else if (before === null || differs(before, status)) printLine(output, status);
    before = status;
  }
  note(`Left; ${formatObjectName(object)} goes on.`);
  process.exitCode = exitCodes.interrupted;
}

function showChanges(before: ReleaseStatus | null, status: ReleaseStatus): void {
  if (before === null) {
    print(statusView(status));
    return;
  }
  for (const line of describeChanges(before, status)) print(`${status.asOf.replace(/\.\d+Z$/, 'Z')} ${line}`);
}

function printLine(output: Exclude<Format, 'table'>, status: ReleaseStatus): void {
  if (output === 'json') print(JSON.stringify(status));
  else {
    print('---');
    printData('yaml', status);
  }
}

/** When somebody asked, and when it was looked at last, is no change. */
const instants = { asOf: '', evaluatedAt: '' };

function differs(before: ReleaseStatus, after: ReleaseStatus): boolean {
  return JSON.stringify({ ...before, ...instants }) !== JSON.stringify({ ...after, ...instants });
}
