import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { stringify } from 'yaml';
import { keycloakFlowId } from '../../../../src/workflows/keycloak-flow/messages.ts';
import { createProbeUsers, allowProbeClient, otpPolicy, probe } from '../../../activities/keycloak/probe-users.ts';
import { exampleInput } from '../../../domain/keycloak-flow/world.ts';
import { ownNamespace } from '../../../e2e/own-namespace.ts';
import { keycloakConfig, secretFile } from '../../keycloak-config.ts';
import { createTestRealm, type TestRealm } from '../../keycloak-realm.ts';
import { attachLab, type LabEnv } from '../../lab.ts';
import { keycloakOf } from '../../parts/keycloak.ts';
import type { PlayOptions } from '../play.ts';
import { startHoldfast } from '../processes.ts';
import { ownLab, type Undo } from '../set-up.ts';
import type { LoginStage } from './login-stage.ts';

const APPLICATION = 'shop-web';

/** A realm as it comes, with an application, the probe client and its users; and a worker for it. */
export async function setUpLogin({ labFolder, undo, signal, timeline }: PlayOptions): Promise<LoginStage> {
  const log = (line: string) => timeline.say(`  set-up: ${line}`);
  const lab = labFolder === null ? await ownLab(['temporal', 'keycloak'], log, undo) : await attachLab(labFolder);
  // What stands in a lab of the demo's own goes with it.
  const tidy: Undo = labFolder === null ? () => {} : undo;
  const { env } = lab;
  signal.throwIfAborted();
  log('a realm with an application, three probe users and the probe client');
  const realm = await createTestRealm(await keycloakOf(env, log), {
    adminPermissionsEnabled: true,
    eventsEnabled: true,
    ...otpPolicy,
  });
  tidy(() => realm.delete());
  const secrets = new Map<string, string>();
  const users = await createProbeUsers({ realm, secrets });
  await allowProbeClient(realm, users.clientId);
  await realm.ask('POST', '/clients', {
    clientId: APPLICATION,
    publicClient: true,
    standardFlowEnabled: true,
    redirectUris: [probe.redirectUri],
  });
  signal.throwIfAborted();

  const flow = labFolder === null ? 'shop-login' : realm.realm;
  const folder = join(env.dir, `demo-login-${realm.realm}`);
  mkdirSync(folder);
  tidy(() => Promise.resolve(rmSync(folder, { recursive: true, force: true })));
  const specFile = join(folder, 'login.yaml');
  writeFileSync(specFile, stringify(flowDocument(flow, realm)));
  const namespace = labFolder === null ? 'default' : await ownNamespace(env, 'demo');
  tidy(() => terminate(env, namespace, flow));
  signal.throwIfAborted();
  log('starting the worker');
  const worker = `worker-login-${realm.realm}`;
  await startHoldfast(
    lab,
    {
      name: worker,
      folder,
      config: workerConfig(folder, realm, secrets),
      env: { TEMPORAL_ADDRESS: env.temporalAddress, TEMPORAL_NAMESPACE: namespace },
      options: ['--capabilities', 'keycloak-flow'],
    },
    tidy,
  );
  return {
    lab: env,
    realm,
    namespace,
    flow,
    folder,
    specFile,
    worker,
    probe,
    probeClient: users.clientId,
    place: { url: realm.url, realm: realm.realm, clientId: APPLICATION, redirectUri: probe.redirectUri },
    member: { ...users.member, totp: null, passkey: null },
    administrator: { ...users.bareAdministrator, totp: null, passkey: null },
    since: Date.now(),
  };
}

function flowDocument(name: string, { realm }: TestRealm) {
  return {
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'KeycloakFlow',
    metadata: { name },
    spec: { mode: 'Enforce', interval: '1h', probe, desired: { ...exampleInput(), realm } },
  };
}

function workerConfig(folder: string, realm: TestRealm, secrets: ReadonlyMap<string, string>) {
  const named = [...secrets].map(([name, value]) => [name, secretFile(folder, name, value)] as const);
  return { keycloak: { default: keycloakConfig(folder, realm) }, secrets: Object.fromEntries(named) };
}

async function terminate({ temporalAddress }: LabEnv, namespace: string, flow: string): Promise<void> {
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    await new Client({ connection, namespace }).workflow
      .getHandle(keycloakFlowId(flow))
      .terminate('the demo is over')
      .catch(() => undefined); // it never began
  } finally {
    await connection.close();
  }
}
