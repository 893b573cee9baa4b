import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { candidates } from '../../src/domain/keycloak-flow/candidate-name.ts';
import { keycloakFlowSpec } from '../../src/domain/keycloak-flow/spec.ts';
import type { KeycloakFlowStatus } from '../../src/domain/keycloak-flow/status.ts';
import {
  KEYCLOAK_FLOW_QUEUE,
  keycloakFlowId,
  keycloakFlowStatusQuery,
  keycloakFlowUpdate,
} from '../../src/workflows/keycloak-flow/messages.ts';
import type { keycloakFlowWorkflow } from '../../src/workflows/keycloak-flow/workflow.ts';
import { allowProbeClient, createProbeUsers, otpPolicy, probe } from '../activities/keycloak/probe-users.ts';
import { exampleInput } from '../domain/keycloak-flow/world.ts';
import { startKeycloakProxy, type KeycloakProxy, type Passed, type Sabotage } from '../doubles/keycloak-proxy.ts';
import { startCli, type RunningCli } from '../e2e/start-cli.ts';
import { createTestRealm, type TestRealm } from '../lab/keycloak-realm.ts';
import type { LabEnv } from '../lab/lab.ts';
import { servedTree } from '../lab/keycloak-tree.ts';
import { keycloakOf } from '../lab/parts/keycloak.ts';
import { waitFor } from '../lab/wait.ts';
import { activityMoments, type ActivityMoments, type Moment } from './activity-moments.ts';
import { writeNames, type WriteName } from './keycloak-writes.ts';
import { startLoginSampler, type LoginSampler } from './login-sampler.ts';
import type { ProductCopy } from './product-copy.ts';
import { registerNamespace } from '../e2e/own-namespace.ts';
import { within } from './stage.ts';
import { startTemporalProxy } from './temporal-proxy.ts';
import { createApp, weakLogins } from './weak-logins.ts';

/** A Temporal namespace that a worker in a process of its own reaches through a proxy, so that it can be killed alone. */
export interface KeycloakStage {
  readonly client: Client;
  readonly moments: ActivityMoments;
  startWorker(config: string): Promise<RunningCli>;
  close(): Promise<void>;
}

export async function openKeycloakStage(lab: LabEnv, product: ProductCopy): Promise<KeycloakStage> {
  const connection = await Connection.connect({ address: lab.temporalAddress });
  const namespace = `chaos-${randomBytes(3).toString('hex')}`;
  await registerNamespace(connection, namespace);
  const moments = activityMoments();
  const temporal = await startTemporalProxy(lab.temporalAddress, moments.tap);
  const workers = new Set<RunningCli>();
  return {
    client: new Client({ connection, namespace }),
    moments,
    async startWorker(config) {
      const worker = startCli(
        ['worker', '--capabilities', 'keycloak-flow', '--config', config, '--log-level', 'error'],
        { ...product.env, TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: namespace },
        product.launcher,
      );
      workers.add(worker);
      void worker.exited.then(() => workers.delete(worker));
      await worker.says(/Worker polls/);
      return worker;
    },
    async close() {
      for (const worker of workers) worker.signal('SIGKILL');
      await Promise.all([...workers].map(({ exited }) => exited));
      await temporal.close();
      await connection.close();
    },
  };
}

/** Where a worker dies: at a write, before it reaches Keycloak or between its effect and its reply, or at an activity. */
export type Death =
  | { readonly write: WriteName; readonly when: 'before' | 'reply' }
  | { readonly activity: string; readonly moment: Moment };

export function deathInWords(death: Death): string {
  return 'write' in death ? `${death.write}, ${death.when}` : `${death.activity} ${death.moment}`;
}

/** A write as the proxy saw it. */
export interface SeenWrite {
  readonly name: WriteName;
  /** False where it was kept from Keycloak. */
  readonly passedOn: boolean;
}

/** A PUT that changed the binding, with the tree that was there then. */
export interface SeenBind {
  readonly to: string;
  readonly tree: readonly string[];
}

/** One realm with a KeycloakFlow that is to bind by itself, a sampler of weak logins, and a worker that can be killed. */
export interface Journey {
  readonly realm: TestRealm;
  readonly candidate: string;
  readonly sampler: LoginSampler;
  readonly writes: readonly SeenWrite[];
  readonly binds: readonly SeenBind[];
  readonly proxy: KeycloakProxy;
  /** The id of the probe client. */
  readonly probeClientId: string;
  readonly handle: WorkflowHandle<typeof keycloakFlowWorkflow>;
  readonly status: () => Promise<KeycloakFlowStatus>;
  update(name: 'runNow' | 'rollback' | 'liftHold'): Promise<void>;
  /** Begins; nothing is to have been awaited of the workflow before. */
  readonly start: () => Promise<void>;
  startWorker(): Promise<void>;
  /** Kills the worker there; returns when it is gone. To be called before the workflow can come there. */
  dies(death: Death): Promise<void>;
  /** Called with each write before it is passed on; what it gives back is done in place of that. */
  onWrite: (name: WriteName, write: Passed) => Sabotage | undefined;
  close(): Promise<void>;
}

/** How long a boundary may take to come: a proof waits for a one-time password, and a killed activity for its heartbeat. */
const boundaryMs = 120_000;

