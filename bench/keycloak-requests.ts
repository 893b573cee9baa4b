// What a login flow costs Keycloak: requests and time of a build, a bind, a proof and a pass with nothing to do, and
// whether such a pass notices each thing that somebody may have changed by hand. On a real Keycloak.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { requiredChecks } from '../src/domain/keycloak-flow/proof.ts';
import type { FlowObservation } from '../src/domain/keycloak-flow/observation.ts';
import type { ExecutionRow, RequiredAction } from '../src/domain/keycloak-flow/representation.ts';
import { keycloakFlowSpec } from '../src/domain/keycloak-flow/spec.ts';
import type { KeycloakFlowStatus } from '../src/domain/keycloak-flow/status.ts';
import { desiredTree } from '../src/domain/keycloak-flow/tree.ts';
import {
  KEYCLOAK_FLOW_QUEUE,
  keycloakFlowId,
  keycloakFlowStatusQuery,
  keycloakFlowUpdate,
} from '../src/workflows/keycloak-flow/messages.ts';
import type { keycloakFlowWorkflow } from '../src/workflows/keycloak-flow/workflow.ts';
import { built, startFlowRig } from '../test/activities/keycloak/flow-rig.ts';
import { allowProbeClient, createProbeUsers, otpPolicy, probe } from '../test/activities/keycloak/probe-users.ts';
import { ownNamespace } from '../test/e2e/own-namespace.ts';
import { startCli } from '../test/e2e/start-cli.ts';
import { exampleInput } from '../test/domain/keycloak-flow/world.ts';
import { keycloakConfig } from '../test/lab/keycloak-config.ts';
import { createTestRealm } from '../test/lab/keycloak-realm.ts';
import { attachLab, startLab } from '../test/lab/lab.ts';
import { keycloakOf } from '../test/lab/parts/keycloak.ts';
import { waitFor } from '../test/lab/wait.ts';
import { spread } from './world.ts';

/** Passes with nothing to do. */
const PASSES = Number(process.env.HOLDFAST_BENCH_RUNS ?? 10);
/** What was set as the goal, requests. */
const GOAL = { build: 60, pass: 12 } as const;

const policyEdits = Object.entries({
  RpEntityName: 'Somebody else',
  RpId: 'other.example.com',
  RequireResidentKey: 'No',
  UserVerificationRequirement: 'preferred',
  AuthenticatorAttachment: 'platform',
  AttestationConveyancePreference: 'direct',
  SignatureAlgorithms: ['RS256', 'ES256'],
  AcceptableAaguids: ['adce0002-35bc-c60a-648b-0b25f1f05503'],
  CreateTimeout: 7,
  AvoidSameAuthenticatorRegister: false,
});

const running = process.env.HOLDFAST_LAB_DIR;
const lab = running === undefined ? await startLab({ parts: ['temporal', 'keycloak'] }) : await attachLab(running);
const realm = await createTestRealm(await keycloakOf(lab.env), { adminPermissionsEnabled: true, ...otpPolicy });
const rig = await startFlowRig(realm);
const { proxy } = rig;
const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
const namespace = await ownNamespace(lab.env, 'bench');
const worker = startWorker();
const connection = await Connection.connect({ address: lab.env.temporalAddress });
const handle = await startFlow();
try {
  await worker.says(/Worker polls/);
  const costs = [
    await costOf('first run: look, policy, build, until it waits to be bound', 1, () => phase('PendingBind')),
    await buildAlone(),
  ];
  costs.push(await costOf('login proof (6 logins)', 1, await prepareProof()));
  const { candidate } = await status();
  if (candidate === null) throw new Error('there is no candidate');
  const approval = {
    by: 'bench',
    reason: '',
    candidate: candidate.alias,
    plan: candidate.planHash,
    withoutProof: true,
  };
  costs.push(
    await costOf('bind, from the approval on', 1, async () => {
      await handle.executeUpdate(keycloakFlowUpdate('approve'), { args: [approval] });
      await phase('Bound');
    }),
  );
  await runNow(); // the first one after a bind still says what happened
  costs.push(await costOf('pass with nothing to do', PASSES, runNow));
  const drifts = await noticeDrifts();

  console.table(costs.map(({ what, requests, writes, ms }) => ({ what, requests, writes, 'median ms': ms })));
  for (const drift of drifts.missed) console.log(`not noticed: ${drift}`);
  console.log(
    `drifts by hand noticed by one pass: ${drifts.all - drifts.missed.length} of ${drifts.all}, in ${drifts.most} requests at most and ${drifts.writes} writes`,
  );
  console.log('requests for tokens aside; times are of whole workflows, but for the build alone and the proof');
  console.log(`${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown processor'}`);
  const [, build, , , pass] = costs;
  const missed =
    (build?.requests ?? Infinity) > GOAL.build ||
    (pass?.requests ?? Infinity) > GOAL.pass ||
    (pass?.writes ?? Infinity) > 0 ||
    drifts.missed.length > 0 ||
    drifts.most > GOAL.pass ||
    drifts.writes > 0;
  if (missed) process.exitCode = 1;
} finally {
  await handle.terminate('the benchmark is over').catch(() => undefined);
  worker.signal('SIGKILL');
  await worker.exited;
  await connection.close();
  await rig.close();
  rmSync(folder, { recursive: true, force: true });
  if (running === undefined) await lab.stop();
}

