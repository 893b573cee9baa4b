import { pass, read, unmeasured, type Reading } from '../../../src/domain/core/verdict.ts';
import { judgeCordon, judgeReboot, judgeUncordon } from '../../../src/domain/node-reboot/node-writes.ts';
import { checkBoot } from '../../../src/domain/node-reboot/check-node.ts';
import type { CampaignCommand } from '../../../src/domain/node-reboot/command.ts';
import type { GateReading, GateStage } from '../../../src/domain/node-reboot/gate.ts';
import { locksGate } from '../../../src/domain/node-reboot/gates/locks.ts';
import { nodesGate } from '../../../src/domain/node-reboot/gates/nodes.ts';
import { judgeReturn } from '../../../src/domain/node-reboot/judge-return.ts';
import {
  lockData,
  mayTakeLock,
  mayWriteLock,
  type HolderRun,
  type LockRecord,
} from '../../../src/domain/node-reboot/lock.ts';
import { cordonManager, type NodeReading } from '../../../src/domain/node-reboot/node.ts';
import type { CampaignObservation } from '../../../src/domain/node-reboot/observation.ts';
import type { CampaignResult } from '../../../src/domain/node-reboot/result.ts';
import { readSentinel, type Sentinel } from '../../../src/domain/node-reboot/sentinel.ts';
import type { NodeRebootSpec } from '../../../src/domain/node-reboot/spec.ts';
import { bootId, type SimulatedCluster, type SimulatedNode } from './simulated-cluster.ts';

/**
 * What the activities do, as steps between which anything may happen: each `yield` is a moment at which a worker may die, or
 * go on much later than everybody thinks. Each step is one request with its precondition.
 */
export type Activity = Generator<void, CampaignResult>;

/** What an activity decides by itself, with what it has just read. */
export interface ActivityDecisions {
  readonly lockData: typeof lockData;
  readonly mayTakeLock: typeof mayTakeLock;
  readonly mayWriteLock: typeof mayWriteLock;
  readonly judgeCordon: typeof judgeCordon;
  readonly judgeReboot: typeof judgeReboot;
  readonly judgeReturn: typeof judgeReturn;
  readonly judgeUncordon: typeof judgeUncordon;
  /** @param intended whether the intent to reboot stood in the lock before this try */
  readonly mayHaveRun: (intended: boolean) => boolean;
}

export const shippedActivities: ActivityDecisions = {
  lockData,
  mayTakeLock,
  mayWriteLock,
  judgeCordon,
  judgeReboot,
  judgeReturn,
  judgeUncordon,
  mayHaveRun: (intended) => intended,
};

/** What a campaign's worker has at hand. */
export interface Surroundings {
  readonly decide: ActivityDecisions;
  readonly cluster: SimulatedCluster;
  readonly spec: NodeRebootSpec;
  readonly holderRun: (run: string) => HolderRun;
  /** Called with each write to a node, right before it takes effect. */
  readonly before: (write: NodeWrite) => void;
}

export interface NodeWrite {
  readonly what: 'cordon' | 'uncordon' | 'reboot';
  readonly node: SimulatedNode;
  readonly record: LockRecord;
}

export function* perform(around: Surroundings, command: CampaignCommand): Activity {
  switch (command.do) {
    case 'look':
    case 'wait':
      return { of: 'look', observation: observe(around) };
    case 'page':
      return { of: 'page' };
    case 'done':
      return { of: 'woken' };
    case 'takeLock':
      return yield* takeLock(around, command);
    default:
      return yield* underLock(around, command);
  }
}

function* takeLock({ cluster, decide }: Surroundings, command: Extract<CampaignCommand, { do: 'takeLock' }>): Activity {
  const refused = (message: string): CampaignResult => ({ of: 'takeLock', outcome: 'refused', message });
  const reading = cluster.readLock();
  yield;
  if (reading.kind === 'unmeasured') return refused(reading.message);
  const may = decide.mayTakeLock(reading.value, command.record, command.replaces);
  if (!may.ok) return refused(may.message);
  if (!cluster.writeLock(reading.value.resourceVersion, decide.lockData(command.record)))
    return refused('somebody was quicker');
  yield;
  return { of: 'takeLock', outcome: 'held', message: 'the lock is held' };
}

