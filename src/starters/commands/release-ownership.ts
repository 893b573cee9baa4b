import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast release-ownership`: hands everything back. */
export function releaseOwnershipCommand() {
  return new Command('release-ownership')
    .description(
      'Hands everything back and ends: objects stay as they are, and nobody writes to them from here any more. Refused while a rollout is running; abort it first.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText('after', examples([["holdfast release-ownership release/hive --reason 'back to GitOps'", '']]))
    .action((object, options) => decide(object, 'releaseOwnership', {}, options));
}
