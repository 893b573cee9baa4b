import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast cancel`: ends the reboots of a NodeReboot. */
export function cancelCommand() {
  return new Command('cancel')
    .description(
      'Ends the reboots: no further node is begun. A node that was not told to reboot yet is given back as it was found, within seconds; one that was is finished first. Apply the spec again to begin anew.',
    )
    .argument('<kind/name>', 'such as nodereboot/control-plane', parseObjectName)
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText('after', examples([["holdfast cancel nodereboot/control-plane --reason 'not today'", '']]))
    .action((object, options) => decide(object, 'cancel', {}, options));
}