type UnderLock = Exclude<CampaignCommand, { do: 'look' | 'wait' | 'page' | 'done' | 'takeLock' }>;

/** Each step first writes to the lock how far the node may be, as long as the lock is ours. */
function* underLock(around: Surroundings, command: UnderLock): Activity {
  const { cluster, decide } = around;
  const reading = cluster.readLock();
  yield;
  if (reading.kind === 'unmeasured') return { of: 'lockLost', message: reading.message };
  if (command.do === 'releaseLock') {
    const { holder, resourceVersion } = reading.value;
    if (holder === null) return { of: 'releaseLock', message: 'the lock is free' };
    const may = decide.mayWriteLock(reading.value, command.record);
    if (!may.ok) return { of: 'releaseLock', message: may.message };
    if (!cluster.writeLock(resourceVersion, {})) return yield* underLock(around, command);
    yield;
    return { of: 'releaseLock', message: 'the lock is released' };
  }
  const may = decide.mayWriteLock(reading.value, command.record);
  if (!may.ok) return { of: 'lockLost', message: may.message };
  const { record } = command;
  const intended = reading.value.holder?.visit.step === record.visit.step;
  if (command.do === 'reboot' && !intended && cluster.now > command.deadline) {
    return { of: 'reboot', outcome: 'stale', message: 'the gates were read too long ago' };
  }
  if (!cluster.writeLock(reading.value.resourceVersion, decide.lockData(record)))
    return yield* underLock(around, command);
  yield;
  // The decision of rebootByCommand: an intent that stood there before may be one that was carried out.
  if (command.do === 'reboot' && 'command' in around.spec.method && decide.mayHaveRun(intended)) {
    return { of: 'reboot', outcome: 'unknown', message: 'an earlier try may have run it' };
  }
  return yield* onNode(around, command);
}

type OnNode = Exclude<UnderLock, { do: 'releaseLock' }>;

