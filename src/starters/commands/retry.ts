import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast retry`: tries again before a cooldown ends. */
export function retryCommand() {
  return new Command('retry')
    .description(
      'Tries again now: ends cooldowns, the wait after a failed preflight, and what a failure or rejection holds. What is blocked stays blocked.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .option('--target <name>', 'this target alone [all]')
    .option(
      '--skip-preflight',
      'do not ask that the running image is healthy: lets the cure reach a target that is sick',
    )
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast retry release/hive', ''],
        ["holdfast retry release/hive --target north --skip-preflight --reason 'north is sick; this is the cure'", ''],
      ]),
    )
    .action((object, options) =>
      decide(object, 'retry', { target: options.target, skipPreflight: options.skipPreflight }, options),
    );
}
