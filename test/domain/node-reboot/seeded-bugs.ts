import { pass } from '../../../src/domain/core/verdict.ts';
import { releaseLockByHand } from '../../../src/domain/node-reboot/by-hand.ts';
import { judgeReturn } from '../../../src/domain/node-reboot/judge-return.ts';
import { lockData } from '../../../src/domain/node-reboot/lock.ts';
import { judgeCordon, judgeReboot, judgeUncordon } from '../../../src/domain/node-reboot/node-writes.ts';
import { shippedActivities } from './simulated-activities.ts';
import { shipped, type Decisions } from './simulation.ts';

/** A bug seeded into the decisions that are shipped, and the promise that it breaks. */
export interface SeededBug {
  readonly promise: string;
  readonly bug: string;
  readonly decisions: Decisions;
}

/** One for each promise at least. */
export const seededBugs: readonly SeededBug[] = [
  {
    promise: 'one node at a time',
    bug: 'the lock is taken whoever holds it, and no gate is heeded',
    decisions: {
      ...shipped,
      activities: { ...shippedActivities, mayTakeLock: () => ({ ok: true }) },
      apply: (state, result, now) =>
        shipped.apply(state, result.of === 'gatesBefore' ? { ...result, readings: [] } : result, now),
    },
  },
  {
    promise: 'the lock tells',
    bug: 'the lock is taken whoever holds it',
    decisions: { ...shipped, activities: { ...shippedActivities, mayTakeLock: () => ({ ok: true }) } },
  },
  {
    promise: 'nobody else is out',
    bug: 'gates that do not pass are taken for passed',
    decisions: {
      ...shipped,
      apply: (state, result, now) =>
        shipped.apply(state, result.of === 'gatesBefore' ? { ...result, readings: [] } : result, now),
    },
  },
  {
    promise: 'nobody else is out',
    bug: 'the last check is not heeded',
    decisions: {
      ...shipped,
      apply: (state, result, now) =>
        shipped.apply(state, result.of === 'lastCheck' ? { ...result, readings: [] } : result, now),
    },
  },
  {
    promise: 'nobody else is out',
    bug: 'a reading of any age will do',
    decisions: {
      ...shipped,
      activities: {
        ...shippedActivities,
        judgeCordon: (node, record) => judgeCordon(node, record, Infinity, 0),
      },
    },
  },
  {
    promise: 'one command',
    bug: 'that it was told is forgotten',
    decisions: {
      ...shipped,
      activities: {
        ...shippedActivities,
        judgeReboot: (node, record, _, deadline, now) => judgeReboot(node, record, false, deadline, now),
      },
    },
  },
  {
    promise: 'drained first',
    bug: 'a node that somebody has uncordoned is rebooted',
    decisions: {
      ...shipped,
      activities: {
        ...shippedActivities,
        judgeReboot: (node, record, ...rest) =>
          judgeReboot({ ...node, unschedulable: true, cordonedBy: record }, record, ...rest),
      },
    },
  },
  {
    promise: 'a proven boot',
    bug: 'a node that is Ready is taken for one that is back, and nothing of it is checked',
    decisions: {
      ...shipped,
      apply: (state, result, now) =>
        shipped.apply(state, result.of === 'checkNode' ? { ...result, verdict: pass() } : result, now),
      activities: {
        ...shippedActivities,
        judgeReturn: (node, ...rest) =>
          node.ready ? { kind: 'returned', bootId: node.bootId, message: '' } : judgeReturn(node, ...rest),
      },
    },
  },
  {
    promise: 'a proven boot',
    bug: 'a node that rebooted by itself before it was told to is given back as it was found',
    decisions: {
      ...shipped,
      activities: {
        ...shippedActivities,
        judgeUncordon: (node, record) =>
          judgeUncordon(
            record.visit.rebootAt === null ? { ...node, bootId: record.visit.before?.bootId ?? node.bootId } : node,
            record,
          ),
      },
    },
  },
  {
    promise: 'what people cordon stays so',
    bug: 'every cordon is taken for ours',
    decisions: {
      ...shipped,
      activities: { ...shippedActivities, judgeUncordon: () => ({ kind: 'write', uncordon: true }) },
    },
  },
  {
    promise: 'a way out',
    bug: 'whoever comes late may write to the lock',
    decisions: { ...shipped, activities: { ...shippedActivities, mayWriteLock: () => ({ ok: true }) } },
  },
  {
    promise: 'a way out',
    bug: 'the lock does not say how a node is given back',
    decisions: {
      ...shipped,
      activities: { ...shippedActivities, lockData: (record) => ({ ...lockData(record), undo: releaseLockByHand }) },
    },
  },
  {
    promise: 'the lock says why',
    bug: 'a node that failed its checks is given back by hand as any other',
    decisions: {
      ...shipped,
      activities: {
        ...shippedActivities,
        lockData: (record) => lockData({ ...record, visit: { ...record.visit, stoppedFor: null } }),
      },
    },
  },
  {
    promise: 'it ends',
    bug: 'a turn does not end with the release of its lock',
    decisions: {
      ...shipped,
      apply: (state, result, now) => (result.of === 'releaseLock' ? state : shipped.apply(state, result, now)),
    },
  },
];
