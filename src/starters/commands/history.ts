import { Command } from '@commander-js/extra-typings';
import { parseObjectName } from '../object-name.ts';
import { askFlowHistory } from '../keycloak-flow/flow-client.ts';
import { flowHistoryView } from '../keycloak-flow/history-view.ts';
import { rebootHistoryView } from '../node-reboot/history-view.ts';
import { askRebootHistory } from '../node-reboot/reboot-client.ts';
import { outputOption, printData, type Format } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { note, print } from '../output/print.ts';
import { historyView } from '../release/history-view.ts';
import { askHistory } from '../release/release-client.ts';
import { withTemporal } from '../temporal/connect.ts';

/** `holdfast history KIND/NAME`: what was rolled, when, how it ended, and who decided what. */
export function historyCommand() {
  return new Command('history')
    .description(
      'The rollout that is under way and those that ended, the newest first: when, what came of it, and of each target that did not end well; and who decided what, when and why, with what was refused.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast history release/hive', ''],
        ['holdfast history keycloakflow/shop', 'runs, binds and rollbacks'],
        ['holdfast history nodereboot/control-plane', 'reboots, readings, writes and decisions'],
        ["holdfast history release/hive -o json | jq '.items[0].outcome'", ''],
        ["holdfast history release/hive -o json | jq '.evidence[] | select(.by)'", 'what people decided'],
      ]),
    )
    .action(async (object, { output }) => {
      if (object.kind === 'KeycloakFlow') return showFlowHistory(object.name, output);
      if (object.kind === 'NodeReboot') return showRebootHistory(object.name, output);
      const history = await withTemporal((temporal) => askHistory(temporal, object.name));
      const { rollouts, rollbacks, rollout, lastRollouts, evidence, dropped } = history;
      if (output !== 'table') {
        const newestFirst = { items: lastRollouts.toReversed(), evidence: evidence.toReversed() };
        printData(output, {
          kind: history.kind,
          name: history.name,
          rollouts,
          rollbacks,
          rollout,
          ...newestFirst,
          dropped,
        });
        return;
      }
      if (lastRollouts.length === 0 && rollout === null) note(`release/${object.name} has rolled nothing yet`);
      const view = historyView(history);
      if (view !== '') print(view);
    });
}

async function showFlowHistory(name: string, output: Format): Promise<void> {
  const history = await withTemporal((temporal) => askFlowHistory(temporal, name));
  if (output !== 'table') {
    const { lastRuns, evidence, ...rest } = history;
    printData(output, { ...rest, items: lastRuns.toReversed(), evidence: evidence.toReversed() });
    return;
  }
  if (history.runs === 0) note(`keycloakflow/${name} has made no pass yet`);
  const view = flowHistoryView(history);
  if (view !== '') print(view);
}

async function showRebootHistory(name: string, output: Format): Promise<void> {
  const history = await withTemporal((temporal) => askRebootHistory(temporal, name));
  if (output !== 'table') {
    const { done, evidence, ...rest } = history;
    printData(output, { ...rest, items: done.toReversed(), evidence: evidence.toReversed() });
    return;
  }
  if (history.done.length === 0) note(`nodereboot/${name} has rebooted no node yet`);
  const view = rebootHistoryView(history);
  if (view !== '') print(view);
}
