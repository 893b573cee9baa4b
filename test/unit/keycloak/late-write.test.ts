import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RealmRepresentation } from '../../../src/domain/keycloak-flow/representation.ts';
import { flowPasses, type FlowPasses } from '../../activities/keycloak/flow-passes.ts';
import { startFlowRig, type FlowRig } from '../../activities/keycloak/flow-rig.ts';
import { startKeycloakServer, type KeycloakServer } from '../../doubles/keycloak-server.ts';

let server: KeycloakServer;
let rig: FlowRig;
let passes: FlowPasses;

beforeEach(async () => {
  server = await startKeycloakServer();
  rig = await startFlowRig(server, undefined, { timeoutMs: 5_000 });
  passes = flowPasses(rig);
});

afterEach(() => rig.close());

const boundNow = async () => (await server.ask<RealmRepresentation>('GET', '')).browserFlow;

/** Runs, and says what the flow pass came to. */
async function flow(): Promise<string> {
  const { summary } = await passes.run();
  return summary.passes.find(({ pass }) => pass === 'flow')?.reason ?? '';
}

test('a bind that arrives after the rollback that followed it is told of as a hold that was lost, and taken back', async () => {
  expect(await flow()).toBe('AwaitingApproval');
  passes.approve();
  let late: unknown;
  rig.proxy.sabotage(({ method, path, body }) => {
    if (method !== 'PUT' || path !== `/admin/realms/${server.realm}` || late !== undefined) return undefined;
    late = body;
    return { answer: 504, body: '{}' };
  });
  expect(await flow()).toBe('WriteUnknown');
  expect(late).toBeDefined();

  passes.act('rollback');
  await flow();
  expect(await boundNow()).toBe('browser');

  await server.ask('PUT', '', late);
  expect(await boundNow()).toBe(rig.names[0]);
  const told = await passes.run();
  expect(told.summary.passes.at(-1)).toMatchObject({ outcome: 'Problem', reason: 'HoldLost' });
  expect(told.notifications).toMatchObject([{ what: 'HoldLost', severity: 'page' }]);

  passes.act('rollback');
  await flow();
  expect(await boundNow()).toBe('browser');
  expect(await flow()).toBe('Held');
});
