import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast unblock`: takes a block back. */
export function unblockCommand() {
  return new Command('unblock')
    .description('Takes a block back. A cooldown that the image still has goes on until it is over, or until retry.')
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .argument('<image>', 'what is blocked, as status shows it')
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText('after', examples([['holdfast unblock release/hive v6.2.0', '']]))
    .action((object, image, options) => decide(object, 'unblock', { image }, options));
}
