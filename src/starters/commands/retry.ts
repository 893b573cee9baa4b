import { Command } from '@commander-js/extra-typings';
import { CliError } from '../cli-error.ts';
import { decide } from '../decide.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast retry`: tries again before a cooldown ends. */
export function retryCommand() {
  return new Command('retry')
    .description(
      'Tries again now: ends cooldowns, the wait after a failed preflight, and what a failure or rejection holds. What is blocked stays blocked. A login flow: proofs are made again, candidates that were given up are tried again, binding that was stopped goes on. Reboots of nodes: it looks again from where it stopped, and at nodes that were rebooted already.',
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
        ['holdfast retry keycloakflow/shop', ''],
        ['holdfast retry nodereboot/control-plane', ''],
        ["holdfast retry release/hive --target north --skip-preflight --reason 'north is sick; this is the cure'", ''],
      ]),
    )
    .action(async (object, options) => {
      const { target, skipPreflight } = options;
      if (object.kind !== 'Release' && (target !== undefined || skipPreflight !== undefined)) {
        throw new CliError(exitCodes.invalid, `a ${object.kind} has no targets and no preflight; retry it as a whole`);
      }
      await decide(object, 'retry', { target, skipPreflight }, options);
    });
}
