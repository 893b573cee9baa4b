import { Command } from '@commander-js/extra-typings';
import { requireAction } from '../by-kind.ts';
import { CliError } from '../cli-error.ts';
import { decide } from '../decide.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast abort`: ends a rollout, with the choice what becomes of the target in progress. */
export function abortCommand() {
  return new Command('abort')
    .description(
      'Ends the rollout that is running: no further target is started. What becomes of the target in progress is to be said. A rollback in progress finishes first, unless --now.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .option('--stop', 'leave the target in progress where it is, unproven')
    .option('--roll-back', 'bring the target in progress back to the image it had')
    .option('--now', 'cut even a rollback in progress short, and say how it was left')
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ["holdfast abort release/hive --roll-back --reason 'customers see errors'", ''],
        ['holdfast abort release/hive --stop', 'to look at it as it is'],
      ]),
    )
    .action(async (object, options) => {
      requireAction(object, 'abort');
      const { stop = false, rollBack = false, now = false } = options;
      if (stop === rollBack) {
        throw new CliError(
          exitCodes.invalid,
          'expected what becomes of the target in progress: either --stop (it stays where it is) or --roll-back',
        );
      }
      await decide(object, 'abort', { how: stop ? 'stop' : 'rollback', now }, options);
    });
}
