import type { FlowPlan } from '../../domain/keycloak-flow/plan.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { paint } from '../output/paint.ts';
import { passesView } from './passes-view.ts';
import { treeView } from './tree-view.ts';

/** What `plan -o json` prints for one document. Fields are only ever added. */
export interface FlowPlanReport extends FlowPlan {
  readonly kind: 'KeycloakFlow';
  readonly name: string;
}

/** A plan as a diff for people: what each pass would do, and the bound flow beside what is declared. */
export function flowPlanView(report: FlowPlanReport): string {
  const { bound, passes } = report;
  const tree =
    bound === null || bound.asDeclared
      ? []
      : ['', `The bound flow "${bound.alias}" (-) beside what is declared (+):`, treeView(bound.diff)];
  return [
    `${paint('bold', `keycloakflow/${report.name}`)}: ${headline(report)}`,
    indented(passesView(passes)),
    ...tree,
  ].join('\n');
}

/** "Nothing to do" is said only where everything was read and is as declared. */
function headline(report: FlowPlanReport): string {
  switch (flowPlanExitCode(report)) {
    case exitCodes.done:
      return 'nothing to do';
    case exitCodes.changesPending:
      return 'changes pending';
    case exitCodes.undetermined:
      return 'undetermined: not everything could be read';
    case exitCodes.invalid:
      return 'refused';
    default:
      return 'something is wrong that Enforce would not put right';
  }
}

/** Something that Enforce would change outweighs what it would not; what could not be read outweighs both. */
export function flowPlanExitCode({ passes }: FlowPlan): ExitCode {
  if (passes.some(({ outcome }) => outcome === 'Undetermined')) return exitCodes.undetermined;
  if (passes.some(({ outcome }) => outcome === 'Refused')) return exitCodes.invalid;
  if (passes.some(({ outcome, reason }) => outcome === 'PendingBind' || reason === 'Drift')) {
    return exitCodes.changesPending;
  }
  return passes.some(({ outcome }) => outcome === 'Problem') ? exitCodes.failed : exitCodes.done;
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');
}
