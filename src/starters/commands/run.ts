import { Command } from '@commander-js/extra-typings';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { fileOption } from '../file-option.ts';
import { runFlow } from '../keycloak-flow/run-flow.ts';
import { examples } from '../output/examples.ts';
import { runCampaign } from '../node-reboot/run-campaign.ts';
import { runRelease } from '../release/run-release.ts';
import { requireSpecs } from '../spec-files.ts';
import { withTemporal } from '../temporal/connect.ts';
import { asOption, reasonOption, whoAsks } from '../who.ts';

/** `holdfast run -f FILE --wait`: one pass now, for CI. */
export function runCommand() {
  return new Command('run')
    .description(
      'Applies a spec and has it looked at now instead of at the next poll. With --wait it follows the pass to its end, a line per change, and ends with what came of it.',
    )
    .addOption(fileOption())
    .option('-w, --wait', 'follow it to its end')
    .option('--no-bind', 'a login flow: build and verify, and bind nothing in this run, whatever the bind switch says')
    .addOption(asOption())
    .addOption(reasonOption())
    .addHelpText(
      'after',
      `
With --wait the exit code of a release is
  0    every target runs what is wanted; in Observe and Shadow: it was looked at
  1    a target failed, or a measured reason keeps it from what is wanted (blocked, no such architecture, a window)
  3    something could not be read, or nothing was measured about the new image (it is not rolled back then)
  4    a person is waited for: an approval, a pause, an incumbent that holds Enforce down
  5    rolled back
  130  left with Ctrl-C; the release goes on, and holdfast status KIND/NAME --watch follows it again

and of a login flow
  0    Converged or Bound: the realm is as declared
  1    Problem: something differs and was not put right (in Shadow: would be), or must not be
  2    Refused: something that a person gave is wrong, such as the bind switch
  3    Undetermined: something could not be read, and nothing was written for it
  4    PendingBind: a verified candidate waits for a person

and of reboots, which are followed until nothing goes on by itself,
  0    no node wants a reboot any more; in Observe and Shadow: it was looked at
  1    it stopped, a node hangs, or a gate, a window, a lock or a rule keeps it
  3    something could not be read, or a page is not delivered
  4    a person is waited for: an approval, a pause, an incumbent that holds Enforce down
${examples([
  ['holdfast run -f release.yaml --wait', 'the last step of a pipeline'],
  ['holdfast run -f release.yaml --wait || test $? = 4', 'an approval may come later'],
  ['holdfast run -f keycloak-flow.yaml --wait --no-bind', 'build and prove, bind later'],
])}`,
    )
    .action(async ({ file, wait = false, bind, as, reason }) => {
      const specs = await requireSpecs(file);
      const [spec] = specs;
      if (spec === undefined || specs.length > 1) {
        throw new CliError(
          exitCodes.invalid,
          `run takes one document, and ${file.join(', ')} has ${specs.length}; run them one after the other`,
        );
      }
      if (!bind && spec.kind !== 'KeycloakFlow') {
        throw new CliError(exitCodes.invalid, `--no-bind is for login flows; a ${spec.kind} binds nothing`);
      }
      const decider = { by: whoAsks(as), reason };
      await withTemporal((temporal) => {
        switch (spec.kind) {
          case 'Release':
            return runRelease(temporal, spec, decider, wait);
          case 'KeycloakFlow':
            return runFlow(temporal, spec, decider, { wait, noBind: !bind });
          case 'NodeReboot':
            return runCampaign(temporal, spec, decider, wait);
        }
      });
    });
}