export async function openJourney(lab: LabEnv, stage: KeycloakStage): Promise<Journey> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kc-chaos-'));
  const realm = await createTestRealm(await keycloakOf(lab), { adminPermissionsEnabled: true, ...otpPolicy });
  const proxy = await startKeycloakProxy(realm.url);
  const secrets = new Map<string, string>();
  const users = await createProbeUsers({ realm, secrets });
  await allowProbeClient(realm, users.clientId);
  await createApp(realm);
  await driftRequiredAction(realm);

  const config = writeConfig(folder, proxy.url, realm, secrets);
  const input = { ...exampleInput(), realm: realm.realm };
  const bind = { file: join(folder, 'bind') };
  const spec = keycloakFlowSpec.parse({ mode: 'Enforce', desired: input, interval: '1h', probe, bind });
  const candidate = candidates(spec.desired)[0]?.alias ?? '';
  const nameOf = writeNames(realm.realm, candidate);
  const writes: SeenWrite[] = [];
  const binds: SeenBind[] = [];
  const deaths = new Map<string, () => void>();
  const sampler = startLoginSampler(realm.url, realm.realm, weakLogins(users), 1_000);
  let worker: RunningCli | null = null;

  proxy.sabotage((passed) => {
    if (passed.method === 'GET' || passed.path.startsWith('/realms/')) return undefined;
    const name = nameOf(passed);
    const before = deaths.get(`${name}, before`);
    writes.push({ name, passedOn: before === undefined });
    if (before !== undefined) {
      before();
      return 'dropBefore';
    }
    const reply = deaths.get(`${name}, reply`);
    const own = journey.onWrite(name, passed);
    if (own !== undefined) return own;
    const noteBind = async () => {
      if (!['bind', 'rollBack'].includes(name)) return;
      const to = (passed.body as { browserFlow: string }).browserFlow;
      binds.push({ to, tree: await servedTree(realm, to) });
    };
    if (reply === undefined) return { first: noteBind };
    return {
      afterwards: async () => {
        reply();
        await noteBind();
      },
    };
  });

  const handle = stage.client.workflow.getHandle<typeof keycloakFlowWorkflow>(keycloakFlowId(realm.realm));
  const journey: Journey = {
    realm,
    candidate,
    sampler,
    writes,
    binds,
    proxy,
    probeClientId: users.clientId,
    handle,
    status: () => handle.query(keycloakFlowStatusQuery),
    async update(name) {
      await handle.executeUpdate(keycloakFlowUpdate(name), { args: [{ by: 'ada', reason: 'chaos' }] });
    },
    async start() {
      await stage.client.workflow.start<typeof keycloakFlowWorkflow>('keycloakFlowWorkflow', {
        workflowId: handle.workflowId,
        taskQueue: KEYCLOAK_FLOW_QUEUE,
        args: [{ name: realm.realm, spec }],
      });
    },
    async startWorker() {
      worker = await stage.startWorker(config);
    },
    async dies(death) {
      const words = deathInWords(death);
      await within(boundaryMs, words, (then) => {
        const kill = () => {
          worker?.signal('SIGKILL');
          then();
        };
        if ('write' in death) {
          deaths.set(words, () => {
            deaths.delete(words);
            kill();
          });
          return;
        }
        const { activity: type, moment } = death;
        stage.moments.at({ workflowId: handle.workflowId, type, nth: 1, moment }, kill);
      });
      await worker?.exited;
    },
    onWrite: () => undefined,
    async close() {
      await sampler.stop();
      await handle.terminate('test is over').catch(() => undefined);
      stage.moments.forget();
      worker?.signal('SIGKILL');
      await worker?.exited;
      await proxy.close();
      await realm.delete();
      rmSync(folder, { recursive: true });
    },
  };
  return journey;
}

/** So that it is one of the writes of a run. */
async function driftRequiredAction(realm: TestRealm): Promise<void> {
  const path = '/authentication/required-actions/webauthn-register-passwordless';
  const action = await realm.ask<Record<string, unknown>>('GET', path);
  await realm.ask('PUT', path, { ...action, enabled: false });
}

function writeConfig(folder: string, url: string, realm: TestRealm, secrets: ReadonlyMap<string, string>): string {
  const inFile = (name: string, value: string) => {
    writeFileSync(join(folder, name), value);
    return { file: join(folder, name) };
  };
  inFile('bind', 'true');
  const server = {
    url,
    plainHttp: true,
    tokenRealm: realm.realm,
    clientId: inFile('id', realm.clientId),
    clientSecret: inFile('secret', realm.clientSecret),
  };
  const named = Object.fromEntries([...secrets].map(([name, value]) => [name, inFile(name, value)]));
  const config = join(folder, 'worker.yaml');
  writeFileSync(config, JSON.stringify({ keycloak: { default: server }, secrets: named, listen: '127.0.0.1:0' }));
  return config;
}

/** Waits until the status is as wanted. */
export function untilStatus(
  journey: Pick<Journey, 'status'>,
  what: string,
  is: (status: KeycloakFlowStatus) => boolean,
): Promise<KeycloakFlowStatus> {
  return waitFor(
    what,
    async () => {
      const status = await journey.status();
      if (is(status)) return status;
      throw new Error(JSON.stringify({ phase: status.phase, passes: status.passes, runs: status.runs }));
    },
    boundaryMs,
    300,
  );
}
