import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments, parse } from 'yaml';
import { fail, pass, unmeasured } from '../../../src/domain/core/verdict.ts';
import { keycloakFlowSpec } from '../../../src/domain/keycloak-flow/spec.ts';
import { nodeRebootSpec } from '../../../src/domain/node-reboot/spec.ts';
import { releaseSpec } from '../../../src/domain/release/spec.ts';
import { checksExitCode, checksView } from '../../../src/starters/doctor/check.ts';
import { clusterNeeds, unknownClusters } from '../../../src/starters/doctor/needs.ts';
import {
  describeRight,
  incumbentRights,
  nodeRights,
  releaseRights,
} from '../../../src/starters/doctor/release-rights.ts';
import { kubernetesChecks } from '../../../src/starters/doctor/kubernetes-checks.ts';
import { notifyChecks } from '../../../src/starters/doctor/notify-checks.ts';
import {
  rebootClusterNeeds,
  rebootNameChecks,
  rebootConfigCheck,
  rebootRights,
} from '../../../src/starters/doctor/reboot-rights.ts';
import { flowClusterNeeds, flowRights } from '../../../src/starters/doctor/flow-rights.ts';
import { skewVerdict } from '../../../src/starters/doctor/temporal-checks.ts';
import { versionChecks } from '../../../src/starters/doctor/version-checks.ts';
import { readSpecs } from '../../../src/starters/spec-files.ts';
import { searchAttributes } from '../../../src/starters/temporal/search-attributes.ts';
import { readWorkerConfig } from '../../../src/worker/config.ts';
import { releaseSearchAttributes } from '../../../src/workflows/release/search-attributes.ts';
import { exampleInput } from '../../domain/keycloak-flow/world.ts';
import { startApiServer, status } from '../../doubles/api-server.ts';
import { SEARCH_ATTRIBUTES } from '../../lab/parts/temporal.ts';
import { releaseStatus } from './release-status.ts';
import { runCli, stackTraceIn } from './run-cli.ts';

const flowExample = fileURLToPath(new URL('../../../examples/keycloak-flow/keycloak-flow.yaml', import.meta.url));
const example = fileURLToPath(new URL('../../../examples/release.yaml', import.meta.url));

interface Role {
  kind: string;
  metadata: { name: string };
  rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
}

/** `verb resource.group` of every rule in a manifest's roles. */
function granted(path: string, kinds: readonly string[] = ['ClusterRole']): string[] {
  const documents = parseAllDocuments(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'));
  const roles = documents.map((document) => document.toJS() as Role).filter(({ kind }) => kinds.includes(kind));
  return roles
    .flatMap(({ rules }) => rules)
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.map((verb) => {
            const [name = '', subresource] = resource.split('/');
            return describeRight({
              verb,
              group,
              resource: name,
              ...(subresource === undefined ? {} : { subresource }),
            });
          }),
        ),
      ),
    )
    .sort();
}

const kinds = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;

describe('what doctor asks for is what deploy/ grants', () => {
  test('reading, for Observe and Shadow', () => {
    const incumbents = incumbentRights('ops').map(({ verb, group, resource }) => ({ verb, group, resource }));
    const asked = [...releaseRights(undefined, kinds).read, ...nodeRights, ...incumbents];
    expect([...new Set(asked.map(describeRight))].sort()).toEqual(granted('deploy/release/shadow/rbac.yaml'));
  });

  test('writing, for Enforce', () => {
    expect(releaseRights(undefined, kinds).write.map(describeRight).sort()).toEqual(
      granted('deploy/release/enforce/rbac.yaml'),
    );
  });

  test('for reboots, all that they may do, with every gate on', () => {
    const gates = { nfs: { servers: ['nas'] }, longhorn: { volumes: 3 }, cloudNativePG: { clusters: 1 }, kubeVirt: {} };
    const spec = nodeRebootSpec.parse({ nodes: ['n1'], gates, incumbents: [{}] });
    const { read, write } = rebootRights(spec);
    const asked = [...read, ...write].map(({ namespace: _namespace, ...review }) => describeRight(review));
    const kinds = ['ClusterRole', 'Role'];
    expect([...new Set(asked)].sort()).toEqual(
      [...new Set(granted('deploy/node-reboot/without-worker/rbac.yaml', kinds))].sort(),
    );
  });

  test('in Shadow nothing that writes is among the readings', () => {
    const verbs = new Set(releaseRights('shop', kinds).read.map(({ verb }) => verb));
    expect([...verbs].sort()).toEqual(['get', 'list', 'watch']);
  });
});

