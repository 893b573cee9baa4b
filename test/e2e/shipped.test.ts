import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createNamespace, deleteNamespace } from '../lab/access.ts';
import { findProgram } from '../lab/find/find-program.ts';
import { PROMETHEUS } from '../lab/find/programs.ts';
import { kube } from '../lab/kube-api.ts';
import { kustomized, shippedText, shippedYaml, type Manifest } from '../unit/shipped/manifests.ts';
import { startTestWorker } from './worker-in-process.ts';

const lab = inject('lab');
const root = fileURLToPath(new URL('../../', import.meta.url));
let namespace = '';

beforeAll(async () => {
  namespace = await createNamespace(lab, 'shipped');
});

afterAll(async () => {
  await deleteNamespace(lab, namespace);
});

const folders: Readonly<Record<string, string>> = {
  Namespace: 'api/v1/namespaces',
  ServiceAccount: 'api/v1/namespaces/NAMESPACE/serviceaccounts',
  ConfigMap: 'api/v1/namespaces/NAMESPACE/configmaps',
  Pod: 'api/v1/namespaces/NAMESPACE/pods',
  Deployment: 'apis/apps/v1/namespaces/NAMESPACE/deployments',
  PodDisruptionBudget: 'apis/policy/v1/namespaces/NAMESPACE/poddisruptionbudgets',
  Role: 'apis/rbac.authorization.k8s.io/v1/namespaces/NAMESPACE/roles',
  RoleBinding: 'apis/rbac.authorization.k8s.io/v1/namespaces/NAMESPACE/rolebindings',
  ClusterRole: 'apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: 'apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
};

/** As if applied, in this test's namespace: refused where a field is unknown or a value is not allowed. */
async function dryRun(object: Manifest): Promise<void> {
  const folder = folders[object.kind]?.replace('NAMESPACE', namespace);
  if (folder === undefined) throw new Error(`where do objects of kind ${object.kind} go?`);
  const { namespace: own, ...metadata } = object.metadata;
  const body = own === undefined ? object : { ...object, metadata: { ...metadata, namespace } };
  const query = 'dryRun=All&fieldValidation=Strict&force=true&fieldManager=test';
  await kube(lab, 'PATCH', `/${folder}/${metadata.name}?${query}`, {
    body,
    contentType: 'application/apply-patch+yaml',
  });
}

async function findPromtool(): Promise<string> {
  const promtool = join(dirname(await findProgram(PROMETHEUS, () => undefined)), 'promtool');
  expect(existsSync(promtool), `${promtool} is beside prometheus`).toBe(true);
  return promtool;
}

describe('deploy/', () => {
  test.each([
    ['release/shadow', 8],
    ['release/enforce', 8],
    ['keycloak-flow', 5],
    ['node-reboot', 9],
  ])('%s is accepted by the API server, field by field', async (folder, more) => {
    const objects = kustomized(`deploy/${folder}`);
    expect(objects.length).toBeGreaterThan(more);
    for (const object of objects) await dryRun(object);
  });

  test("the worker's pod is let in where its own namespace demands the restricted standard", async () => {
    const objects = kustomized('deploy/base');
    const labels = objects.find(({ kind }) => kind === 'Namespace')?.metadata.labels ?? {};
    expect(labels).toEqual({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    await kube(lab, 'PATCH', `/api/v1/namespaces/${namespace}`, {
      body: { metadata: { labels } },
      contentType: 'application/merge-patch+json',
    });
    const deployment = objects.find(({ kind }) => kind === 'Deployment') as unknown as {
      spec: { template: { spec: { containers: [{ securityContext: object }] } } };
    };
    const { spec } = deployment.spec.template;
    const pod = (more: object) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'worker', namespace },
      // The account of that name is in another namespace.
      spec: { ...spec, serviceAccountName: 'default', ...more },
    });
    await dryRun(pod({}));
    await expect(dryRun(pod({ hostNetwork: true }))).rejects.toThrow(/violates PodSecurity/);
  });

  test.each([
    ['release', 'release'],
    ['keycloak-flow', 'keycloak-flow'],
    ['node-reboot', 'node-reboot'],
  ] as const)(
    'the rules for Prometheus of %s are rules, over metrics that its worker has',
    async (name, capability) => {
      const promtool = await findPromtool();
      const path = `deploy/alerts/${name}.yaml`;
      execFileSync(promtool, ['check', 'rules', fileURLToPath(new URL(`../../${path}`, import.meta.url))], {
        stdio: 'pipe',
      });

      const { groups } = shippedYaml<{ groups: { rules: { expr: string }[] }[] }>(path);
      const used = groups.flatMap(({ rules: all }) =>
        all.flatMap(({ expr }) => expr.replace(labelLists, '').match(/\b[a-z]+_[a-z_]+\b(?!\()/g) ?? []),
      );
      const worker = await startTestWorker(lab, lab.kubeconfig, { nodeReboot: { hostImage: 'busybox' } }, [capability]);
      try {
        const text = await (await fetch(`http://${worker.health}/metrics`)).text();
        const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]));
        expect(used.length).toBeGreaterThan(0);
        expect(used.filter((metric) => !known.has(metric))).toEqual([]);
      } finally {
        await worker.stop();
      }
    },
  );
});

