import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { KeycloakFlowStatus } from '../../src/domain/keycloak-flow/status.ts';
import { exampleInput } from '../domain/keycloak-flow/world.ts';
import { startKeycloakProxy, type KeycloakProxy } from '../doubles/keycloak-proxy.ts';
import { keycloakConfig } from '../lab/keycloak-config.ts';
import { createTestRealm, type TestRealm } from '../lab/keycloak-realm.ts';
import { keycloakOf } from '../lab/parts/keycloak.ts';
import { waitFor } from '../lab/wait.ts';
import { runCli, stackTraceIn, type CliRun } from '../unit/cli/run-cli.ts';
import { ownNamespace } from './own-namespace.ts';
import { startCli, type RunningCli } from './start-cli.ts';

const lab = inject('lab');
const folder = mkdtempSync(join(tmpdir(), 'holdfast-flow-cli-'));
const file = join(folder, 'keycloak-flow.yaml');
let realm: TestRealm;
let proxy: KeycloakProxy;
let worker: RunningCli;
let env: Record<string, string>;
let object: string;

/** The spec beside the desired state that it names. */
function write(mode: string): void {
  const spec = { mode, interval: '1h', desiredFile: 'desired/login.json' };
  const metadata = { name: realm.realm };
  const document = { apiVersion: 'holdfast.dev/v1alpha1', kind: 'KeycloakFlow', metadata, spec };
  writeFileSync(file, JSON.stringify(document));
}

beforeAll(async () => {
  realm = await createTestRealm(await keycloakOf(lab));
  proxy = await startKeycloakProxy(realm.url);
  object = `keycloakflow/${realm.realm}`;
  const config = join(folder, 'worker.yaml');
  const server = keycloakConfig(folder, realm, proxy.url);
  writeFileSync(config, JSON.stringify({ keycloak: { default: server }, listen: '127.0.0.1:0' }));
  mkdirSync(join(folder, 'desired'));
  writeFileSync(join(folder, 'desired', 'login.json'), JSON.stringify({ ...exampleInput(), realm: realm.realm }));
  const namespace = await ownNamespace(lab, 'flow-cli');
  env = { TEMPORAL_ADDRESS: lab.temporalAddress, TEMPORAL_NAMESPACE: namespace, HOLDFAST_USER: 'ada' };
  worker = startCli(['worker', '--capabilities', 'keycloak-flow', '--config', config, '--log-level', 'error'], env);
  await worker.says(/Worker polls/);
});

afterAll(async () => {
  await runCli(['release-ownership', object], { env });
  worker.signal('SIGTERM');
  await worker.exited;
  await proxy.close();
  await realm.delete();
  rmSync(folder, { recursive: true });
});

async function holdfast(...args: string[]): Promise<CliRun> {
  const done = await runCli(args, { env });
  expect(stackTraceIn(done)).toEqual([]);
  return done;
}

async function status(): Promise<KeycloakFlowStatus> {
  const { code, stdout, stderr } = await holdfast('status', object, '-o', 'json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as KeycloakFlowStatus;
}

async function boundFlow(): Promise<string> {
  return (await realm.ask<{ browserFlow: string }>('GET', '')).browserFlow;
}

test('a worker whose address for health is taken says so, and ends', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const listen = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
  try {
    const second = await holdfast('worker', '--listen', listen);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain(`address already in use ${listen}; choose another --listen`);
  } finally {
    taken.close();
  }
});

test('Ctrl-C before Temporal answered says that nothing was sent', async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const rollback = startCli(['rollback', 'keycloakflow/shop'], { ...env, TEMPORAL_ADDRESS: address });
  const connected = new Promise<Socket>((resolve) => silent.once('connection', resolve));
  const socket = await connected;
  rollback.signal('SIGINT');
  expect(await rollback.exited).toBe(130);
  expect(rollback.output()).toBe('Left; nothing was sent, so that nothing was decided\n');
  socket.destroy();
  silent.close();
});

