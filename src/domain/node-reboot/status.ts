import type { Mode } from '../core/mode.ts';
import type { Verdict } from '../core/verdict.ts';
import { advanceCampaign } from './advance-campaign.ts';
import { handCommands } from './by-hand.ts';
import { effectiveMode } from './effective-mode.ts';
import type { GateReading } from './gate.ts';
import { sentinelId } from './sentinel.ts';
import type { CampaignState, PersonMark } from './state.ts';
import { visitPhases, type VisitPhase } from './visit.ts';
import { iso, waitingOf, type CampaignWaiting } from './waiting.ts';
import { whyNotNow } from './why-not-now.ts';

/** In one word, for tables and search attributes: of the turn of a node, or between turns. */
export const campaignPhases = [...visitPhases, 'Unknown', 'Idle', 'Waiting', 'Stopped', 'Suspended', 'Hung'] as const;
export type CampaignPhase = (typeof campaignPhases)[number];

/** How a node stands: `wanted`, `done` in this campaign, its `turn`, `none` wanted, or `unknown`. */
export const nodeWishes = ['wanted', 'done', 'turn', 'none', 'unknown'] as const;
export type NodeWish = (typeof nodeWishes)[number];

/** A NodeReboot as `status -o json` prints it. Fields are only ever added. Instants are ISO strings. */
export interface NodeRebootStatus {
  readonly kind: 'NodeReboot';
  readonly name: string;
  readonly cluster: string;
  readonly mode: Mode;
  readonly effectiveMode: Mode;
  /** Why the effective mode is lower than the spec's; null where it is not. */
  readonly modeReason: string | null;
  readonly generation: number;
  readonly phase: CampaignPhase;
  /** The node whose turn it is; null between turns. */
  readonly turn: TurnStatus | null;
  readonly nodes: readonly NodeStatus[];
  /** Those of the cluster that it does not reboot. */
  readonly otherNodes: readonly string[];
  /** Null while something is being done. */
  readonly waiting: CampaignWaiting | null;
  /** The gates as they were last read for the node whose turn it is or would be. */
  readonly gates: readonly GateStatus[];
  readonly stopped: { readonly reason: string; readonly message: string; readonly since: string } | null;
  readonly paused: Who | null;
  readonly cancelled: Who | null;
  readonly overrides: readonly OverrideStatus[];
  /** Why a person is asked before the next node, whatever the spec says. */
  readonly personNext: string | null;
  /** When everything was last read; null before the first time. */
  readonly readAt: string | null;
  readonly asOf: string;
}

export interface Who {
  readonly by: string;
  readonly reason: string;
  readonly at: string;
}

export interface TurnStatus {
  readonly node: string;
  readonly phase: VisitPhase;
  readonly since: string;
  readonly startedAt: string;
  readonly bootBefore: string | null;
  readonly bootAfter: string | null;
  /** How a person goes on without Holdfast, as the lock says too. */
  readonly byHand: readonly string[];
}

export interface NodeStatus {
  readonly node: string;
  readonly reboot: NodeWish;
  readonly kernel: string | null;
  readonly packages: readonly string[];
  /** In words; null where all is well. */
  readonly trouble: string | null;
  /** Why it is not rebooted now, as a sentence; null where it has its turn. */
  readonly whyNot: string | null;
}

export interface GateStatus {
  readonly gate: string;
  readonly verdict: 'pass' | 'fail' | 'unmeasured';
  /** In one word: of a fail as the runbook has it, of what is unmeasured the cause; null where it passes. */
  readonly reason: string | null;
  readonly message: string;
  readonly lift: string | null;
}

export interface OverrideStatus extends Who {
  readonly gate: string;
  readonly node: string;
  readonly expiresAt: string;
  readonly used: boolean;
}

/**
 * What people and programs are told of a NodeReboot.
 *
 * @param now epoch milliseconds
 */
