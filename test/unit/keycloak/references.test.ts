import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { credentialsFrom, type CredentialSources } from '../../../src/activities/keycloak/credentials.ts';
import type { KeycloakFlowDependencies } from '../../../src/activities/keycloak/dependencies.ts';
import { readSwitch } from '../../../src/activities/keycloak/read-switch.ts';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { startApiServer, type ApiServerDouble } from '../../doubles/api-server.ts';

let api: ApiServerDouble;
let port: KubernetesClient;
let files: Map<string, string>;
let environment: Map<string, string>;

beforeEach(async () => {
  api = await startApiServer();
  port = await createKubernetes({ name: 'default', kubeconfig: api.kubeconfig() });
  files = new Map();
  environment = new Map();
});

afterEach(async () => {
  await port.close();
  await api.stop();
});

function sources(): CredentialSources {
  return {
    kubernetes: (cluster) => (cluster === 'default' ? port : null),
    env: (name) => environment.get(name),
    readFile: (path) => {
      const text = files.get(path);
      if (text !== undefined) return Promise.resolve(text);
      return Promise.reject(Object.assign(new Error('no such file'), { code: 'ENOENT' }));
    },
  };
}

const inSecret = (key: string, cluster = 'default') => ({
  secret: { cluster, namespace: 'login', name: 'keycloak', key },
});

async function putSecret(data: Readonly<Record<string, string>>): Promise<void> {
  const encoded = Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  const metadata = { namespace: 'login', name: 'keycloak' };
  const object = { apiVersion: 'v1', kind: 'Secret', metadata, data: encoded };
  await port.create(object, { fieldManager: 'test' });
}

describe('the credentials', () => {
  test('are read from a Secret, a file or the environment, without the line feed at their end', async () => {
    await putSecret({ id: 'from-secret', secret: 'a\n' });
    files.set('/id', 'from-file\n');
    environment.set('ID', 'from-env');
    const of = (id: Parameters<typeof credentialsFrom>[0]) => credentialsFrom(id, inSecret('secret'), sources())();
    expect(await of(inSecret('id'))).toEqual({ kind: 'read', value: { clientId: 'from-secret', clientSecret: 'a' } });
    expect(await of({ file: '/id' })).toMatchObject({ value: { clientId: 'from-file' } });
    expect(await of({ env: 'ID' })).toMatchObject({ value: { clientId: 'from-env' } });
  });

  test('are read anew each time, so that a rotated secret is taken up', async () => {
    environment.set('ID', 'id').set('SECRET', 'old');
    const credentials = credentialsFrom({ env: 'ID' }, { env: 'SECRET' }, sources());
    expect(await credentials()).toMatchObject({ value: { clientSecret: 'old' } });
    environment.set('SECRET', 'new');
    expect(await credentials()).toMatchObject({ value: { clientSecret: 'new' } });
  });

  test.each<[string, Parameters<typeof credentialsFrom>[1], string]>([
    ['no such Secret', inSecret('secret'), 'Secret'],
    ['no such cluster', inSecret('secret', 'elsewhere'), '"elsewhere"'],
    ['no such file', { file: '/none' }, '/none cannot be read'],
    ['no such variable', { env: 'NONE' }, 'NONE is not set'],
  ])('that are not there are named by their place: %s', async (_, reference, message) => {
    environment.set('ID', 'id');
    const reading = await credentialsFrom({ env: 'ID' }, reference, sources())();
    expect(reading).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(JSON.stringify(reading)).toContain(message.replaceAll('"', '\\"'));
  });

  test('a Secret without that key says so, and nothing of what else it holds', async () => {
    await putSecret({ other: 'something secret' });
    environment.set('ID', 'id');
    const reading = await credentialsFrom({ env: 'ID' }, inSecret('secret'), sources())();
    expect(reading).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(JSON.stringify(reading)).not.toContain('something secret');
  });
});

describe('the bind switch in a ConfigMap', () => {
  const source = { configMap: { cluster: 'default', namespace: 'login', name: 'keycloak-flow', key: 'bind' } };
  const { signal } = new AbortController();

  function dependencies(): KeycloakFlowDependencies {
    return { ...sources(), keycloak: () => null };
  }

  async function putConfigMap(data: Readonly<Record<string, string>>): Promise<void> {
    const metadata = { namespace: 'login', name: 'keycloak-flow' };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
    await port.create(object, { fieldManager: 'test' });
  }

  test('R14 is absent where the map or the key is not there', async () => {
    expect(await readSwitch(dependencies(), source, signal)).toEqual({ kind: 'read', value: 'absent' });
    await putConfigMap({ other: 'true' });
    expect(await readSwitch(dependencies(), source, signal)).toEqual({ kind: 'read', value: 'absent' });
  });

  test.each(['true', 'false'])('is "%s" where it says so', async (value) => {
    await putConfigMap({ bind: value });
    expect(await readSwitch(dependencies(), source, signal)).toEqual({ kind: 'read', value });
  });

  test('R15 is invalid where it says anything else', async () => {
    await putConfigMap({ bind: 'True' });
    expect(await readSwitch(dependencies(), source, signal)).toMatchObject({ kind: 'invalid' });
  });

  test('is not known where the cluster is not there or does not answer', async () => {
    const elsewhere = { configMap: { ...source.configMap, cluster: 'elsewhere' } };
    expect(await readSwitch(dependencies(), elsewhere, signal)).toMatchObject({ kind: 'unmeasured' });
    await api.stop();
    expect(await readSwitch(dependencies(), source, signal)).toMatchObject({ kind: 'unmeasured' });
  });
});
