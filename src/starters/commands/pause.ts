import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast pause`: nothing is started or written. */
export function pauseCommand() {
  return new Command('pause')
    .description(
      'Starts and writes nothing from now on, until resume. A target in progress is still watched; nothing more is written to it. A node that has its turn is finished; no further one is begun.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ["holdfast pause release/hive --reason 'incident 42'", ''],
        ['holdfast pause keycloakflow/shop', 'its passes go on looking'],
        ['holdfast pause nodereboot/control-plane', 'after the node that has its turn'],
      ]),
    )
    .action((object, options) => decide(object, 'pause', {}, options));
}
