import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { allowProbeClient, createProbeUsers, otpPolicy, probe } from '../activities/keycloak/probe-users.ts';
import { exampleInput } from '../domain/keycloak-flow/world.ts';
import { startKeycloakProxy, type KeycloakProxy } from '../doubles/keycloak-proxy.ts';
import { createTestRealm, OBSERVE_ROLES, type TestRealm } from '../lab/keycloak-realm.ts';
import { keycloakOf } from '../lab/parts/keycloak.ts';
import { runCli, stackTraceIn, type CliRun } from '../unit/cli/run-cli.ts';
import { ownNamespace } from './own-namespace.ts';
import { startCli, type RunningCli } from './start-cli.ts';

const lab = inject('lab');
const folder = mkdtempSync(join(tmpdir(), 'holdfast-flow-doctor-'));
const file = join(folder, 'keycloak-flow.yaml');
let realm: TestRealm;
let proxy: KeycloakProxy;
let worker: RunningCli;
let env: Record<string, string>;
let secrets: Map<string, string>;

function inFile(name: string, value: string): { file: string } {
  writeFileSync(join(folder, name), value);
  return { file: join(folder, name) };
}

/** A worker's configuration for one service account. */
function configFor(clientId: string, clientSecret: string, url = proxy.url): string {
  const credentials = { clientId: inFile('id', clientId), clientSecret: inFile('secret', clientSecret) };
  const server = { url, plainHttp: true, tokenRealm: realm.realm, ...credentials };
  const named = Object.fromEntries([...secrets].map(([name, value]) => [name, inFile(name, value)]));
  const config = join(folder, `${clientId}.yaml`);
  writeFileSync(config, JSON.stringify({ keycloak: { default: server }, secrets: named, listen: '127.0.0.1:0' }));
  return config;
}

beforeAll(async () => {
  realm = await createTestRealm(await keycloakOf(lab), { adminPermissionsEnabled: true, ...otpPolicy });
  proxy = await startKeycloakProxy(realm.url);
  secrets = new Map();
  const users = await createProbeUsers({ realm, secrets });
  await allowProbeClient(realm, users.clientId);
  const spec = { mode: 'Enforce', desired: { ...exampleInput(), realm: realm.realm }, probe };
  const metadata = { name: realm.realm };
  writeFileSync(file, JSON.stringify({ apiVersion: 'holdfast.dev/v1alpha1', kind: 'KeycloakFlow', metadata, spec }));
  const namespace = await ownNamespace(lab, 'flow-doctor');
  env = { TEMPORAL_ADDRESS: lab.temporalAddress, TEMPORAL_NAMESPACE: namespace };
  const config = configFor(realm.clientId, realm.clientSecret);
  worker = startCli(['worker', '--capabilities', 'keycloak-flow', '--config', config, '--log-level', 'error'], env);
  await worker.says(/Worker polls/);
});

afterAll(async () => {
  worker.signal('SIGTERM');
  await worker.exited;
  await proxy.close();
  await realm.delete();
  rmSync(folder, { recursive: true });
});

async function doctor(config: string, ...more: string[]): Promise<CliRun> {
  const done = await runCli(['doctor', '-f', file, '--config', config, ...more], { env });
  expect(stackTraceIn(done)).toEqual([]);
  return done;
}

/** The line of one check. */
function line({ stdout }: CliRun, name: string): string {
  return stdout.split('\n').find((text) => text.includes(`keycloakflow/${realm.realm}: ${name} `)) ?? '';
}

