import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { awaitRollback } from '../keycloak-flow/await-decision.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast rollback`: people log in as before. */
export function rollbackCommand() {
  return new Command('rollback')
    .description(
      'Binds the login flow that was bound before, and holds binding until lift-hold: one write, also while passes are paused. Waits until it is done. Exit code 1: it was not bound, 3: whether it was is not known, and it is tried again and again.',
    )
    .argument('<kind/name>', 'such as keycloakflow/shop', parseObjectName)
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([["holdfast rollback keycloakflow/shop --reason 'the OTP page is blank'", 'nobody can log in']]),
    )
    .action((object, options) => decide(object, 'rollback', {}, options, { KeycloakFlow: awaitRollback }));
}
