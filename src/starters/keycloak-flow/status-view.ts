import { counted } from '../../domain/core/counted.ts';
import type { KeycloakFlowStatus, Who } from '../../domain/keycloak-flow/status.ts';
import { span, toSeconds } from '../output/instants.ts';
import { factLine, type Fact } from '../output/facts.ts';
import { paint, paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';
import { passesView } from './passes-view.ts';
import { treeView } from './tree-view.ts';

/** A KeycloakFlow as `holdfast status` shows it: what is bound, what waits, what people decided, its passes, the tree. */
export function flowStatusView(status: KeycloakFlowStatus): string {
  const facts: Fact[] = [
    ['Phase', paintPhase(status.phase)],
    ['Mode', modeOf(status)],
    ['Realm', status.realm],
    ...boundFacts(status),
    ...candidateFacts(status),
    ['Bind switch', status.bindSwitch],
    ...decisionFacts(status),
    ...waitingFacts(status),
    [
      'Read',
      status.readAt === null ? 'not yet' : `${at(status.readAt, status)}, ${counted(status.runs, 'run')} in all`,
    ],
  ];
  return [
    paint('bold', `keycloakflow/${status.name}`),
    ...facts.map(factLine),
    '',
    passesView(status.passes),
    ...tree(status),
    '',
    conditionTable(status),
  ].join('\n');
}

function modeOf(status: KeycloakFlowStatus): string {
  if (status.mode === status.effectiveMode) return status.mode;
  return `${status.mode}, held down to ${status.effectiveMode}: ${status.modeReason ?? 'no reason was given'}`;
}

function boundFacts(status: KeycloakFlowStatus): Fact[] {
  const { bound, previous, name } = status;
  if (bound === null) return [['Bound', 'what people log in by could not be read']];
  const let_ = bound.by === null ? '; not bound from here' : `; let by ${bound.by}`;
  const since = bound.since === null ? '' : ` at ${at(bound.since, status)}`;
  const way = previous === bound.alias ? ' (it is bound)' : `; to go back: holdfast rollback keycloakflow/${name}`;
  return [
    ['Bound', `${bound.alias}, ${bound.asDeclared ? 'as declared' : 'not as declared'}${let_}${since}`],
    ...(bound.proof === null ? [] : [['  proof', bound.proof] as const]),
    ...(previous === null ? [] : [['Previous', `${previous}${way}`] as const]),
  ];
}

function candidateFacts(status: KeycloakFlowStatus): Fact[] {
  const { candidate } = status;
  if (candidate === null) return [];
  return [
    ['Candidate', `${candidate.alias} (${candidate.reason}), tree ${candidate.treeHash}`],
    ['  plan', candidate.planHash],
    ['  proof', candidate.proof],
    ['  since', at(candidate.since, status)],
  ];
}

function decisionFacts({ hold, approval, rejection, paused }: KeycloakFlowStatus): Fact[] {
  const of = (name: string, who: Who | null, what = ''): Fact[] => (who === null ? [] : [[name, what + decision(who)]]);
  return [
    ...of('Held', hold, 'binding is held by '),
    ...(approval === null
      ? []
      : of('Approved', approval, `${approval.candidate}${approval.withoutProof ? ' without proof' : ''} by `)),
    ...(rejection === null ? [] : of('Rejected', rejection, `${rejection.candidate} by `)),
    ...of('Paused', paused, 'by '),
  ];
}

function decision(who: Who): string {
  return `${who.by} at ${toSeconds(who.at)}${who.reason === '' ? '' : ` (${who.reason})`}`;
}

function waitingFacts(status: KeycloakFlowStatus): Fact[] {
  const { waiting } = status;
  if (waiting === null) return [];
  return [
    ['Waits for', waiting.for],
    ['  since', waiting.since === null ? 'not known' : at(waiting.since, status)],
    ['  lifted by', waiting.who],
    ['  next', waiting.next],
  ];
}

function tree({ bound }: KeycloakFlowStatus): string[] {
  if (bound === null) return [];
  const title = bound.asDeclared
    ? `The bound flow "${bound.alias}" is as declared:`
    : `The bound flow "${bound.alias}" (-) beside what is declared (+):`;
  return ['', title, treeView(bound.diff)];
}

function conditionTable(status: KeycloakFlowStatus): string {
  return table(
    ['CONDITION', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'],
    status.conditions.map((c) => [c.type, c.status, c.reason, ago(c.lastTransitionTime, status), c.message]),
  );
}

function at(instant: string, status: KeycloakFlowStatus): string {
  return `${toSeconds(instant)}, ${ago(instant, status)} ago`;
}

function ago(instant: string, { asOf }: KeycloakFlowStatus): string {
  return span(Date.parse(asOf) - Date.parse(instant));
}
