import fc from 'fast-check';
import type { BootFault } from './simulated-cluster.ts';
import type { Happening, PersonAction, Story } from './simulation.ts';

/** What may happen to two campaigns on one cluster, for property tests. */

const node = fc.nat(2);
const campaign = fc.nat(1);
const times = fc.constantFrom(1_000, 20_000, 61_000, 5 * 60_000, 16 * 60_000, 3 * 3_600_000, 30 * 24 * 3_600_000);

const faults = fc.oneof(
  { weight: 2, arbitrary: fc.constant<BootFault>('none') },
  fc.constantFrom<BootFault>('nothing', 'never', 'twice', 'oldKernel', 'lostMemory', 'sentinelStays'),
);

const undisturbedLock: fc.Arbitrary<Happening> = fc.oneof(
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
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('crash' as const), campaign }) },
  {
    weight: 16,
    arbitrary: fc.record({
      kind: fc.constant('ghost' as const),
      which: fc.nat(20),
      steps: fc.integer({ min: 1, max: 6 }),
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

const lockByHand: fc.Arbitrary<Happening> = fc.record({
  kind: fc.constant('lockByHand' as const),
  does: fc.constantFrom('release' as const, 'delete' as const, 'create' as const),
});

const storiesOf = (of: fc.Arbitrary<Happening>): fc.Arbitrary<Story> =>
  fc.record({
    approval: fc.constantFrom('None' as const, 'PerNode' as const, 'PerCampaign' as const),
    wishes: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
    faults: fc.tuple(faults, faults, faults),
    happenings: fc.array(of, { minLength: 20, maxLength: 120 }),
  });

/** Stories in which anything happens, but that nobody takes the lock away. */
export const stories = storiesOf(undisturbedLock);

/** The same, and now and then a person takes the lock away. */
export const storiesWithLockByHand = storiesOf(
  fc.oneof({ weight: 60, arbitrary: undisturbedLock }, { weight: 1, arbitrary: lockByHand }),
);