/** What of an expression names labels, and no metrics. */
const labelLists = /\{[^}]*\}|\b(?:by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)/g;

describe('the rules of reboots', () => {
  const node = { campaign: 'control-plane', reboot_cluster: 'default', reboot_node: 'n1' };
  const alertname = 'HoldfastNodeRebootPending';
  const at = (time: string, alerts: readonly object[]) => ({ eval_time: time, alertname, exp_alerts: alerts });
  const pending = {
    exp_labels: { severity: 'warning', ...node },
    exp_annotations: {
      summary: 'node n1 has wanted a reboot for a day and a half',
      action: 'holdfast status nodereboot/control-plane says why it does not go',
    },
  };

  function seriesOf(name: string, labels: Readonly<Record<string, string>>): string {
    const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    return `${name}{${pairs.join(', ')}}`;
  }

  const wanted = (instance: string) => seriesOf('node_reboot_node', { ...node, reboot: 'wanted', instance });

  /** @param tests of `promtool test rules`, with samples of five minutes */
  async function check(tests: readonly object[]): Promise<void> {
    const dir = mkdtempSync(join(tmpdir(), 'holdfast-rules-'));
    try {
      const rules = fileURLToPath(new URL('../../deploy/alerts/node-reboot.yaml', import.meta.url));
      const file = join(dir, 'test.yaml');
      const of = tests.map((one) => ({ interval: '5m', ...one }));
      writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '5m', tests: of }));
      execFileSync(await findPromtool(), ['test', 'rules', file], { stdio: 'pipe', encoding: 'utf8' });
    } finally {
      rmSync(dir, { recursive: true });
    }
  }

  test('NR-10 a node that has wanted a reboot for 36 hours is told of once, whoever measures it, until it is rebooted', async () => {
    // 40 hours of wanting it, then not. The second worker is away for ten minutes of them.
    const first = { series: wanted('a'), values: '1x479 0x60' };
    const second = { series: wanted('b'), values: '1x100 _x2 1x376 0x60' };
    await check([
      {
        input_series: [first, second],
        alert_rule_test: [at('35h', []), at('37h', [pending]), at('40h', [pending]), at('41h', [])],
      },
      // The one worker that there is moves to another node meanwhile.
      { input_series: [second], alert_rule_test: [at('35h', []), at('37h', [pending]), at('41h', [])] },
    ]);
  });

  test('a weekend without a window is no fault of a node, and one that stays after the next window is told of', async () => {
    const waits = { campaign: 'control-plane', reboot_cluster: 'default', reason: 'OutsideWindow', who: 'time' };
    // From Friday 05:00: 89 hours until the window of Monday night, seven hours of it, and seventeen until the next.
    const time = {
      series: seriesOf('node_reboot_waiting', { ...waits, instance: 'a' }),
      values: '1x1067 _x84 1x203 _x84',
    };
    await check([
      {
        input_series: [{ series: wanted('a'), values: '1x1600' }, time],
        alert_rule_test: [at('37h', []), at('89h', []), at('100h', []), at('126h', [pending])],
      },
      {
        input_series: [{ series: wanted('a'), values: '1x1070 0x530' }, time],
        alert_rule_test: [at('89h', []), at('126h', [])],
      },
    ]);
  });

  test('name the node that hangs, where the scrape configuration says that of the worker', async () => {
    // What is exported as `node` would now be `exported_node`.
    const hung = seriesOf('node_reboot_hung', { ...node, node: 'where-the-worker-is', cluster: 'here' });
    const alert = {
      exp_labels: { severity: 'critical', ...node },
      exp_annotations: {
        summary: 'nodereboot/control-plane: node n1 was told to reboot and has not come back',
        action: 'press its power button; the lock is held, and no other node is touched',
      },
    };
    const one = { eval_time: '10m', alertname: 'HoldfastNodeHangs', exp_alerts: [alert] };
    await check([{ input_series: [{ series: hung, values: '1x10' }], alert_rule_test: [one] }]);
  });

  test('tell of a stop without a node in a whole sentence', async () => {
    const { campaign, reboot_cluster } = node;
    const labels = { campaign, reboot_cluster, reason: 'LockLost' };
    const alert = {
      exp_labels: { severity: 'critical', ...labels },
      exp_annotations: {
        summary: 'nodereboot/control-plane has stopped: LockLost',
        action: 'holdfast status nodereboot/control-plane',
      },
    };
    const one = { eval_time: '10m', alertname: 'HoldfastNodeRebootStopped', exp_alerts: [alert] };
    const series = seriesOf('node_reboot_stopped', { ...labels, reboot_node: '' });
    await check([{ input_series: [{ series, values: '1x10' }], alert_rule_test: [one] }]);
  });
});

