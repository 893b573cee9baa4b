import { readFile } from 'node:fs/promises';
import { Command } from '@commander-js/extra-typings';
import { requireAbout } from '../about-option.ts';
import { CliError } from '../cli-error.ts';
import { decide } from '../decide.ts';
import { exitCodes } from '../exit-codes.ts';
import { awaitApproval } from '../keycloak-flow/await-decision.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast approve`: lets a waiting step go on. */
export function approveCommand() {
  return new Command('approve')
    .description(
      'Lets what waits go on. It names what it is about, so that the approval of one plan never covers another; what is not waiting (any more) is refused. A login flow is bound by the run that follows, which is waited for: exit code 1, 3 or 4 where it was not bound.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .option('--plan <hash>', 'the plan that is meant, by its hash as status shows it')
    .option('--digest <digest>', 'the digest that is meant, its first twelve digits at least')
    .option('--target <name>', 'the target whose step is meant')
    .option('--candidate <name>', 'the login flow that is meant, with --plan')
    .option('--node <name>', 'the node that is meant, with --plan')
    .option('--without-proof', 'bind it although no login was shown; recorded as an override')
    .option(
      '--signature <file>',
      'an SSH signature over the plan hash: printf %s HASH | ssh-keygen -Y sign -n holdfast -f KEY',
    )
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast approve release/hive --plan 3f2a9c0d', ''],
        ['holdfast approve release/hive --target north --digest 9f86d081884c', 'the digest as status shows it'],
        ['holdfast approve release/hive --plan 3f2a9c0d --signature approval.sig', 'where the spec names approvers'],
        ['holdfast approve nodereboot/control-plane --node n1 --plan 3f2a9c0d', 'reboot this one'],
        ['holdfast approve keycloakflow/shop --candidate browser-mfa-9f86d081884c --plan 3f2a9c0d', 'bind it'],
      ]),
    )
    .action(async (object, options) => {
      const about = requireAbout(object, options);
      const { withoutProof } = options;
      if (withoutProof === true && object.kind !== 'KeycloakFlow') {
        throw new CliError(exitCodes.invalid, `--without-proof is nothing that a ${object.kind} has`);
      }
      const signature = options.signature === undefined ? undefined : await readSignature(options.signature);
      await decide(object, 'approve', { ...about, withoutProof, signature }, options, { KeycloakFlow: awaitApproval });
    });
}

async function readSignature(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new CliError(
      exitCodes.invalid,
      `${file} cannot be read (${code}); --signature names the file that ssh-keygen -Y sign wrote`,
    );
  }
}