describe('a login flow from the command line', () => {
  test('plan and Shadow show the bound tree beside the declared one, and write nothing', async () => {
    write('Shadow');
    const plan = await holdfast('plan', '-f', file);
    expect(plan).toMatchObject({ code: 6, stderr: '' });
    expect(plan.stdout).toContain(`${object}: changes pending`);
    expect(plan.stdout).toMatch(/^ {2}\+ {3}auth-username-form REQUIRED/m);
    expect(plan.stdout).toMatch(/^ {2}- .*auth-spnego/m);
    const data = await holdfast('plan', '-f', file, '-o', 'json');
    expect(JSON.parse(data.stdout)).toMatchObject({ kind: 'KeycloakFlow', name: realm.realm, mode: 'Shadow' });

    expect((await holdfast('apply', '-f', file)).stdout).toBe(`${object} created\n`);
    expect((await holdfast('apply', '-f', file)).stdout).toBe(`${object} unchanged\n`);
    const run = await holdfast('run', '-f', file, '--wait');
    expect(run.code).toBe(1);
    expect(run.stdout).toContain('Enforce would build "browser-mfa-');
    expect(await status()).toMatchObject({ kind: 'KeycloakFlow', mode: 'Shadow', phase: 'Problem' });
    expect(proxy.writes()).toEqual([]);
  });

  test('a candidate is built, and waits for the command that status names, word for word', async () => {
    write('Enforce');
    const narrowed = await holdfast('run', '-f', file, '--wait', '--no-bind');
    expect(narrowed.code).toBe(4);
    expect(narrowed.stdout).toContain('this run was told not to');
    const run = await holdfast('run', '-f', file, '--wait');
    expect(run.code).toBe(4);
    expect(run.stdout).toMatch(/PendingBind: flow: "browser-mfa-\w+" waits for an approval/);
    expect(run.stdout).toContain(`next: holdfast approve ${object} --candidate`);
    expect(await boundFlow()).toBe('browser');

    const { candidate, waiting } = await status();
    if (candidate === null) throw new Error('no candidate');
    expect(waiting?.who).toBe('person');
    const view = await holdfast('status', object);
    expect(view.stdout).toContain(candidate.planHash);
    expect(view.stdout).toMatch(/^ {2}Candidate: +browser-mfa-\w+ \(AwaitingApproval\)/m);
    expect(view.stdout).toMatch(/^flow +PendingBind +AwaitingApproval/m);

    const about = ['--candidate', candidate.alias];
    const stale = await holdfast('approve', object, ...about, '--plan', `sha256:${'0'.repeat(64)}`);
    expect(stale).toMatchObject({ code: 2, stdout: '' });
    expect(stale.stderr).toContain('what is offered has changed');
    const unproven = await holdfast('approve', object, ...about, '--plan', candidate.planHash);
    expect(unproven).toMatchObject({ code: 2, stdout: '' });
    expect(unproven.stderr).toContain(candidate.approve);

    const approved = await holdfast(...candidate.approve.split(' ').slice(1), '--reason', 'looked at it');
    expect(approved.code).toBe(0);
    expect(approved.stdout).toContain(`${object}: ada approves "${candidate.alias}" in place of "browser"`);
    expect(approved.stderr).toContain(`${object}: "${candidate.alias}" is bound`);
    expect(await boundFlow()).toBe(candidate.alias);

    proxy.clear();
    const again = await holdfast('run', '-f', file, '--wait');
    expect(again).toMatchObject({ code: 0 });
    expect(again.stdout).toContain(`${object}: Converged: the realm is as declared`);
    expect(proxy.writes()).toEqual([]);
    expect((await holdfast('plan', '-f', file)).code).toBe(0);
    const bound = await holdfast('status', object);
    expect(bound.stdout).toMatch(new RegExp(`^ {2}Bound: +${candidate.alias}, as declared; let by ada at `, 'm'));
    expect(bound.stdout).toMatch(/^ {2}Previous: +browser; to go back: holdfast rollback /m);
    const listed = await holdfast('get', 'keycloakflows');
    expect(listed.stdout).toMatch(
      new RegExp(`^${object} +Converged +Enforce +${realm.realm} +${candidate.alias} `, 'm'),
    );
    const history = await holdfast('history', object);
    expect(history.stdout).toMatch(/ada +override +approves .*knowing that no login was shown: looked at it/);
  });

  test('one command goes back and holds; lifting the hold asks for an approval anew', async () => {
    const back = await holdfast('rollback', object, '--reason', 'the page is blank');
    expect(back.code).toBe(0);
    expect(back.stderr).toContain('"browser" is bound again, and binding is held');
    expect(await boundFlow()).toBe('browser');

    const held = await holdfast('run', '-f', file, '--wait');
    expect(held.code).toBe(4);
    expect(held.stdout).toContain(`binding is held by ada: the page is blank; holdfast lift-hold ${object}`);
    expect((await holdfast('status', object)).stdout).toMatch(/^ {2}Held: +binding is held by ada at .*page is blank/m);
    const { candidate } = await status();
    const refused = await holdfast(...(candidate?.approve ?? '').split(' ').slice(1));
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`holdfast lift-hold ${object}`);

    const lifted = await holdfast('lift-hold', object, '--reason', 'mended');
    expect(lifted.code).toBe(0);
    expect(lifted.stderr).toContain('binding is held no longer');
    expect(await boundFlow()).toBe('browser');
    expect(await status()).toMatchObject({
      phase: 'PendingBind',
      hold: null,
      candidate: { reason: 'AwaitingApproval' },
    });
  });

  test('pause, resume, set-mode, reject and retry', async () => {
    const { candidate } = await status();
    if (candidate === null) throw new Error('no candidate');
    const about = ['--candidate', candidate.alias, '--plan', candidate.planHash];
    expect((await holdfast('reject', object, ...about, '--reason', 'not before Monday')).code).toBe(0);
    const rejected = await holdfast('run', '-f', file, '--wait');
    expect(rejected.stdout).toContain('ada rejected');
    expect((await holdfast('retry', object)).stdout).toContain('the rejection by ada is taken back');

    expect((await holdfast('pause', object, '--reason', 'incident 42')).code).toBe(0);
    await waitFor('the pause', async () => (await status()).effectiveMode === 'Shadow');
    expect((await status()).modeReason).toContain(`holdfast resume ${object}`);
    expect((await holdfast('resume', object)).code).toBe(0);
    expect((await holdfast('set-mode', object, 'shadow')).code).toBe(0);
    expect(await status()).toMatchObject({ mode: 'Shadow', paused: null });
    const shadow = await holdfast('rollback', object);
    expect(shadow).toMatchObject({ code: 2, stdout: '' });
    expect(shadow.stderr).toContain(`holdfast set-mode ${object} Enforce`);
  });

  test('status --watch tells each change, and what is released has ended', async () => {
    const watching = startCli(['status', object, '--watch'], env);
    await watching.says(/Candidate:/);
    expect((await holdfast('set-mode', object, 'Enforce')).code).toBe(0);
    await watching.says(/Z mode Enforce, was Shadow/);
    watching.signal('SIGINT');
    expect(await watching.exited).toBe(130);

    expect((await holdfast('release-ownership', object)).code).toBe(0);
    await waitFor('it to be gone', async () => !(await holdfast('get')).stdout.includes(object));
    const after = await holdfast('status', object);
    expect(after.code).toBe(0);
    expect(after.stderr).toContain(`${object} has ended (completed`);
  });
});
