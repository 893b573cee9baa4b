import { expect, test, vi } from 'vitest';
import type { Temporal } from '../../../src/starters/temporal/connect.ts';
import { runHere } from './run-here.ts';

/** A release that says who has decided. */
vi.mock(import('../../../src/starters/temporal/connect.ts'), () => ({
  withTemporal: <T>(use: (temporal: Temporal) => Promise<T>) => {
    const executeUpdate = () => Promise.resolve({ by: 'ada', message: 'approves v7 on north', status: {} });
    const client = {
      withDeadline: <A>(_: number, call: () => Promise<A>) => call(),
      workflow: { getHandle: () => ({ executeUpdate }) },
    };
    return use({ client } as unknown as Temporal);
  },
}));

test('a decision is told in the name of who has signed it, not of who sent it', async () => {
  const args = ['approve', 'release/hive', '--plan', '3f2a9c0d', '--as', 'root'];
  expect((await runHere(args)).stdout).toBe('release/hive: ada approves v7 on north\n');
  expect(JSON.parse((await runHere([...args, '-o', 'json'])).stdout)).toMatchObject({ by: 'ada' });
});
