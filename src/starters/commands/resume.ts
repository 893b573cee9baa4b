import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast resume`: ends a pause. */
export function resumeCommand() {
  return new Command('resume')
    .description('Ends a pause: what was planned goes on.')
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast resume release/hive', ''],
        ['holdfast resume keycloakflow/shop', ''],
      ]),
    )
    .action((object, options) => decide(object, 'resume', {}, options));
}
