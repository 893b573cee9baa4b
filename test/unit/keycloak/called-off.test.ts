import { CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RealmRepresentation, RequiredAction } from '../../../src/domain/keycloak-flow/representation.ts';
import { bindCommand, built, startFlowRig, type FlowRig } from '../../activities/keycloak/flow-rig.ts';
import type { Passed } from '../../doubles/keycloak-proxy.ts';
import { startKeycloakServer, type KeycloakServer } from '../../doubles/keycloak-server.ts';

let server: KeycloakServer;
let rig: FlowRig;
let env: MockActivityEnvironment;

beforeEach(async () => {
  server = await startKeycloakServer();
  rig = await startFlowRig(server, undefined, { timeoutMs: 5_000 });
  env = new MockActivityEnvironment();
});

afterEach(() => rig.close());

const isWrite = ({ method, path }: Passed) => method !== 'GET' && !path.startsWith('/realms/');
const boundNow = async () => (await server.ask<RealmRepresentation>('GET', '')).browserFlow;

/** Calls the activity off while a request is under way, before the server has it. */
function callOffAt(isIt: (passed: Passed) => boolean): void {
  let done = false;
  rig.proxy.sabotage((passed) => {
    if (done || !isIt(passed)) return undefined;
    done = true;
    return { first: () => Promise.resolve(env.cancel()) };
  });
}

describe('an activity that nobody wants any more', () => {
  test('binds nothing where its write was not sent yet', async () => {
    const command = bindCommand(rig, await built(rig));
    rig.proxy.clear();
    callOffAt(({ method }) => method === 'GET');
    await expect(rig.run('bindCandidate', { command }, env)).rejects.toThrow(CancelledFailure);
    expect(rig.proxy.writes()).toEqual([]);
    expect(await boundNow()).toBe('browser');
  });

  test('says what came of a bind that was sent: cut off, it could come after the rollback that called it off', async () => {
    const command = bindCommand(rig, await built(rig));
    callOffAt(isWrite);
    expect(await rig.run('bindCandidate', { command }, env)).toMatchObject({ kind: 'written' });
    expect(await boundNow()).toBe(command.candidate);
  });

  test('says what came of a policy that was sent, and of the edits that it went over', async () => {
    let done = false;
    rig.proxy.sabotage((passed) => {
      if (done || !isWrite(passed)) return undefined;
      done = true;
      const first = async () => {
        const { smtpServer: _, ...now } = await server.ask<RealmRepresentation>('GET', '');
        await server.ask('PUT', '', { ...now, displayName: 'Edited meanwhile' });
        env.cancel();
      };
      return { first };
    });
    const outcome = await rig.run('writePolicy', {}, env);
    expect(outcome).toMatchObject({ kind: 'written' });
    expect(JSON.stringify(outcome)).toContain('Edited meanwhile');
  });

  test('says what came of a required action that was sent', async () => {
    const path = '/authentication/required-actions/webauthn-register-passwordless';
    const actions = await server.ask<RequiredAction[]>('GET', '/authentication/required-actions');
    const action = actions.find(({ alias }) => alias === 'webauthn-register-passwordless');
    await server.ask('PUT', path, { ...action, enabled: false });
    callOffAt(isWrite);
    expect(await rig.run('writeRequiredAction', {}, env)).toMatchObject({ kind: 'written' });
  });

  test('builds no further than the write that was under way, and is gone on with later', async () => {
    let count = 0;
    callOffAt((passed) => isWrite(passed) && ++count === 7);
    const [candidate = ''] = rig.names;
    await expect(rig.run('buildCandidate', { candidate }, env)).rejects.toThrow(CancelledFailure);
    expect(rig.proxy.writes()).toHaveLength(7);
    expect(rig.proxy.writes().every(({ status }) => status !== null && status < 300)).toBe(true);
    expect(await built(rig)).toMatchObject({ kind: 'built' });
  });
});
