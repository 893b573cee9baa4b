import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { rebootScript } from '../../../src/domain/node-reboot/host-facts.ts';

/** A boot that no machine runs, so that the script ends before it tells anything, wherever it is run. */
const nobodys = '00000000-0000-4000-8000-000000000000';

function exitCode(until: number): number | null {
  return spawnSync('sh', ['-c', rebootScript(nobodys, until)]).status;
}

test('a pod that comes on another boot tells nothing, and one that comes too late does not even look', () => {
  expect(exitCode(Date.now() + 60_000)).toBe(3);
  expect(exitCode(Date.now() - 60_000)).toBe(4);
});

test('what is no boot id stands in no script', () => {
  expect(() => rebootScript("'; reboot; '", 0)).toThrow('is no boot id');
});
