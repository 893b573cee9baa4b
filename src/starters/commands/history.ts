import { Command } from '@commander-js/extra-typings';
import { parseObjectName } from '../object-name.ts';
import { outputOption, printData } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { note, print } from '../output/print.ts';
import { historyView } from '../release/history-view.ts';
import { askStatus } from '../release/release-client.ts';
import { withTemporal } from '../temporal/connect.ts';

/** `holdfast history KIND/NAME`: what was rolled, when, and how it ended. */
export function historyCommand() {
  return new Command('history')
    .description(
      'The rollouts that ended, the newest first: when, what came of it, and of each target that did not end well.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast history release/hive', ''],
        ["holdfast history release/hive -o json | jq '.items[0].outcome'", ''],
      ]),
    )
    .action(async (object, { output }) => {
      const { lastRollouts, rollouts, rollbacks } = await withTemporal((temporal) => askStatus(temporal, object.name));
      const items = lastRollouts.toReversed();
      if (output !== 'table') printData(output, { rollouts, rollbacks, items });
      else if (items.length === 0) note(`release/${object.name} has rolled nothing yet`);
      else print(historyView(items, rollouts));
    });
}
