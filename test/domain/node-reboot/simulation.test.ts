import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pass } from '../../../src/domain/core/verdict.ts';
import { releaseLockByHand } from '../../../src/domain/node-reboot/by-hand.ts';
import { judgeReturn } from '../../../src/domain/node-reboot/judge-return.ts';
import { lockData } from '../../../src/domain/node-reboot/lock.ts';
import { judgeCordon, judgeReboot } from '../../../src/domain/node-reboot/node-writes.ts';
import { shippedActivities } from './simulated-activities.ts';
import {
  Broken,
  noCoverage,
  shipped,
  simulate,
  type Decisions,
  type Happening,
  type PersonAction,
  type Story,
} from './simulation.ts';
import type { BootFault } from './simulated-cluster.ts';

/** How many stories are played for the shipped code; the benchmark asks for more. */
const RUNS = Number(process.env['HOLDFAST_SIM_RUNS'] ?? 300);

const node = fc.nat(2);
const campaign = fc.nat(1);
const times = fc.constantFrom(1_000, 20_000, 61_000, 5 * 60_000, 16 * 60_000, 3 * 3_600_000, 30 * 24 * 3_600_000);

const faults = fc.oneof(
  { weight: 2, arbitrary: fc.constant<BootFault>('none') },
  fc.constantFrom<BootFault>('nothing', 'never', 'twice', 'oldKernel', 'lostMemory', 'sentinelStays'),
);

const happenings: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({ kind: fc.constant('run' as const), campaign, steps: fc.integer({ min: 1, max: 12 }) }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('time' as const), ms: times }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('act' as const), campaign, action: fc.constant<PersonAction>('approve') }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wish' as const), node }) },
  fc.record({ kind: fc.constant('unwish' as const), node }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('crash' as const), campaign }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('ghost' as const),
      which: fc.nat(20),
      steps: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('lose' as const), campaign }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('terminate' as const), campaign }) },
  fc.record({
    kind: fc.constant('act' as const),
    campaign,
    action: fc.constantFrom<PersonAction>('cancel', 'retry', 'pause', 'resume', 'releaseLock', 'runNow'),
  }),
  fc.record({
    kind: fc.constant('fault' as const),
    node,
    fault: faults,
  }),
  fc.record({ kind: fc.constant('kubelet' as const), node, runs: fc.boolean() }),
  fc.record({
    kind: fc.constantFrom('powerLoss' as const, 'power' as const, 'block' as const, 'unblock' as const),
    node,
  }),
  fc.record({
    kind: fc.constant('person' as const),
    does: fc.constantFrom('cordon' as const, 'uncordon' as const),
    node,
  }),
  fc.record({ kind: fc.constant('kured' as const), node: fc.option(node) }),
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('apiDown' as const), ms: times }) },
);

const byHand: fc.Arbitrary<Happening> = fc.record({
  kind: fc.constant('lockByHand' as const),
  does: fc.constantFrom('release' as const, 'delete' as const, 'create' as const),
});

const stories = (of: fc.Arbitrary<Happening>): fc.Arbitrary<Story> =>
  fc.record({
    approval: fc.constantFrom('None' as const, 'PerNode' as const, 'PerCampaign' as const),
    wishes: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
    faults: fc.tuple(faults, faults, faults),
    happenings: fc.array(of, { minLength: 20, maxLength: 120 }),
  });

describe('two campaigns on one cluster, whatever happens', () => {
  test('NR-69 no node goes down while another is out, none is given back unproven, and a person can always go on', () => {
    const coverage = noCoverage();
    fc.assert(
      fc.property(stories(happenings), (story) => simulate(story, shipped, coverage)),
      { numRuns: RUNS },
    );
    for (const [what, count] of Object.entries(coverage)) expect(count, what).toBeGreaterThan(0);
  });

  test('NR-69 the same when people take the lock away', () => {
    const coverage = noCoverage();
    fc.assert(
      fc.property(stories(fc.oneof({ weight: 60, arbitrary: happenings }, { weight: 1, arbitrary: byHand })), (story) =>
        simulate(story, shipped, coverage),
      ),
      { numRuns: RUNS },
    );
    expect(coverage.reboots).toBeGreaterThan(0);
  });
});

/** One bug for each promise, seeded into the decisions that are shipped. */
const bugs: readonly { readonly promise: string; readonly bug: string; readonly decisions: Decisions }[] = [
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
    promise: 'it ends',
    bug: 'a turn does not end with the release of its lock',
    decisions: {
      ...shipped,
      apply: (state, result, now) => (result.of === 'releaseLock' ? state : shipped.apply(state, result, now)),
    },
  },
];

/** A bug must be found within so many stories. */
const BUG_RUNS = 4_000;

describe('a seeded bug is found', () => {
  test.each(bugs)('$promise: $bug', ({ promise, decisions }) => {
    const found = fc.check(
      fc.property(stories(happenings), (story) => simulate(story, decisions, noCoverage(), promise)),
      { numRuns: BUG_RUNS, endOnFailure: true },
    );
    expect(found.failed).toBe(true);
    expect(found.errorInstance).toBeInstanceOf(Broken);
  });
});
