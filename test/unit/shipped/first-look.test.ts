import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { nodeRebootSpec } from '../../../src/domain/node-reboot/spec.ts';
import { rebootConfigCheck, rebootNameChecks } from '../../../src/starters/doctor/reboot-rights.ts';
import { readWorkerConfig, type WorkerConfig } from '../../../src/worker/config.ts';
import { requireNodeReboot } from '../../../src/worker/node-reboot-activities.ts';
import { kustomized, shippedText, shippedYaml } from './manifests.ts';

const root = new URL('../../../', import.meta.url);

function config(path: string): Promise<WorkerConfig> {
  return readWorkerConfig(fileURLToPath(new URL(path, root)));
}

function spec(path: string) {
  return nodeRebootSpec.parse(shippedYaml<{ spec: unknown }>(path).spec);
}

describe('a first look at the reboots of a cluster', () => {
  const folder = 'examples/node-reboot/first-look';

  test('needs what the README names, which is all there', () => {
    const [, commands = ''] =
      /(npm ci\nkubectl apply -k deploy\/node-reboot[^`]+)```/.exec(shippedText('README.md')) ?? [];
    const named = [...commands.matchAll(/(?:deploy|examples)\/[\w./-]+/g)].map(([path]) => path.replace(/\/$/, ''));
    expect(named).toEqual(['deploy/node-reboot/without-worker', folder]);
    for (const path of named) expect(existsSync(new URL(path, root)), path).toBe(true);
    const copied = [...commands.matchAll(/(?<= )[\w-]+\.yaml/g)].map(([file]) => file);
    expect(copied.length).toBeGreaterThan(3);
    for (const file of copied) expect(existsSync(new URL(`${folder}/${file}`, root)), file).toBe(true);
  });

  test('is by a worker outside of the cluster that takes reboots on, with an image that anybody can pull', async () => {
    const worker = await config(`${folder}/worker.yaml`);
    expect(worker.clusters).toEqual({ default: {} });
    expect(requireNodeReboot(worker).hostImage).toMatch(/^docker\.io\/library\/busybox:[\d.]+$/);
  });

  test('touches no node, and names nothing that its worker lacks', async () => {
    const shown = spec(`${folder}/node-reboot.yaml`);
    expect(shown.mode).toBe('Shadow');
    const worker = await config(`${folder}/worker.yaml`);
    expect(rebootNameChecks(worker, [shown])).toEqual([]);
    expect(rebootConfigCheck(worker).verdict.kind).toBe('pass');
  });

  test('brings the cluster the lock and no workload', () => {
    const kinds = kustomized('deploy/node-reboot/without-worker').map(({ kind }) => kind);
    expect(kinds).toContain('ConfigMap');
    expect(
      kinds.filter((kind) => !/^(?:Namespace|ServiceAccount|ConfigMap|(?:Cluster)?Role(?:Binding)?)$/.test(kind)),
    ).toEqual([]);
  });
});

test('the example of reboots names nothing that the example of its worker lacks', async () => {
  const checks = rebootNameChecks(await config('examples/node-reboot/worker.yaml'), [
    spec('examples/node-reboot/node-reboot.yaml'),
  ]);
  expect(checks.map(({ name }) => name)).toEqual(['etcd cluster default', 'Prometheus default']);
  expect(checks.filter(({ verdict }) => verdict.kind !== 'pass')).toEqual([]);
});
