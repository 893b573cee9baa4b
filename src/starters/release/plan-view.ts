import type { Evaluation, TargetView } from '../../domain/release/plan.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { paint, paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';

/** What `plan -o json` prints for one document. Fields are only ever added. */
export interface PlanReport extends Evaluation {
  readonly kind: 'Release';
  readonly name: string;
  /** The mode that the spec asks for. */
  readonly mode: string;
}

const whys = { update: 'update', drift: 'drift is brought back', pin: 'pin', unproven: 'applied, but not proven yet' };

/** A plan as a diff for people, and why the rest is not in it. */
export function planView(report: PlanReport): string {
  const { items } = report.plan;
  const planned = new Set(items.map((item) => item.target));
  const views = new Map(report.targets.map((target) => [target.name, target]));
  const rest = report.targets.filter((target) => !planned.has(target.name));
  const current = rest.filter((target) => target.phase === 'Current');
  const others = rest.filter((target) => target.phase !== 'Current');
  return [
    `${paint('bold', `release/${report.name}`)}: ${headline(report)}`,
    ...(report.mode === report.effectiveMode
      ? []
      : [`  mode ${report.mode}, held down to ${report.effectiveMode}: ${report.modeReason ?? 'no reason was given'}`]),
    ...items.flatMap((item, index) => [
      `  ${index + 1}. ${item.target}${index === 0 ? ' (canary)' : ''}: ${whys[item.why]}  ${paint('dim', views.get(item.target)?.workload ?? '')}`,
      ...(item.action === 'verify'
        ? [`       ${item.to}`]
        : [paint('red', `     - ${item.from}`), `${paint('green', `     + ${item.to}`)}  ${item.toLabel}`]),
    ]),
    ...(others.length === 0 ? [] : [indented(table(['TARGET', 'PHASE', 'REASON', 'MESSAGE'], others.map(row)))]),
    ...(current.length === 0 ? [] : [`  ${current.length} of ${report.targets.length} targets run what is wanted`]),
  ].join('\n');
}

/** "Nothing to do" is said only where everything was read and runs what is wanted. */
function headline(report: PlanReport): string {
  const { plan, planHash, targets, effectiveMode } = report;
  const all = targets.length;
  const unread = unreadTargets(report).length;
  if (plan.items.length > 0) {
    const rest = unread === 0 ? '' : `; ${unread} could not be read`;
    return `${plan.items.length} of ${all} targets, plan ${planHash}${rest}`;
  }
  if (planExitCode(report) === exitCodes.undetermined) {
    return `undetermined: ${unread === 0 ? 'the registry' : `${unread} of ${all} targets`} could not be read`;
  }
  if (targets.every((target) => target.phase === 'Current')) return 'nothing to do';
  return effectiveMode === 'Observe' ? 'no plan, since Observe makes none' : 'nothing to roll now, and why is below';
}

function unreadTargets({ targets }: Evaluation): TargetView[] {
  return targets.filter(({ phase, reason }) => phase === 'Unknown' || reason === 'RegistryUnreachable');
}

/**
 * 6 where Enforce would change something; 3 where nothing is planned because something could not be read, since that is
 * not "nothing to do".
 */
export function planExitCode(evaluation: Evaluation): ExitCode {
  if (evaluation.plan.items.length > 0) return exitCodes.changesPending;
  const unknown = !evaluation.registryReachable || evaluation.targets.some((target) => target.phase === 'Unknown');
  return unknown ? exitCodes.undetermined : exitCodes.done;
}

/** From what outweighs everything to what outweighs nothing. */
const weights: readonly ExitCode[] = [
  exitCodes.undetermined,
  exitCodes.invalid,
  exitCodes.failed,
  exitCodes.changesPending,
];

/** The exit code of several plans: what could not be determined outweighs changes, and changes outweigh nothing to do. */
export function worstPlanExitCode(codes: readonly ExitCode[]): ExitCode {
  return weights.find((code) => codes.includes(code)) ?? exitCodes.done;
}

function row(target: TargetView): string[] {
  return [target.name, paintPhase(target.phase), target.reason === '' ? '-' : target.reason, target.message];
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