describe('the image', () => {
  /** What a stage of the Dockerfile copies out of the one that builds. */
  function copied(): string[] {
    return [...shippedText('Dockerfile').matchAll(/^COPY --from=\w+ \/src\/(\S+) /gm)].flatMap(
      (match) => match[1] ?? [],
    );
  }

  test('holds all that a command needs, built by nothing but Node', () => {
    const dir = mkdtempSync(join(tmpdir(), 'holdfast-image-'));
    try {
      const source = join(dir, 'src');
      mkdirSync(source);
      for (const part of ['bin', 'src', 'scripts', 'package.json', 'tsconfig.json', 'tsconfig.build.json'])
        cpSync(join(root, part), join(source, part), { recursive: true });
      symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'));
      // As in the image's build: no npm that puts the packages' own commands on PATH.
      const env = { PATH: '/usr/bin:/bin' };
      const build = spawnSync(process.execPath, ['scripts/build.ts'], { cwd: source, env, encoding: 'utf8' });
      expect(build.status, build.stderr).toBe(0);
      expect(readdirSync(join(source, 'dist'))).toContain('workflow-bundle.js');

      const app = join(dir, 'app');
      mkdirSync(app);
      expect(copied().sort()).toEqual(['bin', 'dist', 'node_modules', 'package.json']);
      for (const part of copied()) symlinkSync(join(source, part), join(app, part));
      const run = spawnSync(
        process.execPath,
        ['--preserve-symlinks', '--preserve-symlinks-main', join(app, 'bin', 'holdfast.js'), '--version'],
        { env, encoding: 'utf8' },
      );
      expect(run.stderr).toBe('');
      expect(run.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test("keeps of Temporal's native libraries the one that its own platform loads", () => {
    const kept = /releases .*! -name "\$\(uname -m\)-([\w-]+)"/.exec(shippedText('Dockerfile'))?.[1];
    const releases = readdirSync(join(root, 'node_modules', '@temporalio', 'core-bridge', 'releases'));
    expect(releases).toEqual(expect.arrayContaining([`x86_64-${kept}`, `aarch64-${kept}`]));
  });
});
