import { Command } from '@commander-js/extra-typings';
import type { KeycloakFlowStatus } from '../../domain/keycloak-flow/status.ts';
import type { NodeRebootStatus } from '../../domain/node-reboot/status.ts';
import type { ReleaseStatus } from '../../domain/release/status.ts';
import { workflowIdOf } from '../by-kind.ts';
import { exitCodes } from '../exit-codes.ts';
import { untilInterrupted } from '../interrupt.ts';
import { flowLooks } from '../keycloak-flow/await-run.ts';
import { describeFlowChanges } from '../keycloak-flow/changes.ts';
import { askFlowStatus } from '../keycloak-flow/flow-client.ts';
import { flowStatusView } from '../keycloak-flow/status-view.ts';
import { describeRebootChanges } from '../node-reboot/changes.ts';
import { askRebootStatus } from '../node-reboot/reboot-client.ts';
import { rebootLooks } from '../node-reboot/reboot-looks.ts';
import { rebootStatusView } from '../node-reboot/status-view.ts';
import { formatObjectName, parseObjectName, type ObjectName } from '../object-name.ts';
import { outputOption, printData, type Format } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { note, print } from '../output/print.ts';
import { createProgress } from '../output/progress.ts';
import { visible } from '../output/visible.ts';
import { describeChanges } from '../release/changes.ts';
import { looks } from '../release/follow.ts';
import { askStatus } from '../release/release-client.ts';
import { statusView } from '../release/status-view.ts';
import { withTemporal, type Temporal } from '../temporal/connect.ts';
import { whenEnded } from '../temporal/ended.ts';

const clearScreen = '\u001b[2J\u001b[3J\u001b[H';

/** `holdfast status KIND/NAME`: how it is, and what it waits for. */
export function statusCommand() {
  return new Command('status')
    .description(
      'How it is: phase, what it waits for, since when, who can lift that and what happens next. Of a release: pins, blocks and each target; of a login flow: what is bound, what waits to be, each pass, and the difference as a tree; of reboots: whose turn it is and how far, why each other node does not go now, and each gate.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .option('-w, --watch', 'go on: on a terminal the view is kept fresh, elsewhere each change is a line')
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast status release/hive', ''],
        ['holdfast status release/hive --watch', 'until Ctrl-C (exit code 130)'],
        ['holdfast status keycloakflow/shop', ''],
        ['holdfast status nodereboot/control-plane', ''],
        ["holdfast status release/hive -o json | jq -r '.waiting.for'", ''],
      ]),
    )
    .action((object, { watch = false, output }) => {
      switch (object.kind) {
        case 'Release':
          return show(object, releases, watch, output);
        case 'KeycloakFlow':
          return show(object, flows, watch, output);
        case 'NodeReboot':
          return show(object, campaigns, watch, output);
      }
    });
}

/** How one kind is looked at and shown. */
interface Shown<S extends { readonly asOf: string }> {
  readonly ask: (temporal: Temporal, name: string) => Promise<S>;
  readonly looks: (
    temporal: Temporal,
    name: string,
    options: { readonly signal: AbortSignal; readonly say: (line: string) => void },
  ) => AsyncIterable<{ readonly status: S }>;
  readonly view: (status: S) => string;
  readonly changes: (before: S, after: S) => readonly string[];
}

const releases: Shown<ReleaseStatus> = { ask: askStatus, looks, view: statusView, changes: describeChanges };

const flows: Shown<KeycloakFlowStatus> = {
  ask: askFlowStatus,
  looks: flowLooks,
  view: flowStatusView,
  changes: describeFlowChanges,
};

const campaigns: Shown<NodeRebootStatus> = {
  ask: askRebootStatus,
  looks: rebootLooks,
  view: rebootStatusView,
  changes: describeRebootChanges,
};

async function show<S extends { readonly asOf: string }>(
  object: ObjectName,
  shown: Shown<S>,
  watch: boolean,
  output: Format,
): Promise<void> {
  await withTemporal(async (temporal) => {
    if (watch) return follow(temporal, object, shown, output);
    const ended = await whenEnded(temporal, workflowIdOf(object));
    const status = await shown.ask(temporal, object.name);
    if (ended !== null) note(`${formatObjectName(object)} has ${ended.how}; this is how it was:`);
    if (output === 'table') print(shown.view(status));
    else printData(output, status);
    // Nobody looks after it any more, and how it is now was not asked.
    if (ended?.completed === false) process.exitCode = exitCodes.undetermined;
  });
}

async function follow<S extends { readonly asOf: string }>(
  temporal: Temporal,
  object: ObjectName,
  { looks: lookAgain, view, changes }: Shown<S>,
  output: Format,
): Promise<void> {
  const signal = untilInterrupted();
  const progress = createProgress();
  const live = output === 'table' && process.stdout.isTTY;
  let before: S | null = null;
  for await (const { status } of lookAgain(temporal, object.name, { signal, say: progress.say })) {
    if (live) process.stdout.write(`${clearScreen}${visible(view(status))}\n\nCtrl-C leaves; it goes on.\n`);
    else if (output !== 'table') {
      if (before === null || differs(before, status)) printLine(output, status);
    } else if (before === null) print(view(status));
    else for (const line of changes(before, status)) print(`${status.asOf.replace(/\.\d+Z$/, 'Z')} ${line}`);
    before = status;
  }
  note(`Left; ${formatObjectName(object)} goes on.`);
  process.exitCode = exitCodes.interrupted;
}

function printLine(output: Exclude<Format, 'table'>, status: object): void {
  if (output === 'json') print(JSON.stringify(status));
  else {
    print('---');
    printData('yaml', status);
  }
}

/** When somebody asked, and when it was looked at last, is no change. */
const instants = { asOf: '', evaluatedAt: '', readAt: '' };

function differs(before: object, after: object): boolean {
  return JSON.stringify({ ...before, ...instants }) !== JSON.stringify({ ...after, ...instants });
}
