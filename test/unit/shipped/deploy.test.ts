import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { workerCommand } from '../../../src/starters/commands/worker.ts';
import { readWorkerConfig } from '../../../src/worker/config.ts';
import { kustomized, shippedText, type Manifest } from './manifests.ts';

interface Deployment extends Manifest {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly serviceAccountName: string;
        readonly containers: readonly [
          {
            readonly args: readonly string[];
            readonly env: readonly { readonly name: string; readonly value: string }[];
            readonly ports: readonly [{ readonly containerPort: number }];
            readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
          },
        ];
      };
    };
  };
}

interface ConfigMap extends Manifest {
  readonly data: Readonly<Record<string, string>>;
}

interface Role extends Manifest {
  readonly rules: readonly { readonly verbs: readonly string[] }[];
}

interface Binding extends Manifest {
  readonly roleRef: { readonly name: string };
  readonly subjects: readonly { readonly name: string; readonly namespace: string }[];
}

function only<T extends Manifest>(kind: string): T {
  const [found, ...others] = kustomized('deploy/base').filter((one) => one.kind === kind);
  if (found === undefined || others.length > 0) throw new Error(`deploy/base has not exactly one ${kind}`);
  return found as T;
}

const pod = only<Deployment>('Deployment').spec.template.spec;
const [container] = pod.containers;

describe('deploy/base', () => {
  test('gives the worker a configuration that it accepts, where it looks for it, on the port that is probed', async () => {
    const [file, text] = Object.entries(only<ConfigMap>('ConfigMap').data)[0] ?? ['', ''];
    const dir = mkdtempSync(join(tmpdir(), 'holdfast-deploy-'));
    try {
      writeFileSync(join(dir, file), text);
      const config = await readWorkerConfig(join(dir, file));
      expect(config.clusters).toEqual({ default: { inCluster: true } });
      expect(config.listen).toBe(`0.0.0.0:${container.ports[0].containerPort}`);
    } finally {
      rmSync(dir, { recursive: true });
    }
    const mount = container.volumeMounts.find(({ name }) => name === 'config')?.mountPath ?? '';
    expect(container.env).toContainEqual({ name: 'HOLDFAST_CONFIG', value: join(mount, file) });
  });

  test('starts a command that there is, with options that it knows', () => {
    const [command, ...options] = container.args;
    const worker = workerCommand();
    expect(command).toBe(worker.name());
    expect(worker.parseOptions(options)).toEqual({ operands: [], unknown: [] });
  });

  test('lets the worker hand back its work before it is killed', () => {
    const force = /SHUTDOWN_FORCE = '(\d+)s'/.exec(shippedText('src/worker/run-worker.ts'))?.[1];
    expect(Number(force)).toBeGreaterThan(0);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(force));
  });
});

describe('deploy/release', () => {
  test.each(['shadow', 'enforce'])('%s binds each of its roles to the very account that the worker runs as', (mode) => {
    const objects = kustomized(`deploy/release/${mode}`);
    const roles = objects.filter(({ kind }) => kind === 'ClusterRole').map(({ metadata }) => metadata.name);
    const bindings = objects.filter(({ kind }) => kind === 'ClusterRoleBinding') as Binding[];
    expect(bindings.map(({ roleRef }) => roleRef.name).sort()).toEqual(roles.sort());
    for (const { subjects } of bindings) {
      expect(subjects).toEqual([{ kind: 'ServiceAccount', name: pod.serviceAccountName, namespace: 'holdfast' }]);
    }
  });

  test('shadow brings no verb that writes', () => {
    const roles = kustomized('deploy/release/shadow').filter(({ kind }) => kind === 'ClusterRole') as Role[];
    const verbs = new Set(roles.flatMap(({ rules }) => rules.flatMap((rule) => rule.verbs)));
    expect([...verbs].sort()).toEqual(['get', 'list', 'watch']);
  });
});