function startWorker() {
  const server = keycloakConfig(folder, realm, proxy.url);
  const config = join(folder, 'worker.yaml');
  writeFileSync(config, JSON.stringify({ keycloak: { default: server }, listen: '127.0.0.1:0' }));
  return startCli(['worker', '--capabilities', 'keycloak-flow', '--config', config, '--log-level', 'error'], {
    TEMPORAL_ADDRESS: lab.env.temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
  });
}

function startFlow() {
  const desired = { ...exampleInput(), realm: realm.realm };
  const spec = keycloakFlowSpec.parse({ mode: 'Enforce', desired, interval: '1h' });
  return new Client({ connection, namespace }).workflow.start<typeof keycloakFlowWorkflow>('keycloakFlowWorkflow', {
    workflowId: keycloakFlowId(rig.input.name),
    taskQueue: KEYCLOAK_FLOW_QUEUE,
    args: [{ name: rig.input.name, spec }],
  });
}

function status(): Promise<KeycloakFlowStatus> {
  return handle.query(keycloakFlowStatusQuery);
}

function phase(wanted: KeycloakFlowStatus['phase']): Promise<void> {
  return waitFor(
    `the phase ${wanted}`,
    async () => {
      const seen = await status();
      if (seen.phase === wanted) return true;
      throw new Error(JSON.stringify(seen));
    },
    120_000,
    20,
  ).then(() => undefined);
}

async function runNow(): Promise<void> {
  const { runs } = await status();
  await handle.executeUpdate(keycloakFlowUpdate('runNow'), { args: [{ by: 'bench', reason: '' }] });
  await waitFor('another run', async () => (await status()).runs > runs, 120_000, 20);
}

/** The proof is made by the rig itself: in a workflow it is a part of the build's run. */
async function prepareProof(): Promise<() => Promise<void>> {
  const users = await createProbeUsers(rig);
  await allowProbeClient(realm, users.clientId);
  const { flowId, treeHash } = await built(rig);
  const checks = requiredChecks(desiredTree(rig.desired), ['member', 'administrator', 'bareAdministrator']);
  const command = { do: 'prove', candidate: rig.names[0] ?? '', flowId, treeHash, checks } as const;
  return async () => {
    const outcome = await rig.run('proveLogin', { probe, probeClient: probe.client, command });
    if (outcome.kind !== 'passed') throw new Error(JSON.stringify(outcome));
  };
}

/** In a realm of its own, without the looks and the policy that a run has beside it. */
async function buildAlone(): Promise<Cost> {
  const another = await startFlowRig(await createTestRealm(await keycloakOf(lab.env)));
  try {
    const began = performance.now();
    await built(another);
    const ms = Math.round(performance.now() - began);
    const { passed } = another.proxy;
    return { what: 'build of the flow alone', requests: passed.length, writes: another.proxy.writes().length, ms };
  } finally {
    await another.close();
  }
}

interface Cost {
  readonly what: string;
  /** Of each, at most. */
  readonly requests: number;
  readonly writes: number;
  readonly ms: number;
}

/** Requests for tokens aside. */
async function costOf(what: string, times: number, work: () => Promise<void>): Promise<Cost> {
  const [requests, writes, took]: number[][] = [[], [], []];
  for (let count = 0; count < times; count += 1) {
    // The flow began before the worker, so that the first count has everything.
    if (!what.startsWith('first run')) proxy.clear();
    const began = performance.now();
    await work();
    took?.push(performance.now() - began);
    requests?.push(proxy.passed.length);
    writes?.push(proxy.writes().filter(({ path }) => path.startsWith('/admin')).length);
  }
  return {
    what,
    requests: Math.max(...(requests ?? [])),
    writes: Math.max(...(writes ?? [])),
    ms: Math.round(spread(took ?? []).median),
  };
}

interface Drifts {
  readonly all: number;
  readonly missed: readonly string[];
  /** Requests of a pass, at most. */
  readonly most: number;
  readonly writes: number;
}

