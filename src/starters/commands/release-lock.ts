import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast release-lock`: the lock goes, the node stays. */
export function releaseLockCommand() {
  return new Command('release-lock')
    .description(
      'Releases the reboot lock where reboots have stopped, and leaves the node as it is: cordoned, or down. From then on a person answers for it; the answer says with which commands. Nothing else is begun while that node is out.',
    )
    .argument('<kind/name>', 'such as nodereboot/control-plane', parseObjectName)
    .requiredOption('--node <name>', 'the node whose turn it is')
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ["holdfast release-lock nodereboot/control-plane --node n1 --reason 'its board is being replaced'", ''],
      ]),
    )
    .action((object, options) => decide(object, 'releaseLock', { node: options.node }, options));
}
