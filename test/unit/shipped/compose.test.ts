import { describe, expect, test } from 'vitest';
import { searchAttributes } from '../../../src/starters/temporal/search-attributes.ts';
import { readWorkerConfig } from '../../../src/worker/config.ts';
import { fileURLToPath } from 'node:url';
import { shippedYaml } from './manifests.ts';

interface Service {
  readonly command: readonly string[];
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly user?: string;
}

const { services } = shippedYaml<{ services: { temporal: Service; worker: Service } }>('docker-compose.yml');

/** Where a file or volume appears in the container. */
function placeOf({ volumes }: Service, source: string): string | undefined {
  return volumes
    .find((volume) => volume.startsWith(`${source}:`))
    ?.slice(source.length + 1)
    .replace(/:ro$/, '');
}

describe('docker-compose.yml', () => {
  test('registers every search attribute that releases are listed by', () => {
    const given = services.temporal.command.filter((argument) => argument.startsWith('--search-attribute='));
    const wanted = Object.entries(searchAttributes).map(([name, type]) => `--search-attribute=${name}=${type}`);
    expect(given.sort()).toEqual(wanted.sort());
  });

  test('keeps what Temporal stores on its volume', () => {
    const database = services.temporal.command.find((argument) => argument.startsWith('--db-filename='));
    expect(database).toBe(`--db-filename=${placeOf(services.temporal, 'temporal')}/temporal.db`);
  });

  test('is reached from this machine only', () => {
    for (const port of [...services.temporal.ports, ...services.worker.ports]) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  test('mounts the example of a configuration where the worker reads it, and the kubeconfig where that names it', async () => {
    const { worker } = services;
    expect(placeOf(worker, './examples/worker.yaml')).toBe(worker.environment?.['HOLDFAST_CONFIG']);
    const example = fileURLToPath(new URL('../../../examples/worker.yaml', import.meta.url));
    const { clusters, listen } = await readWorkerConfig(example);
    const kubeconfig = placeOf(worker, '${KUBECONFIG:-~/.kube/config}');
    expect(clusters).toEqual({ default: { kubeconfig } });
    expect(worker.ports).toEqual([`127.0.0.1:9469:${listen.split(':')[1]}`]);
  });
});