export function nodeRebootStatus(state: CampaignState, now: number): NodeRebootStatus {
  const mode = effectiveMode(state);
  const { name, spec, visit, stopped, paused, cancel, observation } = state;
  return {
    kind: 'NodeReboot',
    name,
    cluster: spec.cluster,
    mode: spec.mode,
    effectiveMode: mode.mode,
    modeReason: mode.reasons.length === 0 ? null : mode.reasons.join('; '),
    generation: state.generation,
    phase: phaseOf(state, now),
    turn: turnStatus(state),
    nodes: nodeStatuses(state, now),
    otherNodes: otherNodes(state),
    waiting: waitingOf(state, now),
    gates: (visit === null ? (observation?.gates ?? []) : state.gates).map(gateStatus),
    stopped: stopped === null ? null : { reason: stopped.reason, message: stopped.message, since: iso(stopped.at) },
    paused: paused === null ? null : who(paused),
    cancelled: cancel === null ? null : who(cancel),
    overrides: state.overrides.map(({ gate, node, by, reason, at, expiresAt, usedFor }) => ({
      ...{ gate, node, by, reason },
      ...{ at: iso(at), expiresAt: iso(expiresAt), used: usedFor !== null },
    })),
    personNext: state.personNext,
    readAt: observation === null ? null : iso(observation.at),
    asOf: iso(now),
  };
}

function phaseOf(state: CampaignState, now: number): CampaignPhase {
  const { visit, stopped, spec, observation } = state;
  if (stopped !== null) return 'Stopped';
  if (visit !== null) return visit.hungSince === null ? visit.phase : 'Hung';
  if (spec.suspend) return 'Suspended';
  if (observation === null) return 'Unknown';
  const { command } = advanceCampaign(state, now);
  return command.do === 'wait' && command.for.kind === 'sentinel' ? 'Idle' : 'Waiting';
}

function turnStatus({ run, visit }: CampaignState): TurnStatus | null {
  if (visit === null) return null;
  const { node, phase, since, startedAt, before, bootedAs } = visit;
  return {
    ...{ node, phase, since: iso(since), startedAt: iso(startedAt) },
    bootBefore: before?.bootId ?? null,
    bootAfter: bootedAs,
    byHand: handCommands({ run, visit }),
  };
}

function nodeStatuses(state: CampaignState, now: number): NodeStatus[] {
  const { observation } = state;
  if (observation === null || observation.order.kind === 'unmeasured') return [];
  const whyNot = whyNotNow(state, now);
  return observation.order.value.map((name) => {
    const node =
      observation.nodes.kind === 'read' ? observation.nodes.value.find((one) => one.name === name) : undefined;
    const sentinel = observation.sentinels[name];
    const reboot = wishOf(state, name);
    return {
      node: name,
      reboot,
      kernel: node?.kernel ?? null,
      packages: (sentinel?.kind === 'read' ? sentinel.value?.packages : null) ?? [],
      trouble: sentinel?.kind === 'unmeasured' ? sentinel.message : null,
      whyNot: whyNot(name, reboot),
    };
  });
}

function otherNodes({ observation }: CampaignState): string[] {
  if (observation?.nodes.kind !== 'read' || observation.order.kind !== 'read') return [];
  const own = observation.order.value;
  return observation.nodes.value.map(({ name }) => name).filter((name) => !own.includes(name));
}

function wishOf({ observation, done, visit }: CampaignState, name: string): NodeWish {
  if (visit?.node === name) return 'turn';
  const sentinel = observation?.sentinels[name];
  if (sentinel?.kind !== 'read') return 'unknown';
  const wanted = sentinel.value;
  if (Object.hasOwn(done, name) && (wanted === null || done[name]?.sentinel === sentinelId(wanted))) return 'done';
  return wanted === null ? 'none' : 'wanted';
}

/** A gate as people and programs are told of it. */
export function gateStatus({ gate, verdict, lift }: GateReading): GateStatus {
  return { gate, verdict: verdict.kind, reason: reasonOf(verdict), message: verdict.message ?? '', lift };
}

function reasonOf(verdict: Verdict): string | null {
  switch (verdict.kind) {
    case 'pass':
      return null;
    case 'fail':
      return verdict.reason;
    case 'unmeasured':
      return verdict.why;
  }
}

function who({ by, reason, at }: PersonMark): Who {
  return { by, reason, at: iso(at) };
}
