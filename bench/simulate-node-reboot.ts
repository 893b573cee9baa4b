// The model of reboots (test/domain/node-reboot/simulation.ts) at length: the shipped decisions keep every promise, and each
// bug that is seeded into them breaks one.
import { cpus } from 'node:os';
import fc from 'fast-check';
import { seededBugs } from '../test/domain/node-reboot/seeded-bugs.ts';
import { Broken, noCoverage, shipped, simulate, type Coverage } from '../test/domain/node-reboot/simulation.ts';
import { stories, storiesWithLockByHand } from '../test/domain/node-reboot/stories.ts';

/** Stories between two looks at the count. */
const BATCH = 500;
/** A bug that so many stories do not find is not found. */
const BUG_STORIES = 20_000;

/**
 * Plays stories until so many steps were made, waits aside, and then each seeded bug until it is found. Prints both.
 *
 * @returns the exit code: 0, or 1 where a promise was broken or a bug not found
 */
export function simulateNodeReboot(steps: number): number {
  const kept = playShipped(steps);
  const found = seededBugs.map(({ promise, bug, decisions }) => {
    const coverage = noCoverage();
    const property = fc.property(stories, (story) => simulate(story, decisions, coverage, promise));
    const { failed, errorInstance, numRuns } = fc.check(property, { numRuns: BUG_STORIES, endOnFailure: true });
    const isFound = failed && errorInstance instanceof Broken;
    return { promise, bug, isFound, stories: numRuns, steps: withoutWaits(coverage) };
  });
  console.log('\nBugs seeded into the shipped decisions, and when the promise broke that each of them breaks:');
  for (const { promise, bug, isFound, stories: played, steps: made } of found) {
    const when = `${isFound ? 'found' : 'NOT FOUND'} in ${played} stories, ${made} steps`;
    console.log(`  ${when.padEnd(34)} ${promise}: ${bug}`);
  }
  console.log(`${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown processor'}`);
  return kept && found.every(({ isFound }) => isFound) ? 0 : 1;
}

/** @returns false where a promise was broken */
function playShipped(wanted: number): boolean {
  const coverage = noCoverage();
  const began = Date.now();
  let played = 0;
  while (withoutWaits(coverage) < wanted) {
    // Every other batch has people who take the lock away.
    const of = (played / BATCH) % 2 === 0 ? stories : storiesWithLockByHand;
    const details = fc.check(
      fc.property(of, (story) => simulate(story, shipped, coverage)),
      { numRuns: BATCH },
    );
    if (details.failed) {
      console.error(`a promise was broken after ${played + details.numRuns} stories`);
      console.error(fc.defaultReportMessage(details));
      return false;
    }
    played += BATCH;
  }
  const seconds = (Date.now() - began) / 1_000;
  const { steps, stepsOf, ...counts } = coverage;
  console.log(`${played} stories of two campaigns on three nodes in ${Math.round(seconds)} s, no promise broken`);
  console.log(
    `${withoutWaits(coverage)} steps and ${steps - withoutWaits(coverage)} of waits; ${Math.round(played / seconds)} stories a second`,
  );
  console.table(Object.fromEntries(Object.entries(stepsOf).sort(([, a], [, b]) => b - a)));
  console.table(counts);
  return true;
}

/** Most steps of a wait only find that it is not over. */
const waits = ['wait', 'settle', 'awaitReturn', 'checkNode', 'drain'] as const;

function withoutWaits({ steps, stepsOf }: Coverage): number {
  return waits.reduce((rest, what) => rest - (stepsOf[what] ?? 0), steps);
}