test('all is right: version, each role with its reason, events, probe client and users; and nothing is written', async () => {
  proxy.clear();
  const done = await doctor(configFor(realm.clientId, realm.clientSecret));
  expect(done.stdout).not.toMatch(/^(WRONG|\?)/m);
  expect(done.code).toBe(0);
  expect(line(done, 'server')).toContain(`${proxy.url} answers, without TLS, and gives tokens; Keycloak 26.`);
  expect(line(done, 'roles')).toMatch(/^ok .*view-clients \(reads which flow each client has .*manage-realm \(writes /);
  expect(line(done, 'in use')).toMatch(/^ok .*\d+ flows are in use, sub-flows counted, and are never written to/);
  expect(line(done, 'admin events')).toMatch(/^ok /);
  expect(line(done, 'bind switch')).toMatch(/^ok .*absent: people approve/);
  expect(line(done, 'probe client')).toMatch(/^ok .*its override may be written/);
  expect(line(done, 'probe users')).toMatch(/^ok .*member, administrator, bareAdministrator/);
  expect(done.stdout).toMatch(/^ok +workers of login flows /m);
  expect(proxy.writes()).toEqual([]);
  for (const value of secrets.values()) expect(done.stdout + done.stderr).not.toContain(value);
});

test('who may only look is right for Shadow, and lacks for Enforce what is named with its reason', async () => {
  const config = configFor('looker', await realm.serviceAccount('looker', OBSERVE_ROLES));
  const shadow = await doctor(config, '--mode', 'Shadow');
  expect(shadow.code).toBe(0);
  expect(line(shadow, 'probe client')).toMatch(/^ok .*Enforce would also need: .*may not manage/);
  const enforce = await doctor(config, '--mode', 'Enforce');
  expect(enforce.code).toBe(1);
  expect(line(enforce, 'roles')).toMatch(/^WRONG .*for Enforce it lacks: manage-realm \(writes policy/);
  expect(line(enforce, 'probe client')).toMatch(/^WRONG .*may not manage client "holdfast-probe"/);
});

test('a role that is missing is told with what it is for, and what it hides counts as not read', async () => {
  const config = configFor('blind', await realm.serviceAccount('blind', ['view-realm']));
  const done = await doctor(config, '--mode', 'Shadow');
  expect(done.code).toBe(1);
  for (const role of ['view-clients', 'view-identity-providers', 'view-events']) {
    expect(line(done, 'roles')).toContain(role);
  }
  expect(line(done, 'identity providers')).toMatch(/^WRONG /);
  expect(done.stdout).toContain('realm-management');
});

test('roles that nothing needs are told', async () => {
  const config = configFor('strong', await realm.serviceAccount('strong', [...OBSERVE_ROLES, 'manage-users']));
  expect(line(await doctor(config, '--mode', 'Shadow'), 'roles')).toMatch(/^ok .*nothing here needs manage-users/);
});

test('a wrong secret and a server that is not there are told apart, and no role is guessed', async () => {
  const wrong = await doctor(configFor('other', 'not the secret'));
  expect(line(wrong, 'server')).toMatch(/^\? .*does not take the credentials of client "other"/);
  const away = await doctor(configFor('away', 'x', 'http://127.0.0.1:1'));
  expect(away.code).toBe(3);
  expect(line(away, 'server')).toMatch(/^\? .*http:\/\/127\.0\.0\.1:1: the connection was refused/);
  expect(line(away, 'roles')).toBe('');
});

test('a realm that is misspelt is told as such, and no role is blamed', async () => {
  const misspelt = join(folder, 'misspelt.json');
  const { spec, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as { spec: { desired: object } };
  writeFileSync(
    misspelt,
    JSON.stringify({ ...rest, spec: { ...spec, desired: { ...spec.desired, realm: 'nowhere' } } }),
  );
  const config = configFor(realm.clientId, realm.clientSecret);
  const done = await runCli(['doctor', '-f', misspelt, '--config', config], { env });
  expect(done.code).toBe(1);
  expect(line(done, 'realm')).toMatch(/^WRONG .*realm "nowhere": .*it is not there/);
  expect(done.stdout).toContain('fix: correct the realm in the desired state, or the url of the server');
  expect(line(done, 'roles')).toBe('');
});

test('a bind switch that is named and not there is told with its place', async () => {
  const switched = join(folder, 'switched.json');
  const { spec, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as { spec: object };
  writeFileSync(switched, JSON.stringify({ ...rest, spec: { ...spec, bind: { file: join(folder, 'nothing') } } }));
  const done = await runCli(['doctor', '-f', switched, '--config', configFor(realm.clientId, realm.clientSecret)], {
    env,
  });
  expect(line(done, 'bind switch')).toMatch(/^ok .*absent \(the file .*nothing\): people approve/);
});

test('a realm that keeps no admin events is told, since a lost edit would not be noticed', async () => {
  await realm.ask('PUT', '', { adminEventsEnabled: false });
  const done = await doctor(configFor(realm.clientId, realm.clientSecret));
  expect(done.code).toBe(1);
  expect(line(done, 'admin events')).toMatch(/^WRONG .*keeps no admin events/);
});
