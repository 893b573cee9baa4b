import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast unpin`: follow spec.pin or the track again. */
export function unpinCommand() {
  return new Command('unpin')
    .description(
      'Ends the pin of a person: the fleet follows spec.pin or its track again, through canary, gate and soak.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText('after', examples([["holdfast unpin release/hive --reason 'fixed in v6.2.1'", '']]))
    .action((object, options) => decide(object, 'unpin', {}, options));
}
