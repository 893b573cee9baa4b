import { expect, test, vi } from 'vitest';
import type { Temporal } from '../../../src/starters/temporal/connect.ts';
import { releaseStatus, target } from './release-status.ts';
import { runHere } from './run-here.ts';

const before = releaseStatus();
let after = before;

/** A release that says who has decided. */
vi.mock(import('../../../src/starters/temporal/connect.ts'), () => ({
  withTemporal: <T>(use: (temporal: Temporal) => Promise<T>) => {
    let now = before;
    const executeUpdate = () => {
      now = after;
      return Promise.resolve({ by: 'ada', message: 'approves v7 on north', generation: 1 });
    };
    const query = () => Promise.resolve({ plain: now });
    const client = {
      withDeadline: <A>(_: number, call: () => Promise<A>) => call(),
      workflow: { getHandle: () => ({ executeUpdate, query }) },
    };
    return use({ client } as unknown as Temporal);
  },
}));

test('a decision is told in the name of who has signed it, not of who sent it', async () => {
  const args = ['approve', 'release/hive', '--plan', '3f2a9c0d', '--as', 'root'];
  expect((await runHere(args)).stdout).toBe('release/hive: ada approves v7 on north\n');
  expect(JSON.parse((await runHere([...args, '-o', 'json'])).stdout)).toMatchObject({ by: 'ada' });
});

test.each([
  ['is there', '', 0, 'it is there; follow it: holdfast status release/hive --watch'],
  ['does not exist', 'LineUnresolved', 1, 'hive:9.9.9 is not there; holdfast unpin release/hive'],
  ['could not be asked for', 'RegistryUnreachable', 3, 'hive:9.9.9 is not there; holdfast unpin release/hive'],
])('a pin waits for the look that follows it: an image that %s', async (_, reason, code, said) => {
  const message = 'hive:9.9.9 is not there; holdfast unpin release/hive';
  after = releaseStatus({ evaluatedAt: '2026-11-30T09:00:00Z', targets: [target('north', { reason, message })] });
  const run = await runHere(['pin', 'release/hive', '9.9.9', '--as', 'ada']);
  expect(run).toMatchObject({ code, stdout: 'release/hive: ada approves v7 on north\n', stderr: `${said}\n` });
});
