import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast block`: never roll a digest or version. */
export function blockCommand() {
  return new Command('block')
    .description(
      'Never rolls a digest or version label, until unblock. A rollout of it that is under way goes on until it is aborted.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .argument('<image>', 'a digest (sha256:…) or a version label, as status shows it')
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ["holdfast block release/hive v6.2.0 --reason 'CVE-2026-1234'", ''],
        [
          'holdfast block release/hive sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          'a digest in full',
        ],
      ]),
    )
    .action((object, image, options) => decide(object, 'block', { image }, options));
}
