import { fileURLToPath } from 'node:url';
import { expect, describe, test } from 'vitest';
import { parse } from 'yaml';
import { readWorkerConfig } from '../../../src/worker/config.ts';
import { kustomized, pathFrom, shippedYaml, type Manifest } from './manifests.ts';

interface Overlay {
  readonly resources: readonly string[];
  readonly images: readonly { readonly name: string }[];
  readonly configMapGenerator: readonly {
    name: string;
    namespace: string;
    behavior: string;
    files: readonly string[];
  }[];
  readonly patches: readonly {
    readonly target?: { kind: string; name: string };
    readonly path?: string;
    readonly patch?: string;
  }[];
}

interface Workload extends Manifest {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly name: string;
          readonly image: string;
          readonly env: readonly { name: string }[];
        }[];
        readonly volumes: readonly object[];
      };
    };
  };
}

const folder = 'examples/overlay';
const overlay = shippedYaml<Overlay>(`${folder}/kustomization.yaml`);
const below = overlay.resources.map((resource) => kustomized(pathFrom(folder, resource)));
const workloads = below.flat().filter(({ kind }) => kind === 'Deployment') as Workload[];

describe('the overlay of the examples', () => {
  test('has both workers, and the namespace that both bring once', () => {
    expect(workloads.map(({ metadata }) => metadata.name)).toEqual(['holdfast-release', 'holdfast-node-reboot']);
    const { patches } = shippedYaml<Overlay>(`${folder}/reboots/kustomization.yaml`);
    const deleted = patches.map(({ patch = '' }) => parse(patch) as Manifest);
    const left = below.map((objects) =>
      objects.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name),
    );
    expect(left).toEqual([['holdfast'], ['holdfast', 'holdfast-hosts']]);
    expect(deleted).toEqual([
      { $patch: 'delete', apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'holdfast' } },
    ]);
  });

  test('replaces the configuration of each worker by one that it accepts, under a name that changes with it', async () => {
    for (const { name, namespace, behavior, files } of overlay.configMapGenerator) {
      // A ConfigMap that stands among the resources would keep its name.
      const generated = kustomizationsBelow(overlay.resources).flatMap((one) => one.configMapGenerator ?? []);
      expect(generated.map((one) => `${one.namespace}/${one.name}`)).toContain(`${namespace}/${name}`);
      expect(behavior).toBe('replace');
      const [file = ''] = files;
      const [key, path = ''] = file.split('=');
      expect(key).toBe('worker.yaml');
      const config = await readWorkerConfig(fileURLToPath(new URL(`../../../${folder}/${path}`, import.meta.url)));
      expect(config.clusters).toEqual({ default: { inCluster: true } });
    }
    expect(overlay.configMapGenerator.map(({ name }) => name)).toEqual(workloads.map(({ metadata }) => metadata.name));
  });

  test('says where image and Temporal are in the container that is there, and mounts what Temporal is told to read', () => {
    const patch = overlay.patches.find(({ path }) => path !== undefined);
    const temporal = shippedYaml<Workload>(`${folder}/${patch?.path}`).spec.template.spec;
    const told = temporal.containers.flatMap(({ env }) => env.map(({ name }) => name));
    for (const { metadata, spec } of workloads) {
      expect(metadata.name).toMatch(new RegExp(`^${patch?.target?.name}$`));
      const { containers } = spec.template.spec;
      expect(containers.map(({ name }) => name)).toEqual(temporal.containers.map(({ name }) => name));
      expect(containers.map(({ image }) => image.split(':')[0])).toEqual(overlay.images.map(({ name }) => name));
      expect(told).toEqual(
        expect.arrayContaining(
          containers.flatMap(({ env }) => env.map(({ name }) => name).filter((name) => name.startsWith('TEMPORAL_'))),
        ),
      );
    }
    expect(told).toContain('TEMPORAL_TLS_CLIENT_CERT_PATH');
  });
});

function kustomizationsBelow(resources: readonly string[], from = folder): Partial<Overlay>[] {
  return resources.flatMap((resource) => {
    const path = pathFrom(from, resource);
    if (path.endsWith('.yaml')) return [];
    const one = shippedYaml<Overlay>(`${path}/kustomization.yaml`);
    return [one, ...kustomizationsBelow(one.resources, path)];
  });
}
