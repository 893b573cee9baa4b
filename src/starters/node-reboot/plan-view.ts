import { counted } from '../../domain/core/counted.ts';
import type { CampaignPlan, PlannedNode } from '../../domain/node-reboot/plan.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { paint } from '../output/paint.ts';
import { table } from '../output/table.ts';
import { gateTable } from './gate-table.ts';

/** What `plan -o json` prints for one document. Fields are only ever added. */
export interface CampaignPlanReport extends CampaignPlan {
  readonly kind: 'NodeReboot';
  readonly name: string;
}

/** A plan for people: the order, when each node could go at the earliest, and what each gate says now. */
export function campaignPlanView(report: CampaignPlanReport): string {
  const { nodes, held, unmeasured, mode, effectiveMode, modeReason } = report;
  const wanted = nodes.filter(({ reboot }) => reboot === 'wanted');
  const others = nodes.filter(({ reboot }) => reboot !== 'wanted');
  return [
    `${paint('bold', `nodereboot/${report.name}`)}: ${headline(report)}`,
    ...(mode === effectiveMode
      ? []
      : [`  mode ${mode}, held down to ${effectiveMode}: ${modeReason ?? 'no reason was given'}`]),
    ...held.map((why) => `  held: ${why}`),
    ...unmeasured.map((what) => `  not read: ${what}`),
    ...wanted.flatMap(nodeLines),
    ...(others.length === 0 ? [] : [indented(table(['NODE', 'REBOOT', 'KERNEL'], others.map(row)))]),
  ].join('\n');
}

/**
 * 6 where the node that is next may go as soon as people and windows let it; 1 where a rule, a gate or a lock keeps it; 3 where
 * something could not be read, which outweighs both, since a node that was not read may be the next.
 */
export function campaignPlanExitCode({ nodes, unmeasured, held }: CampaignPlan): ExitCode {
  const wanted = nodes.filter(({ reboot }) => reboot === 'wanted');
  if (unmeasured.length > 0 || nodes.some(({ reboot }) => reboot === 'unknown')) return exitCodes.undetermined;
  if (wanted.length === 0) return exitCodes.done;
  // Nothing goes past the first: what its gates say holds back the others too.
  const mayGo = wanted[0]?.earliest !== null && (wanted[0]?.gates ?? []).every(({ verdict }) => verdict === 'pass');
  return mayGo && held.length === 0 ? exitCodes.changesPending : exitCodes.failed;
}

function headline(report: CampaignPlan): string {
  const wanted = report.nodes.filter(({ reboot }) => reboot === 'wanted').length;
  const wants = `${wanted} of ${counted(report.nodes.length, 'node')} ${wanted === 1 ? 'wants' : 'want'} a reboot`;
  switch (campaignPlanExitCode(report)) {
    case exitCodes.done:
      return 'nothing to do';
    case exitCodes.undetermined:
      return `undetermined: not everything could be read; ${wants}`;
    case exitCodes.failed:
      return `${wants}, and none may go`;
    default:
      return wants;
  }
}

function nodeLines(node: PlannedNode, index: number): string[] {
  const { kernel, kernelAfter, packages, earliest, warning, waitsFor, gates } = node;
  const to = kernelAfter === null ? '' : ` -> ${kernelAfter}`;
  return [
    `  ${index + 1}. ${node.node}: ${kernel ?? 'kernel not known'}${to}  ${paint('dim', packages.join(', '))}`,
    `     earliest ${earliest ?? 'never, as it is'}${waitsFor.length === 0 ? '' : `; waits for ${waitsFor.join(', ')}`}`,
    ...(warning === null ? [] : [`     ${paint('yellow', 'note')}: ${warning}`]),
    ...(gates.length === 0 ? [] : [indented(indented(gateTable(gates)))]),
  ];
}

function row({ node, reboot, kernel }: PlannedNode): string[] {
  return [node, reboot, kernel ?? '?'];
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
