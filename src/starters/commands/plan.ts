import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { formatDuration, parseDuration } from '../../domain/core/duration.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { fileOption } from '../file-option.ts';
import { outputOption, printData } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { note, print } from '../output/print.ts';
import { askPlan } from '../release/ask-plan.ts';
import { planExitCode, planView, worstPlanExitCode, type PlanReport } from '../release/plan-view.ts';
import { requireSpecs } from '../spec-files.ts';
import { withTemporal } from '../temporal/connect.ts';

const TIMEOUT_MS = 5 * 60_000;

/** `holdfast plan -f FILE…`: what Enforce would do now, through the worker. */
export function planCommand() {
  return new Command('plan')
    .description(
      'What Enforce would do now for spec files that need not be applied, as a diff. Reads through the worker and writes nothing. Exit code 0: nothing to do, 6: changes pending, 3: something could not be read, or no worker answered in time.',
    )
    .addOption(fileOption())
    .option(
      '--timeout <duration>',
      `give up after this long, such as 2m; without any worker it ends after 20 s [${formatDuration(TIMEOUT_MS)}]`,
      parseTimeout,
    )
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast plan -f release.yaml', 'in a merge request'],
        ['holdfast plan -f release.yaml -o json | jq .planHash', 'the hash that an approval names'],
      ]),
    )
    .action(async ({ file, output, timeout: timeoutMs = TIMEOUT_MS }) => {
      const specs = await requireSpecs(file);
      const reports = await withTemporal(async (temporal) => {
        const planned: PlanReport[] = [];
        for (const { name, spec } of specs) {
          const evaluation = await askPlan(temporal, name, spec, note, { timeoutMs });
          planned.push({ kind: 'Release', name, mode: spec.mode, ...evaluation });
        }
        return planned;
      });
      if (output === 'table') print(reports.map(planView).join('\n\n'));
      else printData(output, reports.length === 1 ? reports[0] : { items: reports });
      const exitCode: ExitCode = worstPlanExitCode(reports.map(planExitCode));
      if (exitCode === exitCodes.undetermined) note('holdfast: undetermined: something could not be read, see above');
      process.exitCode = exitCode;
    });
}

function parseTimeout(text: string): number {
  const parsed = parseDuration(text);
  if (!parsed.ok) throw new InvalidArgumentError(`${parsed.message}.`);
  if (parsed.ms < 1_000) throw new InvalidArgumentError('Expected at least a second, such as 30s.');
  return parsed.ms;
}
