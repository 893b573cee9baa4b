import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { exitCodes } from '../exit-codes.ts';
import { formatObjectName, parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { note } from '../output/print.ts';
import { awaitLook, pinOutcome } from '../release/await-look.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast pin`: holds the fleet on an image, or moves it there. */
export function pinCommand() {
  return new Command('pin')
    .description(
      'Holds the targets of the default line on an image, or moves them there on purpose: an older one is how a whole fleet is rolled back. It goes through canary, gate and soak, and bypasses blocklist and major guard. Exit code 1: it is recorded, and there is no such image; 3: the registry did not say.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .argument('<image>', 'a tag, a digest (sha256:…), or tag@digest')
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ["holdfast pin release/hive v6.1.4 --reason 'v6.2 loses agents'", ''],
        [
          'holdfast pin release/hive sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          'a digest in full',
        ],
      ]),
    )
    .action((object, image, options) =>
      decide(object, 'pin', { image }, options, {
        Release: async (temporal, before) => {
          const status = await awaitLook(temporal, before);
          const { message, exitCode } = pinOutcome(status, formatObjectName(object));
          if (options.output === 'table' || exitCode !== exitCodes.done) note(message);
          process.exitCode = exitCode;
          return status ?? before;
        },
      }),
    );
}
