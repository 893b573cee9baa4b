import { Command } from '@commander-js/extra-typings';
import { decide } from '../decide.ts';
import { awaitLift } from '../keycloak-flow/await-decision.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast lift-hold`: what a rollback held may be bound again. */
export function liftHoldCommand() {
  return new Command('lift-hold')
    .description(
      'Ends the hold on binding that a rollback left in the realm. With the bind switch on, the candidate is bound right afterwards; without it, it is asked for again.',
    )
    .argument('<kind/name>', 'such as keycloakflow/shop', parseObjectName)
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText('after', examples([["holdfast lift-hold keycloakflow/shop --reason 'the theme is mended'", '']]))
    .action((object, options) => decide(object, 'liftHold', {}, options, { KeycloakFlow: awaitLift }));
}
