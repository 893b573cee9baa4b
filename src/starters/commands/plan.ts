import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { formatDuration, parseDuration } from '../../domain/core/duration.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { fileOption } from '../file-option.ts';
import { askFlowPlan } from '../keycloak-flow/ask-flow-plan.ts';
import { flowPlanExitCode, flowPlanView, type FlowPlanReport } from '../keycloak-flow/plan-view.ts';
import { askCampaignPlan } from '../node-reboot/ask-campaign-plan.ts';
import { campaignPlanExitCode, campaignPlanView, type CampaignPlanReport } from '../node-reboot/plan-view.ts';
import { outputOption, printData } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { note, print } from '../output/print.ts';
import { askPlan } from '../release/ask-plan.ts';
import { planExitCode, planView, worstPlanExitCode, type PlanReport } from '../release/plan-view.ts';
import { requireSpecs, type Spec } from '../spec-files.ts';
import { withTemporal, type Temporal } from '../temporal/connect.ts';

const TIMEOUT_MS = 5 * 60_000;

/** `holdfast plan -f FILE…`: what Enforce would do now, through the worker. */
export function planCommand() {
  return new Command('plan')
    .description(
      'What Enforce would do now for spec files that need not be applied, as a diff. Reads through the worker and writes nothing. Exit code 0: nothing to do, 6: changes pending, 1: something is wrong that Enforce would not put right, 3: something could not be read, or no worker answered in time.',
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
        ['holdfast plan -f keycloak-flow.yaml', 'the bound login flow beside the declared one'],
        ['holdfast plan -f node-reboot.yaml', 'order, gates, and when each node could go'],
        ['holdfast plan -f release.yaml -o json | jq .planHash', 'the hash that an approval of a release names'],
      ]),
    )
    .action(async ({ file, output, timeout: timeoutMs = TIMEOUT_MS }) => {
      const specs = await requireSpecs(file);
      const reports = await withTemporal(async (temporal) => {
        const planned: Report[] = [];
        for (const spec of specs) planned.push(await planOf(temporal, spec, timeoutMs));
        return planned;
      });
      if (output === 'table') print(reports.map(viewOf).join('\n\n'));
      else printData(output, reports.length === 1 ? reports[0] : { items: reports });
      const exitCode: ExitCode = worstPlanExitCode(reports.map(exitCodeOf));
      if (exitCode === exitCodes.undetermined) note('holdfast: undetermined: something could not be read, see above');
      process.exitCode = exitCode;
    });
}

type Report = PlanReport | FlowPlanReport | CampaignPlanReport;

async function planOf(temporal: Temporal, { kind, name, spec }: Spec, timeoutMs: number): Promise<Report> {
  switch (kind) {
    case 'Release': {
      const evaluation = await askPlan(temporal, name, spec, note, { timeoutMs });
      return { kind, name, mode: spec.mode, ...evaluation };
    }
    case 'KeycloakFlow':
      return { kind, name, ...(await askFlowPlan(temporal, name, spec, note, { timeoutMs })) };
    case 'NodeReboot':
      return { kind, name, ...(await askCampaignPlan(temporal, name, spec, note, { timeoutMs })) };
  }
}

function viewOf(report: Report): string {
  switch (report.kind) {
    case 'Release':
      return planView(report);
    case 'KeycloakFlow':
      return flowPlanView(report);
    case 'NodeReboot':
      return campaignPlanView(report);
  }
}

function exitCodeOf(report: Report): ExitCode {
  switch (report.kind) {
    case 'Release':
      return planExitCode(report);
    case 'KeycloakFlow':
      return flowPlanExitCode(report);
    case 'NodeReboot':
      return campaignPlanExitCode(report);
  }
}

function parseTimeout(text: string): number {
  const parsed = parseDuration(text);
  if (!parsed.ok) throw new InvalidArgumentError(`${parsed.message}.`);
  if (parsed.ms < 1_000) throw new InvalidArgumentError('Expected at least a second, such as 30s.');
  return parsed.ms;
}