function* onNode(around: Surroundings, command: OnNode): Activity {
  const { cluster, spec, decide } = around;
  const { record } = command;
  const { visit } = record;
  const node = cluster.node(visit.node);
  switch (command.do) {
    case 'gatesBefore': {
      const at = cluster.now;
      return { of: 'gatesBefore', readings: gates(around, visit.node, 'before'), before: read(nodeBefore(node)), at };
    }
    case 'lastCheck':
      return {
        of: 'lastCheck',
        readings: gates(around, visit.node, 'last'),
        sentinel: sentinelOf(node),
        at: cluster.now,
      };
    case 'cordon': {
      const seen = nodeReading(cluster, visit.node);
      const version = node.resourceVersion;
      yield;
      const judged = decide.judgeCordon(seen, record, command.deadline, cluster.now);
      if (judged.kind === 'stale' || judged.kind === 'refused') {
        return { of: 'cordon', outcome: judged.kind, message: judged.message };
      }
      if (judged.kind === 'write') {
        if (version !== node.resourceVersion) return yield* onNode(around, command);
        around.before({ what: 'cordon', node, record });
        if (!node.unschedulable) node.cordonManager = cordonManager;
        node.unschedulable = true;
        node.mark = { campaign: record.campaign, run: record.run };
        node.resourceVersion += 1;
        yield;
      }
      return { of: 'cordon', outcome: 'cordoned', message: 'it is cordoned' };
    }
    case 'movePrimaries':
      return { of: 'movePrimaries', verdict: pass() };
    case 'drain':
      if (node.blocked && cluster.now < command.deadline) {
        yield;
        return { of: 'drain', outcome: 'interrupted', message: 'a budget lets nothing go' };
      }
      return node.blocked
        ? { of: 'drain', outcome: 'blocked', message: 'pod shop/web-0 stays: budget shop/web allows nothing' }
        : { of: 'drain', outcome: 'drained', message: 'it is empty' };
    case 'reboot': {
      const before = visit.before?.bootId ?? '';
      const byCommand = 'command' in spec.method;
      const told = !byCommand && cluster.pods.has(`${node.name}/${before}`);
      const judged = decide.judgeReboot(nodeReading(cluster, visit.node), record, told, command.deadline, cluster.now);
      if (judged.kind === 'done') return { of: 'reboot', outcome: 'sent', message: judged.message };
      if (judged.kind !== 'write') return { of: 'reboot', outcome: judged.kind, message: judged.message };
      around.before({ what: 'reboot', node, record });
      if (byCommand) cluster.tellByCommand(node.name, before);
      else cluster.tellReboot(node.name, before);
      yield;
      return { of: 'reboot', outcome: 'sent', message: 'it was told' };
    }
    case 'awaitReturn': {
      const seen = nodeReading(cluster, visit.node);
      yield;
      const judged = decide.judgeReturn(seen, visit, command.deadline, cluster.now);
      if (judged.kind === 'waiting') return { of: 'woken' };
      if (judged.kind === 'returned')
        return { of: 'awaitReturn', outcome: 'returned', bootId: judged.bootId, message: '' };
      return { of: 'awaitReturn', outcome: judged.kind, message: judged.message };
    }
    case 'checkNode': {
      const seen = nodeReading(cluster, visit.node);
      const verdict = checkBoot({ node: seen, sentinel: sentinelOf(node) }, visit, spec);
      yield;
      if (verdict.kind === 'pass' && !seen.ready) {
        if (cluster.now < command.deadline) return { of: 'woken' };
        return {
          of: 'checkNode',
          verdict: unmeasured('Ready', 'it', 'timeout', 'it is not Ready'),
          kernel: seen.kernel,
        };
      }
      return { of: 'checkNode', verdict, kernel: seen.kernel };
    }
    case 'uncordon':
    case 'restore': {
      const of = command.do;
      const seen = nodeReading(cluster, visit.node);
      const version = node.resourceVersion;
      yield;
      const judged = decide.judgeUncordon(seen, record);
      if (judged.kind !== 'write') return { of, outcome: 'refused', message: judged.message };
      if (version !== node.resourceVersion) return yield* onNode(around, command);
      around.before({ what: 'uncordon', node, record });
      if (judged.uncordon) Object.assign(node, { unschedulable: false, cordonManager: null });
      node.mark = null;
      node.lastVisitAt = visit.startedAt;
      node.resourceVersion += 1;
      yield;
      return { of, outcome: 'done', message: 'it is as it was' };
    }
    case 'noteStop':
      return { of: 'noteStop', written: true };
    case 'settle': {
      const seen = nodesGate(read(cluster.readNodes()), visit.node, 'after', cluster.now).verdict;
      yield;
      const rested = cluster.now >= (visit.uncordonedAt ?? Infinity) + spec.releaseDelay;
      if (seen.kind === 'pass' && rested) return { of: 'settle', verdict: pass() };
      return cluster.now < command.deadline
        ? { of: 'woken' }
        : { of: 'settle', verdict: unmeasured('all', 'it', 'timeout', 'not settled') };
    }
  }
}

function observe({ cluster, spec, holderRun }: Surroundings): CampaignObservation {
  const lock = cluster.readLock();
  const holder = lock.kind === 'read' ? lock.value.holder : null;
  const order = spec.nodes ?? cluster.nodes.map(({ name }) => name);
  return {
    at: cluster.now,
    nodes: read(cluster.readNodes()),
    order: read(order),
    sentinels: Object.fromEntries(order.map((name) => [name, sentinelOf(cluster.node(name))])),
    lock,
    holderRun: holder === null ? 'unknown' : holderRun(holder.run),
    foreignLock: read(cluster.foreignLock),
    incumbents: [],
    gates: [],
  };
}

function gates({ cluster }: Surroundings, turn: string, stage: GateStage): GateReading[] {
  return [nodesGate(read(cluster.readNodes()), turn, stage, cluster.now), locksGate(read(cluster.foreignLock))];
}

function nodeReading(cluster: SimulatedCluster, name: string): NodeReading {
  const found = cluster.readNodes().find((node) => node.name === name);
  if (found === undefined) throw new Error(`no node ${name}`);
  return found;
}

function nodeBefore(node: SimulatedNode) {
  return { bootId: bootId(node), kernel: node.kernel, memory: node.memory, unschedulable: node.unschedulable };
}

function sentinelOf(node: SimulatedNode): Reading<Sentinel | null> {
  if (!node.up) return unmeasured('the sentinel', 'a pod', 'unreachable', `node ${node.name} does not answer`);
  return readSentinel(node.name, {
    present: node.sentinel !== null,
    packages: node.sentinel,
    running: node.kernel,
  });
}
