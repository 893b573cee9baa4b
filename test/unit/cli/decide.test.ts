import { expect, test, vi } from 'vitest';
import { CliError } from '../../../src/starters/cli-error.ts';
import type { Temporal } from '../../../src/starters/temporal/connect.ts';
import { releaseStatus, target } from './release-status.ts';
import { runHere } from './run-here.ts';

const before = releaseStatus();
let after = before;
/** Thrown by whatever asks how it is. */
let silence: Error | null = null;

/** A release that says who has decided. */
vi.mock(import('../../../src/starters/temporal/connect.ts'), () => ({
  withTemporal: <T>(use: (temporal: Temporal) => Promise<T>) => {
    let now = before;
    const executeUpdate = () => {
      now = after;
      return Promise.resolve({ by: 'ada', message: 'approves v7 on north', generation: 1 });
    };
    const query = () => (silence === null ? Promise.resolve({ plain: now }) : Promise.reject(silence));
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

test('a decision that could not even be sent says so, and a rollback how to do without', async () => {
  silence = new CliError(3, 'keycloakflow/shop did not answer');
  const about = ['--candidate', 'x', '--plan', '3f2a9c0d'];
  const approve = await runHere(['approve', 'keycloakflow/shop', ...about, '--as', 'ada']);
  expect(approve).toMatchObject({ code: 3, stdout: '' });
  expect(approve.stderr).toBe(
    'holdfast: nothing was sent, so that nothing was decided: keycloakflow/shop did not answer\n',
  );
  const rollback = await runHere(['rollback', 'keycloakflow/shop', '--as', 'ada']);
  expect(rollback.stderr).toMatch(
    /did not answer; where people are locked out, go back without Holdfast: docs\/keycloak-flow\.md, "Locked out"\n$/,
  );
  silence = null;
});
