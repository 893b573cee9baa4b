import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shippedActivities } from './simulated-activities.ts';
import { Broken, noCoverage, shipped, simulate, type Happening, type PersonAction, type Story } from './simulation.ts';

/** How many stories are played for the shipped code. */
const RUNS = Number(process.env['HOLDFAST_SIM_RUNS'] ?? 150);
const BUG_RUNS = 2_000;

const campaign = fc.nat(1);
const node = fc.nat(2);
const kind = <K extends string>(of: K) => fc.constant(of);
const action = fc.constantFrom<PersonAction>('approve', 'approve', 'retry', 'cancel');

/** Workers that die and go on as ghosts, answers that are lost, people who end workflows: whatever may make it run twice. */
const happenings: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 30, arbitrary: fc.record({ kind: kind('run'), campaign, steps: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 6, arbitrary: fc.record({ kind: kind('act'), campaign, action }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('time'), ms: fc.constantFrom(1_000, 61_000, 16 * 60_000) }) },
  { weight: 9, arbitrary: fc.record({ kind: kind('crash'), campaign }) },
  {
    weight: 18,
    arbitrary: fc.record({ kind: kind('ghost'), which: fc.nat(20), steps: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: kind('lose'), campaign }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('terminate'), campaign }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('wish'), node }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('power'), node }) },
);

const stories: fc.Arbitrary<Story> = fc.record({
  byCommand: fc.constant(true),
  approval: fc.constantFrom('None' as const, 'PerNode' as const),
  wishes: fc.constant([true, true, true]),
  faults: fc.tuple(...[0, 1, 2].map(() => fc.constantFrom('none' as const, 'nothing' as const, 'never' as const))),
  happenings: fc.array(happenings, { minLength: 20, maxLength: 120 }),
});

describe('NR-47 NR-69 nodes that are told by a command, whatever happens', () => {
  test('no boot is told twice, and everything else that is promised holds as with pods', () => {
    const coverage = noCoverage();
    fc.assert(
      fc.property(stories, (story) => simulate(story, shipped, coverage)),
      { numRuns: RUNS },
    );
    expect(coverage.reboots).toBeGreaterThan(0);
    expect(coverage.ghostWrites).toBeGreaterThan(0);
  });

  test('a boot is told twice where an intent that stood in the lock is carried out again', () => {
    const activities = { ...shippedActivities, mayHaveRun: () => false };
    const found = fc.check(
      fc.property(stories, (story) => simulate(story, { ...shipped, activities }, noCoverage(), 'one command')),
      { numRuns: BUG_RUNS, endOnFailure: true },
    );
    expect(found.failed).toBe(true);
    expect(found.errorInstance).toBeInstanceOf(Broken);
  });
});
