import type { GateStatus, NodeRebootStatus, OverrideStatus, Who } from '../../domain/node-reboot/status.ts';
import { factLine, type Fact } from '../output/facts.ts';
import { span, toSeconds } from '../output/instants.ts';
import { paint, paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';
import { gateTable } from './gate-table.ts';

/** A NodeReboot as `holdfast status` shows it: whose turn it is, what it waits for, why each node does not go, the gates. */
export function rebootStatusView(status: NodeRebootStatus): string {
  const facts: Fact[] = [
    ['Phase', paintPhase(status.phase)],
    ['Mode', modeOf(status)],
    ['Cluster', status.cluster],
    ...turnFacts(status),
    ...stoppedFacts(status),
    ...waitingFacts(status),
    ...decisionFacts(status),
    ['Read', status.readAt === null ? 'not since then' : at(status.readAt, status)],
  ];
  return [
    paint('bold', `nodereboot/${status.name}`),
    ...facts.map(factLine),
    '',
    nodeTable(status),
    ...(status.gates.length === 0 ? [] : ['', gatesOf(status), gateTable(status.gates)]),
    ...byHand(status),
  ].join('\n');
}

function modeOf(status: NodeRebootStatus): string {
  if (status.mode === status.effectiveMode) return status.mode;
  return `${status.mode}, held down to ${status.effectiveMode}: ${status.modeReason ?? 'no reason was given'}`;
}

function turnFacts(status: NodeRebootStatus): Fact[] {
  const { turn } = status;
  if (turn === null) return [];
  return [
    ['Turn', `node ${turn.node}, since ${at(turn.startedAt, status)}`],
    ['  in', `${turn.phase}, since ${at(turn.since, status)}`],
    ['  boot', boots(turn)],
  ];
}

function boots({ bootBefore, bootAfter }: NonNullable<NodeRebootStatus['turn']>): string {
  if (bootBefore === null) return 'not read yet';
  return bootAfter === null ? `${bootBefore}, as before` : `${bootAfter}, was ${bootBefore}`;
}

function stoppedFacts(status: NodeRebootStatus): Fact[] {
  const { stopped } = status;
  if (stopped === null) return [];
  return [
    ['Stopped', `${stopped.reason}: ${stopped.message}`],
    ['  since', at(stopped.since, status)],
  ];
}

function waitingFacts(status: NodeRebootStatus): Fact[] {
  const { waiting } = status;
  if (waiting === null) return [];
  return [
    ['Waits for', waiting.for],
    ['  since', waiting.since === null ? 'not known' : at(waiting.since, status)],
    ['  lifted by', waiting.who],
    ['  next', waiting.next],
  ];
}

function decisionFacts({ paused, cancelled, personNext, overrides }: NodeRebootStatus): Fact[] {
  const of = (name: string, who: Who | null): Fact[] => (who === null ? [] : [[name, decision(who)]]);
  return [
    ...of('Paused', paused),
    ...of('Cancelled', cancelled),
    ...(personNext === null ? [] : [['A person', `is asked before the next node: ${personNext}`] as const]),
    ...overrides.map((one): Fact => ['Set aside', override(one)]),
  ];
}

function decision({ by, at: when, reason }: Who): string {
  return `by ${by} at ${toSeconds(when)}${reason === '' ? '' : ` (${reason})`}`;
}

function override(one: OverrideStatus): string {
  const until = one.used ? 'used' : `until ${toSeconds(one.expiresAt)}, once`;
  return `gate ${one.gate} for node ${one.node}, ${until}, ${decision(one)}`;
}

function nodeTable({ nodes }: NodeRebootStatus): string {
  if (nodes.length === 0) return 'The nodes were not read yet.';
  return table(
    ['NODE', 'REBOOT', 'KERNEL', 'WHY NOT NOW'],
    nodes.map(({ node, reboot, kernel, whyNot }) => [node, reboot, kernel ?? '?', whyNot ?? 'it has its turn']),
  );
}

function gatesOf({ turn, gates }: NodeRebootStatus): string {
  const blocking = gates.filter(({ verdict }: GateStatus) => verdict !== 'pass').length;
  const of = turn === null ? 'the node that is next' : `node ${turn.node}`;
  return `The gates of ${of}, as they were last read${blocking === 0 ? '' : `; ${blocking} of ${gates.length} do not pass`}:`;
}

function byHand({ turn, stopped, phase }: NodeRebootStatus): string[] {
  if (turn === null || (stopped === null && phase !== 'Hung')) return [];
  return ['', 'To go on without Holdfast, as the lock says too:', ...turn.byHand.map((line) => `  ${line}`)];
}

function at(instant: string, { asOf }: NodeRebootStatus): string {
  return `${toSeconds(instant)}, ${span(Date.parse(asOf) - Date.parse(instant))} ago`;
}
