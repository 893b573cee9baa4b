import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededBugs } from './seeded-bugs.ts';
import { Broken, noCoverage, shipped, simulate } from './simulation.ts';
import { stories, storiesWithLockByHand } from './stories.ts';

/** How many stories are played for the shipped code; the benchmark asks for more. */
const RUNS = Number(process.env['HOLDFAST_SIM_RUNS'] ?? 400);

describe('two campaigns on one cluster, whatever happens', () => {
  test('NR-69 no node goes down while another is out, none is given back unproven, and a person can always go on', () => {
    const coverage = noCoverage();
    fc.assert(
      fc.property(stories, (story) => simulate(story, shipped, coverage)),
      { numRuns: RUNS },
    );
    const { stepsOf, ...counts } = coverage;
    for (const [what, count] of Object.entries({ ...counts, ...stepsOf })) expect(count, what).toBeGreaterThan(0);
  });

  test('NR-69 the same when people take the lock away', () => {
    const coverage = noCoverage();
    fc.assert(
      fc.property(storiesWithLockByHand, (story) => simulate(story, shipped, coverage)),
      { numRuns: RUNS },
    );
    expect(coverage.reboots).toBeGreaterThan(0);
  });
});

/** A bug must be found within so many stories. */
const BUG_RUNS = 4_000;

describe('a seeded bug is found', () => {
  test.each(seededBugs)('$promise: $bug', ({ promise, decisions }) => {
    const found = fc.check(
      fc.property(stories, (story) => simulate(story, decisions, noCoverage(), promise)),
      { numRuns: BUG_RUNS, endOnFailure: true },
    );
    expect(found.failed).toBe(true);
    expect(found.errorInstance).toBeInstanceOf(Broken);
  });
});