describe('what doctor asks for a login flow is what deploy/keycloak-flow grants, by name and no more', () => {
  test('the example with the configuration that is shipped', async () => {
    const [document] = (await readSpecs([flowExample])).specs;
    const config = await readWorkerConfig(
      fileURLToPath(new URL('../../../examples/keycloak-flow/worker.yaml', import.meta.url)),
    );
    const specs = document?.kind === 'KeycloakFlow' ? [document.spec] : [];
    const asked = flowRights(config, specs).get('default') ?? [];
    const rules = parseAllDocuments(
      readFileSync(new URL('../../../deploy/keycloak-flow/rbac.yaml', import.meta.url), 'utf8'),
    )
      .map(
        (each) =>
          each.toJS() as { kind: string; rules: { resources: string[]; resourceNames: string[]; verbs: string[] }[] },
      )
      .find(({ kind }) => kind === 'Role')?.rules;
    const allowed = (rules ?? []).flatMap(({ resources, resourceNames, verbs }) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${resource} ${name}`)),
      ),
    );
    expect(asked.every(({ namespace }) => namespace === 'holdfast')).toBe(true);
    expect(asked.map(({ verb, resource, name }) => `${verb} ${resource} ${name ?? ''}`).sort()).toEqual(allowed.sort());
  });

  test('a cluster in which nothing is read is not asked', () => {
    const config = { clusters: {}, registries: {}, notify: [], freeze: [], keycloak: {}, secrets: {}, listen: '' };
    const spec = keycloakFlowSpec.parse({ desired: exampleInput(), bind: { file: '/etc/bind' } });
    expect(flowClusterNeeds(config, [spec])).toEqual([]);
  });
});

describe('search attributes', () => {
  test('that dev and doctor know are those that workflows set, and that the lab and compose register', () => {
    const set = Object.fromEntries(
      releaseSearchAttributes(releaseStatus()).map(({ key }) => [
        key.name,
        key.type === 'KEYWORD' ? 'Keyword' : 'KeywordList',
      ]),
    );
    expect(searchAttributes).toEqual(set);
    expect(searchAttributes).toEqual(SEARCH_ATTRIBUTES);
    const compose = parse(readFileSync(new URL('../../../docker-compose.yml', import.meta.url), 'utf8')) as {
      services: { temporal: { command: string[] } };
    };
    const flags = compose.services.temporal.command.filter((flag) => flag.startsWith('--search-attribute='));
    expect(flags.sort()).toEqual(
      Object.entries(searchAttributes)
        .map(([name, type]) => `--search-attribute=${name}=${type}`)
        .sort(),
    );
  });
});

describe('doctor', () => {
  const spec = releaseSpec.parse({
    mode: 'Enforce',
    image: 'a/b',
    track: { tag: 'edge' },
    incumbents: [{ namespace: 'ops', name: 'nightly' }],
    targets: [
      { namespace: 'shop', deployment: 'web', container: 'web' },
      { namespace: 'shop', name: 'other', deployment: 'api', container: 'web' },
      { namespace: 'far', statefulSet: 'db', container: 'db', cluster: 'edge' },
    ],
  });
  const config = { clusters: {}, registries: {}, notify: [], freeze: [], keycloak: {}, secrets: {}, listen: '' };

  test('asks in the namespaces of the specs for the kinds that are there, each once', () => {
    const [needs] = clusterNeeds(config, [spec], undefined);
    expect(needs).toMatchObject({ config: { name: 'default' }, mode: 'Enforce' });
    const read = needs?.read.map(describeRight) ?? [];
    expect(new Set(read).size).toBe(read.length);
    expect(read).toContain('list deployments.apps in shop');
    expect(read).toContain('get cronjobs.batch in ops');
    expect(read.join()).not.toContain('statefulsets');
    expect(needs?.write.map(describeRight)).toContain('patch deployments.apps in shop');
  });

  test('names a cluster that the configuration does not have', () => {
    expect(unknownClusters(config, [spec])).toEqual(['edge']);
    expect(unknownClusters({ ...config, clusters: { default: {}, edge: {} } }, [spec])).toEqual([]);
  });

  test('a wrong clock is told with its direction, an agreeing one passes', () => {
    expect(skewVerdict(4_000).kind).toBe('pass');
    expect(skewVerdict(60_000)).toMatchObject({
      kind: 'fail',
      message: expect.stringContaining('1m ahead of') as string,
    });
    expect(skewVerdict(-60_000)).toMatchObject({
      kind: 'fail',
      message: expect.stringContaining('1m behind') as string,
    });
  });

  test('a Node whose Temporal global is not deterministic is wrong', () => {
    expect(versionChecks('26.0.0')[0]?.verdict.kind).toBe('fail');
    expect(versionChecks('24.21.0')[0]?.verdict.kind).toBe('pass');
  });

  test('what is wrong outweighs what could not be looked at, and each has its fix', () => {
    const right = { name: 'a', verdict: pass('fine'), fix: 'none needed' };
    const unknown = { name: 'b', verdict: unmeasured('b', 'here', 'timeout', 'no answer'), fix: 'ask again' };
    const wrong = { name: 'c', verdict: fail('Broken', 'broken'), fix: 'mend it' };
    expect(checksExitCode([right])).toBe(0);
    expect(checksExitCode([right, unknown])).toBe(3);
    expect(checksExitCode([right, unknown, wrong])).toBe(1);
    const view = checksView([right, unknown, wrong]);
    expect(view).toContain('fix: ask again');
    expect(view).toContain('fix: mend it');
    expect(view).not.toContain('none needed');
  });

  test('where nothing is reachable each line says so, and nothing is called wrong', async () => {
    const env = { TEMPORAL_ADDRESS: '127.0.0.1:1', KUBECONFIG: '/none/kubeconfig' };
    const run = await runCli(['doctor', '-f', example, '-o', 'json'], { env });
    expect(stackTraceIn(run)).toEqual([]);
    const { checks } = JSON.parse(run.stdout) as { checks: { name: string; verdict: string; message: string }[] };
    const verdicts = new Map(checks.map(({ name, verdict }) => [name, verdict]));
    expect(verdicts.get('versions')).toBe('pass');
    expect(verdicts.get('Temporal')).toBe('unmeasured');
    expect(verdicts.get('cluster default')).toBe('unmeasured');
    expect(run.code).toBe(3);
  });
});

describe('reboots', () => {
  const spec = (overrides: object = {}) => nodeRebootSpec.parse({ nodes: ['n1'], ...overrides });

  test('ask only for what their gates read, and in each cluster that they name', async () => {
    const config = { ...(await readWorkerConfig(undefined)), clusters: { default: {}, edge: {} } };
    const needs = rebootClusterNeeds(config, [spec({ gates: { dns: false, releases: false } })], undefined);
    expect(needs.map(({ config: { name }, mode }) => [name, mode])).toEqual([['default', 'Shadow']]);
    const groups = new Set(needs.flatMap(({ read }) => read).map(({ group }) => group));
    expect([...groups]).toEqual(['', 'policy']);
    expect(rebootClusterNeeds(config, [spec({ cluster: 'edge' })], 'Enforce')).toMatchObject([
      { config: { name: 'edge' }, mode: 'Enforce' },
    ]);
  });

  test('list the kinds of their own gates, and say of each whether they may and whether there is one', async () => {
    const gate = (kind: string, apiVersion: string) => ({
      ...{ name: kind.toLowerCase(), resource: { apiVersion, kind, namespace: 'shop' } },
      ...{ jsonPath: '.status.phase', equals: 'Ready', results: 1 },
    });
    const custom = [gate('ConfigMap', 'v1'), gate('Pod', 'v1'), gate('CephCluster', 'ceph.rook.io/v1')];
    const server = await startApiServer({});
    server.fault = ({ url }) =>
      url.includes('/pods') ? { kind: 'answer', ...status(403, 'Forbidden', 'no') } : undefined;
    try {
      const config = {
        ...(await readWorkerConfig(undefined)),
        clusters: { default: { kubeconfig: server.kubeconfig() } },
      };
      const [needs] = rebootClusterNeeds(config, [spec({ gates: { custom } }), spec({ gates: { custom } })], undefined);
      const checks = needs === undefined ? [] : await kubernetesChecks(needs);
      const lists = checks.filter(({ name }) => name.includes(': list '));
      expect(
        lists.map(({ name, verdict }) => [name, verdict.kind, 'reason' in verdict ? verdict.reason : null]),
      ).toEqual([
        ['cluster default: list ConfigMap', 'pass', null],
        ['cluster default: list Pod', 'fail', 'Denied'],
        ['cluster default: list CephCluster', 'fail', 'NotServed'],
      ]);
      expect(lists[1]?.fix).toContain('grant list of Pod of v1 in shop');
    } finally {
      await server.stop();
    }
  });

  test('need the command that they name, and are told which there are', async () => {
    const config = await readWorkerConfig(undefined);
    const bmc = { run: ['/usr/local/bin/power-cycle', '{node}'] as [string, ...string[]], timeout: 60_000 };
    const nodeReboot = { hostImage: 'busybox', commands: { bmc }, prometheus: {}, etcd: {} };
    const named = (command: string) => [spec({ method: { command } })];
    expect(rebootNameChecks({ ...config, nodeReboot }, named('bmc'))).toMatchObject([{ verdict: { kind: 'pass' } }]);
    expect(rebootNameChecks({ ...config, nodeReboot }, named('talos'))).toMatchObject([
      { verdict: { kind: 'fail', message: expect.stringContaining('has bmc') as string } },
    ]);
    expect(rebootNameChecks(config, named('bmc'))).toMatchObject([
      { verdict: { message: expect.stringContaining('has none') as string } },
    ]);
    expect(rebootNameChecks(config, [spec()])).toEqual([]);
  });

  test('the etcd clusters and Prometheus servers that gates name are looked for, too', async () => {
    const config = await readWorkerConfig(undefined);
    const gates = {
      etcd: { members: 3 },
      alerts: { prometheus: 'nope' },
      custom: [{ name: 'up', query: 'up', prometheus: 'main', results: 1 }],
    };
    const prometheus = { url: 'http://127.0.0.1:9090' };
    const nodeReboot = { hostImage: 'busybox', commands: {}, prometheus: { main: prometheus }, etcd: {} };
    const checks = rebootNameChecks({ ...config, nodeReboot }, [spec({ gates })]);
    expect(checks.map(({ name, verdict }) => [name, verdict.kind])).toEqual([
      ['etcd cluster default', 'fail'],
      ['Prometheus nope', 'fail'],
      ['Prometheus main', 'pass'],
    ]);
  });

  test('need the secrets of those who are told, which are not shown', async () => {
    const config = await readWorkerConfig(undefined);
    const dir = mkdtempSync(join(tmpdir(), 'holdfast-notify-'));
    try {
      writeFileSync(join(dir, 'webhook'), 'https://hooks.example.com/secret-path\n');
      writeFileSync(join(dir, 'token'), 'secret-token');
      const notify = ['webhook', 'token', 'nothing'].map((file) => ({
        name: file,
        webhook: { file: join(dir, file) },
        format: 'slack' as const,
      }));
      const checks = await notifyChecks({ ...config, notify });
      expect(checks.map(({ name, verdict }) => [name, verdict.kind])).toEqual([
        ['notify webhook', 'pass'],
        ['notify token', 'fail'],
        ['notify nothing', 'fail'],
      ]);
      expect(checks[2]?.verdict.message).toContain('cannot be read (ENOENT)');
      expect(JSON.stringify(checks)).not.toContain('secret-');
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test('of a worker in the cluster say from elsewhere how it is reached', async () => {
    const [check] = await kubernetesChecks({
      config: { name: 'default', inCluster: true },
      mode: 'Shadow',
      read: [],
      write: [],
      manifests: { read: 'r', write: 'w' },
    });
    expect(check?.fix).toContain('run doctor in the worker’s pod');
    expect(check?.fix).not.toContain('KUBECONFIG');
  });

  test('need an image for the pods on hosts', async () => {
    const config = await readWorkerConfig(undefined);
    expect(rebootConfigCheck(config)).toMatchObject({
      verdict: { kind: 'fail' },
      fix: expect.stringContaining('hostImage') as string,
    });
    expect(
      rebootConfigCheck({ ...config, nodeReboot: { hostImage: 'busybox', commands: {}, prometheus: {}, etcd: {} } })
        .verdict.kind,
    ).toBe('pass');
  });
});
