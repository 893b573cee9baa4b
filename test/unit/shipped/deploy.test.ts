import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lockName } from '../../../src/domain/node-reboot/by-hand.ts';
import { planDrain } from '../../../src/domain/node-reboot/drain-plan.ts';
import { hostPods, readPods } from '../../../src/domain/node-reboot/pod.ts';
import { workerCommand } from '../../../src/starters/commands/worker.ts';
import { readWorkerConfig } from '../../../src/worker/config.ts';
import { podObject } from '../../domain/node-reboot/pod-object.ts';
import { kustomized, shippedText, type Manifest } from './manifests.ts';

interface Deployment extends Manifest {
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: {
        readonly volumes: readonly object[];
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

interface NamedRole extends Manifest {
  readonly rules: readonly { readonly verbs: readonly string[]; readonly resourceNames?: readonly string[] }[];
}

interface Binding extends Manifest {
  readonly roleRef: { readonly name: string };
  readonly subjects: readonly { readonly name: string; readonly namespace: string }[];
}

function only<T extends Manifest>(folder: string, kind: string): T {
  const [found, ...others] = kustomized(folder).filter((one) => one.kind === kind);
  if (found === undefined || others.length > 0) throw new Error(`${folder} has not exactly one ${kind}`);
  return found as T;
}

/** The ConfigMap that holds the configuration: one without anything in it is a lock. */
function configOf(folder: string): ConfigMap {
  const found = kustomized(folder).find((one): one is ConfigMap => one.kind === 'ConfigMap' && 'data' in one);
  return found ?? expect.fail(`${folder} has no configuration`);
}

const pod = only<Deployment>('deploy/base', 'Deployment').spec.template.spec;

describe.each(['deploy/base', 'deploy/keycloak-flow', 'deploy/node-reboot'])('%s', (folder) => {
  const worker = only<Deployment>(folder, 'Deployment').spec.template.spec;
  const [container] = worker.containers;

  test('gives the worker a configuration that it accepts, where it looks for it, on the port that is probed', async () => {
    const [file, text] = Object.entries(configOf(folder).data)[0] ?? ['', ''];
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
    const known = workerCommand();
    expect(command).toBe(known.name());
    expect(known.parseOptions(options)).toEqual({ operands: [], unknown: [] });
  });

  test('lets the worker hand back its work before it is killed', () => {
    const force = /SHUTDOWN_FORCE = '(\d+)s'/.exec(shippedText('src/worker/run-worker.ts'))?.[1];
    expect(Number(force)).toBeGreaterThan(0);
    expect(worker.terminationGracePeriodSeconds).toBeGreaterThan(Number(force));
  });

  test('mounts every file that its configuration names, also in what is commented out', () => {
    const [, text = ''] = Object.entries(configOf(folder).data)[0] ?? [];
    const named = [...text.matchAll(/(\/etc\/holdfast[\w./-]+)/g)].map(([, path = '']) => path);
    const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
    expect(named.filter((path) => !mounts.some((mount) => path.startsWith(`${mount}/`)))).toEqual([]);
  });

  test('never blocks the drain of the node on which its worker runs', () => {
    const { metadata, spec } = only<Deployment>(folder, 'Deployment').spec.template;
    const template = { ...metadata, name: 'worker-1', namespace: 'holdfast', owner: { kind: 'ReplicaSet' } };
    const pods = readPods({ kind: 'read', value: [podObject({ ...template, volumes: spec.volumes })] });
    if (pods.kind === 'unmeasured') expect.fail(pods.message);
    const plan = planDrain(pods.value, { deleteEmptyDirData: false, deleteBarePods: false });
    expect(plan.blockers).toEqual([]);
    expect(plan.evict).toHaveLength(1);
  });

  test('runs as an account of its own', () => {
    expect(only(folder, 'ServiceAccount').metadata.name).toBe(worker.serviceAccountName);
  });
});

describe('deploy/keycloak-flow', () => {
  test('lets its account get what is named, and nothing else; no other account is let', () => {
    const objects = kustomized('deploy/keycloak-flow');
    expect(objects.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([]);
    const { rules } = only<NamedRole>('deploy/keycloak-flow', 'Role');
    for (const { verbs, resourceNames = [] } of rules) {
      expect(verbs).toEqual(['get']);
      expect(resourceNames.length).toBeGreaterThan(0);
    }
    const { subjects } = only<Binding>('deploy/keycloak-flow', 'RoleBinding');
    const { name } = only('deploy/keycloak-flow', 'ServiceAccount').metadata;
    expect(subjects).toEqual([{ kind: 'ServiceAccount', name, namespace: 'holdfast' }]);
    expect(name).not.toBe(pod.serviceAccountName);
  });
});

describe('deploy/node-reboot', () => {
  const objects = kustomized('deploy/node-reboot');

  test('lets its account write the lock by its name alone, make pods in that of the hosts alone, and delete none elsewhere', () => {
    const cluster = only<NamedRole>('deploy/node-reboot', 'ClusterRole').rules;
    const written = cluster.filter(({ verbs }) => verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)));
    expect(written).toEqual([
      { apiGroups: [''], resources: ['nodes'], verbs: ['patch'] },
      { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
      { apiGroups: ['postgresql.cnpg.io'], resources: ['clusters/status'], verbs: ['patch'] },
    ]);
    const own = objects.filter(({ kind }) => kind === 'Role') as NamedRole[];
    const rulesIn = (namespace: string) => own.find(({ metadata }) => metadata.namespace === namespace)?.rules;
    expect(own).toHaveLength(2);
    const lock = { apiGroups: [''], resources: ['configmaps'], resourceNames: [lockName.name] };
    expect(rulesIn(lockName.namespace)).toEqual([
      { ...lock, verbs: ['get'] },
      { ...lock, verbs: ['patch'] },
    ]);
    expect(rulesIn(hostPods.namespace)).toEqual([
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'create', 'delete'] },
    ]);
  });

  test('gives the rights to the account that the worker runs as, and to no other', () => {
    const bindings = objects.filter(({ kind }) => kind.endsWith('Binding')) as Binding[];
    const { name } = only('deploy/node-reboot', 'ServiceAccount').metadata;
    for (const { subjects } of bindings) {
      expect(subjects).toEqual([{ kind: 'ServiceAccount', name, namespace: lockName.namespace }]);
    }
    expect(name).not.toBe(pod.serviceAccountName);
  });

  test('brings the lock without anything in it, and a namespace for the pods on hosts that has nothing else', () => {
    const lock = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === lockName.name);
    expect(lock).toMatchObject({ metadata: { namespace: lockName.namespace } });
    expect(lock).not.toHaveProperty('data');
    const namespaces = objects.filter(({ kind }) => kind === 'Namespace');
    expect(namespaces.map(({ metadata }) => [metadata.name, Object.values(metadata.labels ?? {})])).toEqual([
      [lockName.namespace, ['restricted']],
      // Enforced, and neither warned of nor written to the audit log, a pod at a time.
      [hostPods.namespace, ['privileged', 'privileged', 'privileged']],
    ]);
    expect(namespaces[0]).toEqual(only('deploy/base', 'Namespace'));
    const there = objects.filter(({ metadata }) => metadata.namespace === hostPods.namespace);
    expect(there.map(({ kind }) => kind)).toEqual(['Role', 'RoleBinding']);
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
