import { MockActivityEnvironment } from '@temporalio/testing';
import { createKeycloakClient, type KeycloakClient } from '../../../src/activities/keycloak/client.ts';
import { createKeycloakFlowActivities } from '../../../src/activities/keycloak/create.ts';
import type { FlowInput, KeycloakFlowActivities } from '../../../src/activities/keycloak/port.ts';
import { read, unmeasured } from '../../../src/domain/core/verdict.ts';
import { candidates } from '../../../src/domain/keycloak-flow/candidate-name.ts';
import type { DesiredState } from '../../../src/domain/keycloak-flow/desired.ts';
import type { BindCommand, BuildOutcome } from '../../../src/domain/keycloak-flow/run.ts';
import { startKeycloakProxy, type KeycloakProxy } from '../../doubles/keycloak-proxy.ts';
import { desired, type ExampleInput } from '../../domain/keycloak-flow/world.ts';

/** Any Keycloak with a realm and a service account in it: the real one or the double. */
export interface RealmUnderTest {
  readonly url: string;
  readonly realm: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** As the administrator, below the realm, past the proxy. */
  ask<T = unknown>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<T>;
  delete(): Promise<void>;
}

/** The activities of one KeycloakFlow on a realm, behind a proxy. */
export interface FlowRig {
  readonly realm: RealmUnderTest;
  readonly proxy: KeycloakProxy;
  readonly client: KeycloakClient;
  readonly desired: DesiredState;
  readonly input: FlowInput;
  /** The aliases of the candidates. */
  readonly names: readonly string[];
  /** Files that the bind switch may stand in, by path. */
  readonly files: Map<string, string>;
  /** The worker's secrets, by name. */
  readonly secrets: Map<string, string>;
  run<K extends keyof KeycloakFlowActivities>(
    activity: K,
    input?: Partial<Parameters<KeycloakFlowActivities[K]>[0]>,
    env?: MockActivityEnvironment,
  ): Promise<Awaited<ReturnType<KeycloakFlowActivities[K]>>>;
  close(): Promise<void>;
}

export const SWITCH_FILE = '/etc/holdfast/bind';

/** @param change of the example's desired state */
export async function startFlowRig(
  realm: RealmUnderTest,
  change: (input: ExampleInput) => void = () => {},
  options: { readonly timeoutMs?: number; readonly clock?: () => number } = {},
): Promise<FlowRig> {
  const proxy = await startKeycloakProxy(realm.url);
  const of = desired((input) => {
    input.realm = realm.realm;
    change(input);
  });
  const client = createKeycloakClient({
    url: proxy.url,
    plainHttp: true,
    tokenRealm: realm.realm,
    credentials: () => Promise.resolve(read({ clientId: realm.clientId, clientSecret: realm.clientSecret })),
    timeoutMs: options.timeoutMs ?? 30_000,
  });
  const files = new Map<string, string>();
  const secrets = new Map<string, string>();
  const activities = createKeycloakFlowActivities({
    keycloak: (server) => (server === 'default' ? client : null),
    kubernetes: () => null,
    rereadAfterMs: 1,
    secret: (name) => {
      const value = secrets.get(name);
      return Promise.resolve(value === undefined ? unmeasured(name, 'the test', 'missing', 'not set') : read(value));
    },
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    readFile: (path) => {
      const text = files.get(path);
      if (text !== undefined) return Promise.resolve(text);
      return Promise.reject(Object.assign(new Error('no such file'), { code: 'ENOENT' }));
    },
  });
  const input: FlowInput = {
    name: 'shop-login',
    server: 'default',
    mode: 'Enforce',
    desired: of,
    bind: { file: SWITCH_FILE },
    probeClient: null,
  };
  return {
    realm,
    proxy,
    client,
    desired: of,
    input,
    names: candidates(of).map((candidate) => candidate.alias),
    files,
    secrets,
    run: (activity, overrides = {}, env = new MockActivityEnvironment()) =>
      env.run(activities[activity] as never, { ...input, ...overrides } as never),
    async close() {
      await client.close();
      await proxy.close();
      await realm.delete();
    },
  };
}

export type Built = Extract<BuildOutcome, { kind: 'built' }>;

/** Builds the first candidate. @throws Error where it does not come to that */
export async function built(rig: FlowRig, candidate = rig.names[0] ?? ''): Promise<Built> {
  const outcome = await rig.run('buildCandidate', { candidate });
  if (outcome.kind !== 'built') throw new Error(`not built: ${JSON.stringify(outcome)}`);
  return outcome;
}

/** The command that binds what was built, as a run would give it. */
export function bindCommand(
  rig: FlowRig,
  { flowId, treeHash }: Built,
  overrides: Partial<BindCommand> = {},
): BindCommand {
  return {
    do: 'bind',
    candidate: rig.names[0] ?? '',
    flowId,
    treeHash,
    from: 'browser',
    bindSwitch: 'absent',
    by: 'alice',
    away: [],
    ...overrides,
  };
}