/** Changes one thing after the other by hand, looks, and takes it back. */
async function noticeDrifts(): Promise<Drifts> {
  const missed: string[] = [];
  let [all, most, writes] = [0, 0, 0];

  async function look(): Promise<FlowObservation> {
    proxy.clear();
    const seen = await rig.run('observeRealm');
    most = Math.max(most, proxy.passed.length);
    writes += proxy.writes().length;
    return seen;
  }

  /** @param edit changes it, and gives back what takes it back */
  async function drift(what: string, edit: () => Promise<() => Promise<unknown>>): Promise<void> {
    if (isDrifted(await look())) throw new Error(`before "${what}" the realm is not as declared`);
    const back = await edit();
    all += 1;
    if (!isDrifted(await look())) missed.push(what);
    await back();
  }

  for (const [key, value] of policyEdits) {
    await drift(`policy key ${key}`, async () => {
      const before = await editRealm({ [`webAuthnPolicyPasswordless${key}`]: value });
      return () => realm.ask('PUT', '', before);
    });
  }
  for (const fields of [{ enabled: false }, { defaultAction: true }]) {
    await drift(`required action ${JSON.stringify(fields)}`, async () => {
      const path = '/authentication/required-actions/webauthn-register-passwordless';
      const before = await realm.ask<RequiredAction>('GET', path);
      await realm.ask('PUT', path, { ...before, ...fields });
      return () => realm.ask('PUT', path, before);
    });
  }

  const bound = rig.names[0] ?? '';
  const listed = await rowsOf(bound);
  for (const [index, row] of listed.entries()) {
    const path = `/authentication/flows/${bound}/executions`;
    const set = (requirement: string) => realm.ask('PUT', path, { id: row.id, priority: row.priority, requirement });
    await drift(`requirement of row ${index}`, async () => {
      await set(row.requirement === 'DISABLED' ? 'REQUIRED' : 'DISABLED');
      return () => set(row.requirement);
    });
  }
  const flows = [bound, ...listed.flatMap((row) => ((row.flowId ?? '') === '' ? [] : [row.displayName ?? '']))];
  for (const alias of flows) {
    const path = `/authentication/flows/${encodeURIComponent(alias)}/executions`;
    for (const [kind, body] of [
      ['execution', { provider: 'auth-otp-form' }],
      ['flow', { alias: `by hand in ${alias}`, type: 'basic-flow', description: '' }],
    ] as const) {
      await drift(`a ${kind} added to ${alias}`, async () => {
        const known = new Set((await rowsOf(alias)).map(({ id }) => id));
        await realm.ask('POST', `${path}/${kind}`, body);
        const added = (await rowsOf(alias)).find(({ id }) => !known.has(id));
        return () => realm.ask('DELETE', `/authentication/executions/${added?.id ?? ''}`);
      });
    }
  }
  const first = listed[0]?.id ?? '';
  await drift('two rows swapped', async () => {
    await realm.ask('POST', `/authentication/executions/${first}/lower-priority`);
    return () => realm.ask('POST', `/authentication/executions/${first}/raise-priority`);
  });
  const configured = listed.find(({ authenticationConfig }) => (authenticationConfig ?? '') !== '');
  const config = `/authentication/config/${configured?.authenticationConfig ?? ''}`;
  for (const values of [
    { condUserRole: 'nobody', negate: 'false' },
    { condUserRole: 'platform-admin', negate: 'true' },
    { 'condition.evaluated.user.role': 'platform-admin', negate: 'false' },
    { condUserRole: 'platform-admin' },
  ]) {
    await drift(`configuration ${JSON.stringify(values)}`, async () => {
      const before = await realm.ask<object>('GET', config);
      await realm.ask('PUT', config, { ...before, config: values });
      return () => realm.ask('PUT', config, before);
    });
  }
  // These two are not taken back, since what is made anew is another row.
  await drift('the configuration taken away', async () => {
    const before = await realm.ask<object>('GET', config);
    await realm.ask('DELETE', config);
    return () => realm.ask('POST', `/authentication/executions/${configured?.id ?? ''}/config`, before);
  });
  await drift('a row taken away', async () => {
    await realm.ask('DELETE', `/authentication/executions/${first}`);
    return () => Promise.resolve();
  });
  return { all, missed, most, writes };
}

function rowsOf(alias: string): Promise<ExecutionRow[]> {
  return realm.ask('GET', `/authentication/flows/${encodeURIComponent(alias)}/executions`);
}

/** @returns the realm as it was */
async function editRealm(fields: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
  const before = await realm.ask<Record<string, unknown>>('GET', '');
  await realm.ask('PUT', '', { ...before, ...fields });
  return before;
}

/** Whether a reading says that anything of it is not as declared. @throws Error where something could not be read */
function isDrifted({ realm: seen, requiredAction, bound }: FlowObservation): boolean {
  if (seen.kind !== 'read' || requiredAction.kind !== 'read' || bound.kind !== 'read') {
    throw new Error(JSON.stringify([seen, requiredAction, bound]));
  }
  return (
    seen.value.policyDrift.length > 0 || requiredAction.value.state.kind !== 'asDeclared' || !bound.value.asDeclared
  );
}
