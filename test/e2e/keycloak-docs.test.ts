import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { findProgram } from '../lab/find/find-program.ts';
import { KEYCLOAK } from '../lab/find/programs.ts';
import { createTestRealm, type TestRealm } from '../lab/keycloak-realm.ts';
import { keycloakOf } from '../lab/parts/keycloak.ts';
import { exampleInput } from '../domain/keycloak-flow/world.ts';
import { runCli } from '../unit/cli/run-cli.ts';

const lab = inject('lab');
const folder = mkdtempSync(join(tmpdir(), 'holdfast-flow-docs-'));
const realms: TestRealm[] = [];

afterAll(async () => {
  for (const realm of realms) await realm.delete();
  rmSync(folder, { recursive: true });
});

/** The commands of the runbook that a mark stands before. */
function commandsOf(mark: string): string {
  const text = readFileSync(new URL('../../docs/keycloak-flow.md', import.meta.url), 'utf8');
  const found = text.split(`<!-- test: ${mark} -->\n\`\`\`sh\n`)[1]?.split('\n```')[0];
  if (found === undefined) throw new Error(`the runbook has no commands called ${mark}`);
  return found;
}

/** Runs them as an operator would, with Keycloak's own command line. */
async function follow(mark: string, realm: TestRealm): Promise<string> {
  const { password } = await keycloakOf(lab);
  const kcadm = join(dirname(await findProgram(KEYCLOAK, () => undefined)), 'kcadm.sh');
  // The lab unpacks it without the right to be executed.
  writeFileSync(join(folder, 'kcadm.sh'), `#!/bin/sh\nexec bash '${kcadm}' "$@"\n`, { mode: 0o755 });
  const ran = spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', commandsOf(mark)], {
    cwd: folder,
    env: {
      PATH: `${folder}:${process.env.PATH ?? ''}`,
      HOME: folder,
      KC: realm.url,
      KC_PASSWORD: password,
      REALM: realm.realm,
    },
    encoding: 'utf8',
  });
  expect(ran.status, ran.stderr).toBe(0);
  return ran.stdout;
}

/** Each command starts a Java of its own. */
const patience = 400_000;

test('what the runbook says to set up is all that doctor asks for', { timeout: patience }, async () => {
  const made = await createTestRealm(await keycloakOf(lab));
  realms.push(made);
  await made.ask('POST', '/roles', { name: 'platform-admin' });
  // The lab's own client of that name is in the way.
  const [own] = await made.ask<{ id: string }[]>('GET', '/clients?clientId=holdfast');
  await made.ask('DELETE', `/clients/${own?.id ?? ''}`);
  await follow('set-up', made);

  const at = (name: string) => ({ file: join(folder, name) });
  const server = {
    url: made.url,
    plainHttp: true,
    tokenRealm: made.realm,
    clientId: at('client-id'),
    clientSecret: at('client-secret'),
  };
  const names = [
    'member-name',
    'member-password',
    'admin-name',
    'admin-password',
    'admin-totp',
    'bare-name',
    'bare-password',
  ];
  const secrets = Object.fromEntries(names.map((name) => [`probe-${name}`, at(name)]));
  const config = join(folder, 'worker.yaml');
  writeFileSync(config, JSON.stringify({ keycloak: { default: server }, secrets }));
  const { probe } = readSpec();
  const spec = { mode: 'Enforce', desired: { ...exampleInput(), realm: made.realm }, probe };
  const file = join(folder, 'flow.json');
  const metadata = { name: 'shop' };
  writeFileSync(file, JSON.stringify({ apiVersion: 'holdfast.dev/v1alpha1', kind: 'KeycloakFlow', metadata, spec }));
  const run = await runCli(['doctor', '-f', file, '--config', config], {
    env: { TEMPORAL_ADDRESS: lab.temporalAddress },
  });
  const lines = run.stdout.split('\n').filter((line) => line.includes('keycloakflow/shop: '));
  expect(lines.length).toBeGreaterThan(8);
  expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
  expect(readFileSync(join(folder, 'admin-totp'), 'utf8')).toMatch(/^[A-Z2-7]{32}$/);
});

test(
  'what the runbook says to do by hand brings the old flow back, and the rest of the realm stays',
  { timeout: patience },
  async () => {
    const realm = await createTestRealm(await keycloakOf(lab));
    realms.push(realm);
    await realm.ask('POST', '/authentication/flows', {
      alias: 'broken',
      topLevel: true,
      builtIn: false,
      providerId: 'basic-flow',
    });
    const full = await realm.ask<Record<string, unknown>>('GET', '');
    const attributes = {
      ...(full['attributes'] as object),
      'holdfast.browserFlow.previous': 'browser',
      cibaExpiresIn: '77',
    };
    await realm.ask('PUT', '', { ...full, browserFlow: 'broken', attributes });
    const before = await realm.ask<Record<string, unknown>>('GET', '');
    expect(before['browserFlow']).toBe('broken');
    expect(await follow('by-hand', realm)).toContain('holdfast.browserFlow.previous');
    expect(await realm.ask('GET', '')).toEqual({ ...before, browserFlow: 'browser' });
  },
);

function readSpec(): { probe: unknown } {
  return {
    probe: {
      client: 'holdfast-probe',
      redirectUri: 'https://probe.invalid/callback',
      users: {
        member: { username: 'probe-member-name', password: 'probe-member-password' },
        administrator: {
          username: 'probe-admin-name',
          password: 'probe-admin-password',
          totp: 'probe-admin-totp',
        },
        bareAdministrator: { username: 'probe-bare-name', password: 'probe-bare-password' },
      },
    },
  };
}
