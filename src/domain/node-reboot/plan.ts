import { read } from '../core/verdict.ts';
import { effectiveMode } from './effective-mode.ts';
import type { GateReading } from './gate.ts';
import { lockStanding } from './lock.ts';
import { wishingNodes, wishOf, type CampaignObservation } from './observation.ts';
import { remoteAccessWarning } from './remote-access.ts';
import { selectNode } from './select-node.ts';
import type { Sentinel } from './sentinel.ts';
import type { NodeRebootSpec } from './spec.ts';
import { gateStatus, type GateStatus } from './status.ts';
import { iso } from './waiting.ts';
import { earliestStart } from './window-start.ts';

/** What Enforce would do now, as `plan -o json` prints it. Fields are only ever added. Plain JSON. */
export interface CampaignPlan {
  readonly cluster: string;
  readonly mode: string;
  readonly effectiveMode: string;
  /** Why the effective mode is lower than the spec's; null where it is not. */
  readonly modeReason: string | null;
  /** What holds back every node alike, each as a sentence: a lock of others, or that something could not be read. */
  readonly held: readonly string[];
  /** Those that want a reboot, in the order in which they would go; then the others. */
  readonly nodes: readonly PlannedNode[];
  /** What could not be read, each as a sentence. */
  readonly unmeasured: readonly string[];
}

export interface PlannedNode {
  readonly node: string;
  readonly reboot: 'wanted' | 'none' | 'unknown';
  /** The kernel that it runs; null where that is not known. */
  readonly kernel: string | null;
  /** The kernel that it is to come back with; null where no package names one. */
  readonly kernelAfter: string | null;
  readonly packages: readonly string[];
  /** As they are now, whoever goes before it; empty where it wants no reboot. */
  readonly gates: readonly GateStatus[];
  /** ISO instant before which it does not start, whatever people do: by windows and by the nodes before it. */
  readonly earliest: string | null;
  /** What people are to know before it goes, as a sentence; null where there is nothing. */
  readonly warning: string | null;
  /** What else must happen first, each as a sentence. */
  readonly waitsFor: readonly string[];
}

/**
 * The plan of a spec that may not be applied yet: one look, and nothing written. What a NodeReboot that runs remembers
 * (approvals, overrides, what it has rebooted) is not in it.
 *
 * @param gates of each node that wants a reboot
 * @param now epoch milliseconds
 */
export function planCampaign(
  name: string,
  spec: NodeRebootSpec,
  observation: CampaignObservation,
  gates: Readonly<Record<string, readonly GateReading[]>>,
  now: number,
): CampaignPlan {
  const mode = effectiveMode({ spec, observation });
  const turns = turnsOf(spec, observation);
  let from = now;
  const wanted = turns.map(({ node, problem }, index): PlannedNode => {
    const at = earliestStart(spec, from);
    // The shortest that a node may take: what its checks and the pause after it are told to last.
    from = at + spec.readyHold + spec.releaseDelay;
    const readings = gates[node] ?? [];
    const waitsFor = [
      ...(problem === null ? [] : [problem]),
      ...(mode.mode === 'Enforce' ? [] : [`mode Enforce, which is ${mode.mode} now`]),
      ...(asksFor(spec, index) ? ['an approval'] : []),
      ...(index === 0 ? [] : [`node ${turns[index - 1]?.node ?? ''} before it`]),
      ...readings.filter(({ verdict }) => verdict.kind !== 'pass').map(({ gate }) => `gate ${gate}`),
    ];
    const shown = nodeFacts(observation, node);
    const warning = remoteAccessWarning(node, spec);
    return {
      ...shown,
      gates: readings.map(gateStatus),
      earliest: problem === null ? iso(at) : null,
      warning,
      waitsFor,
    };
  });
  const others = namesOf(observation).filter((node) => !turns.some((turn) => turn.node === node));
  const unread = unmeasuredIn(observation, gates);
  return {
    cluster: spec.cluster,
    mode: spec.mode,
    effectiveMode: mode.mode,
    modeReason: mode.reasons.length === 0 ? null : mode.reasons.join('; '),
    held: heldBy(name, observation),
    nodes: [
      ...wanted,
      ...others.map((node) => ({
        ...nodeFacts(observation, node),
        gates: [],
        earliest: null,
        warning: null,
        waitsFor: [],
      })),
    ],
    unmeasured: unread,
  };
}

