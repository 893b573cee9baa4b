import { Command } from '@commander-js/extra-typings';
import { requireAbout } from '../about-option.ts';
import { requireAction } from '../by-kind.ts';
import { decide } from '../decide.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast reject`: turns a waiting step down. */
export function rejectCommand() {
  return new Command('reject')
    .description(
      'Turns down what waits: it is not asked for again until something else is wanted, or until approve or retry.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .option('--plan <hash>', 'the plan that is meant, by its hash as status shows it')
    .option('--digest <digest>', 'the digest that is meant, its first twelve digits at least')
    .option('--target <name>', 'the target whose step is meant')
    .option('--candidate <name>', 'the login flow that is meant, with --plan')
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText('after', examples([["holdfast reject release/hive --plan 3f2a9c0d --reason 'not before Monday'", '']]))
    .action(async (object, options) => {
      requireAction(object, 'reject');
      await decide(object, 'reject', { ...requireAbout(object, options) }, options);
    });
}
