import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { startApiServer, status } from '../../doubles/api-server.ts';
import type { ApiServerDouble, ApiServerOptions } from '../../doubles/api-server.ts';

let server: ApiServerDouble;
let port: KubernetesClient;
let app: NonNullable<ApiServerOptions['pod']>;
const pod = { namespace: 'shop', name: 'web-1', port: 8080 };
const get = (path: string) => port.podRequest(pod, { method: 'GET', path, timeoutMs: 1_000 });

beforeEach(async () => {
  server = await startApiServer({ pod: (request) => app(request) });
  port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig() });
});

afterEach(async () => {
  await port.close();
  await server.stop();
});

describe('a request to a pod through the API server', () => {
  test('reads whatever status the application answers', async () => {
    for (const code of [200, 204, 302, 403, 404, 500, 503]) {
      app = () => ({ status: code, body: code === 204 ? '' : `{"code":${code}}` });
      expect(await get('/api/health')).toEqual({
        kind: 'read',
        value: { status: code, body: code === 204 ? '' : `{"code":${code}}` },
      });
    }
  });

  test('is unmeasured when the API server cannot reach the pod, does not know it, or does not allow it', async () => {
    app = () => undefined;
    expect(await get('/api/health')).toMatchObject({ kind: 'unmeasured', why: 'unreachable' });
    for (const [code, reason, why] of [
      [403, 'Forbidden', 'denied'],
      [404, 'NotFound', 'missing'],
      [500, 'InternalError', 'error'],
    ] as const) {
      server.fault = () => ({ kind: 'answer', status: code, body: status(code, reason, 'pods "web" not found').body });
      expect(await get('/api/health')).toMatchObject({ kind: 'unmeasured', why });
    }
  });

  test('is unmeasured when the application does not answer in time, and is sent once', async () => {
    server.fault = () => ({ kind: 'hang' });
    expect(await port.podRequest(pod, { method: 'PUT', path: '/x', body: {}, timeoutMs: 200 })).toMatchObject({
      why: 'timeout',
    });
    expect(server.requests).toHaveLength(1);
    server.fault = () => ({ kind: 'reset' });
    expect(await port.podRequest(pod, { method: 'PUT', path: '/x', body: {}, timeoutMs: 200 })).toMatchObject({
      why: 'unreachable',
    });
    expect(server.requests).toHaveLength(2);
  });

  test('carries path, query and JSON body as they are', async () => {
    app = (request) => ({
      status: 200,
      body: JSON.stringify([request.method, request.podPath, request.headers['content-type'], request.body]),
    });
    const request = {
      method: 'PUT',
      path: '/api/config/agent/planner%3F/models?force=1&x=a%26b',
      body: { model: 'm' },
      timeoutMs: 1_000,
    } as const;
    const answer = await port.podRequest(pod, request);
    if (answer.kind !== 'read') throw new Error(answer.message);
    expect(JSON.parse(answer.value.body)).toEqual([
      'PUT',
      '/api/config/agent/planner%3F/models?force=1&x=a%26b',
      'application/json',
      '{"model":"m"}',
    ]);
  });

  test('never climbs out to other objects of the API server, however the path is spelt', async () => {
    app = () => ({ status: 200, body: 'reached' });
    for (const path of [
      '/api/config/agent/../../../../secrets/models',
      '/..',
      '/a/./b',
      '/a/%2e%2e/b',
      '/a/%2E./b',
      '/a/%252e%252e/b',
      '/a/..%2f..%2fb',
      '/a/x%2fy',
      '/a\\..\\b',
      '/a/%5c../b',
      'no-slash',
      '/a#b',
      '/a/%zz',
      '',
    ]) {
      expect(await get(path), path).toMatchObject({ kind: 'unmeasured', why: 'error' });
    }
    expect(server.requests).toHaveLength(0);
  });

  test('a name that is no pod name never leaves the process', async () => {
    const request = { method: 'GET', path: '/', timeoutMs: 1_000 } as const;
    expect(await port.podRequest({ ...pod, name: '../secrets' }, request)).toMatchObject({
      kind: 'unmeasured',
      why: 'error',
    });
    expect(server.requests).toHaveLength(0);
  });

  test('the query stays out of what is shown to people', async () => {
    app = () => undefined;
    expect(JSON.stringify(await get('/x?token=hunter2'))).not.toContain('hunter2');
  });
});