interface Turn {
  readonly node: string;
  /** Why it would not go, and nothing after it; null where it would. */
  readonly problem: string | null;
}

/** Whose turn it would be, one after the other, as if each came back as its packages say. */
function turnsOf(spec: NodeRebootSpec, seen: CampaignObservation): Turn[] {
  const turns: Turn[] = [];
  let after = seen;
  for (const _ of wishingNodes(seen)) {
    const selection = selectNode(spec, after, {});
    if (selection.kind !== 'next') {
      const why = selection.kind === 'none' ? 'no node may be next' : selection.message;
      const left = wishingNodes(after).map((node) => ({ node, problem: why }));
      return [...turns, ...left];
    }
    const { node, sentinel } = selection.next;
    turns.push({ node, problem: null });
    after = rebooted(after, node, sentinel);
  }
  return turns;
}

function rebooted(seen: CampaignObservation, name: string, { kernel }: Sentinel): CampaignObservation {
  const nodes =
    seen.nodes.kind === 'unmeasured'
      ? seen.nodes
      : read(seen.nodes.value.map((one) => (one.name === name ? { ...one, kernel: kernel ?? one.kernel } : one)));
  return { ...seen, nodes, sentinels: { ...seen.sentinels, [name]: read(null) } };
}

function asksFor({ approval }: NodeRebootSpec, index: number): boolean {
  return approval === 'PerNode' || (approval === 'PerCampaign' && index === 0);
}

function heldBy(name: string, { lock, holderRun, foreignLock }: CampaignObservation): string[] {
  const held: string[] = [];
  if (lock.kind === 'read') {
    const standing = lockStanding(lock.value, { campaign: name, run: noRun }, holderRun);
    if (standing.kind === 'foreign') held.push(standing.message);
    if (standing.kind === 'left')
      held.push(`an earlier run has left node ${standing.record.visit.node}, which is first`);
  }
  if (foreignLock.kind === 'read' && foreignLock.value !== null) held.push(foreignLock.value);
  return held;
}

/** A plan is no run that could hold the lock. */
const noRun = '';

function unmeasuredIn(
  { nodes, order, sentinels, lock, foreignLock }: CampaignObservation,
  gates: Readonly<Record<string, readonly GateReading[]>>,
): string[] {
  const readings = [nodes, order, lock, foreignLock, ...Object.values(sentinels)];
  const found = readings.flatMap((reading) => (reading.kind === 'unmeasured' ? [reading.message] : []));
  const asked = Object.entries(gates).flatMap(([node, all]) =>
    all.flatMap(({ gate, verdict }) =>
      verdict.kind === 'unmeasured' ? [`gate ${gate} of node ${node}: ${verdict.message}`] : [],
    ),
  );
  return [...new Set([...found, ...asked])];
}

function namesOf({ order }: CampaignObservation): readonly string[] {
  return order.kind === 'read' ? order.value : [];
}

function nodeFacts({ nodes, sentinels }: CampaignObservation, name: string) {
  const node = nodes.kind === 'read' ? nodes.value.find((one) => one.name === name) : undefined;
  const sentinel = sentinels[name];
  const wish = wishOf(sentinels, name);
  return {
    node: name,
    reboot: sentinel?.kind !== 'read' ? ('unknown' as const) : wish === null ? ('none' as const) : ('wanted' as const),
    kernel: node?.kernel ?? null,
    kernelAfter: wish?.kernel ?? null,
    packages: wish?.packages ?? [],
  };
}
