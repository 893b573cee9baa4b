import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption } from '../who.ts';

/** `holdfast force`: one gate does not count, for one reboot of one node. */
export function forceCommand() {
  return new Command('force')
    .description(
      'Sets one gate aside for one reboot of one node, once and until it expires. Who did, why and what it was used for is kept. That every other node is up, that nobody else holds a reboot lock, and that its pods can be moved cannot be set aside.',
    )
    .argument('<kind/name>', 'such as nodereboot/control-plane', parseObjectName)
    .requiredOption('--gate <name>', 'the gate, as status names it')
    .requiredOption('--node <name>', 'the node for which it does not count')
    .requiredOption('--reason <text>', 'why it may be set aside, as recorded')
    .option('--for <duration>', 'how long it may be used, at most 24h [1h]')
    .addOption(asOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ["holdfast force nodereboot/control-plane --gate dns --node n1 --reason 'n3 serves DNS alone tonight'", ''],
        [
          "holdfast force nodereboot/control-plane --gate budgets --node n1 --for 15m --reason 'batch may be cut'",
          'in the next quarter of an hour',
        ],
      ]),
    )
    .action((object, options) => {
      const { gate, node, for: lasts } = options;
      return decide(object, 'force', { gate, node, for: lasts }, options);
    });
}
