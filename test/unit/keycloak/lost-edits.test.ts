import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RealmRepresentation } from '../../../src/domain/keycloak-flow/representation.ts';
import { bindCommand, built, startFlowRig, type FlowRig } from '../../activities/keycloak/flow-rig.ts';
import type { Passed } from '../../doubles/keycloak-proxy.ts';
import { startKeycloakServer, type KeycloakServer } from '../../doubles/keycloak-server.ts';

let server: KeycloakServer;
let rig: FlowRig;

beforeEach(async () => {
  server = await startKeycloakServer();
  rig = await startFlowRig(server, undefined, { timeoutMs: 5_000 });
});

afterEach(() => rig.close());

const isRealmPut = ({ method, path }: Passed) => method === 'PUT' && path === `/admin/realms/${server.realm}`;

/** Somebody else edits the realm in the window that no precondition closes. */
function editedMeanwhile(change: (now: RealmRepresentation) => Record<string, unknown>, more = async () => {}): void {
  rig.proxy.sabotage((passed) => {
    if (!isRealmPut(passed)) return undefined;
    const first = async () => {
      const { smtpServer: _, ...now } = await server.ask<RealmRepresentation>('GET', '');
      await server.ask('PUT', '', { ...now, ...change(now) });
      await more();
    };
    return { first };
  });
}

test('an edit that was written over is told without the secrets in it', async () => {
  const attributes = { 'acme.apiKey': 'hunter2-one', theirs: 'Bearer abcDEF123456789xyz', plain: 'shown' };
  editedMeanwhile((now) => ({ attributes: { ...now.attributes, ...attributes } }));
  const told = JSON.stringify(await rig.run('writePolicy'));
  expect(told).toContain('attributes.plain = \\"shown\\"');
  expect(told).toContain('attributes.acme.apiKey');
  expect(told).not.toMatch(/hunter2|abcDEF123456789xyz/);
});

test('an attribute that somebody took away, and that was put back, is told as taken away', async () => {
  const now = await server.ask<RealmRepresentation>('GET', '');
  await server.ask('PUT', '', { ...now, attributes: { ...now.attributes, theirs: 'x' } });
  editedMeanwhile(({ attributes = {} }) => {
    const { theirs: _, ...others } = attributes as Record<string, string>;
    return { attributes: others };
  });
  expect(JSON.stringify(await rig.run('writePolicy'))).toContain('attributes.theirs (taken away)');
});

test('an edit of the realm is told also where the candidate was edited in the same moment', async () => {
  const command = bindCommand(rig, await built(rig));
  const executions = `/authentication/flows/${command.candidate}/executions/execution`;
  editedMeanwhile(
    () => ({ displayName: 'Theirs' }),
    async () => void (await server.ask('POST', executions, { provider: 'auth-otp-form' })),
  );
  const outcome = await rig.run('bindCandidate', { command });
  expect(outcome).toMatchObject({ kind: 'failed', reason: 'EditedMeanwhile' });
  expect(JSON.stringify(outcome)).toContain('displayName = \\"Theirs\\"');
});

test('a bind that an earlier try sent does not claim that nothing was written over', async () => {
  const command = bindCommand(rig, await built(rig));
  expect(await rig.run('bindCandidate', { command })).not.toHaveProperty('notVerified');
  const again = await rig.run('bindCandidate', { command });
  expect(again).toMatchObject({ kind: 'written', notVerified: [expect.stringContaining('would not be noticed')] });
});
