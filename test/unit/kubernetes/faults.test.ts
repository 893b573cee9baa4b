import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubeObject, KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { startApiServer, status } from '../../doubles/api-server.ts';
import type { ApiServerDouble, Fault } from '../../doubles/api-server.ts';

let server: ApiServerDouble;
let port: KubernetesClient;

const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a' };
const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop' };
const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
});
const manager = { fieldManager: 'test' };

beforeEach(async () => {
  server = await startApiServer({ pageLimit: 2 });
  port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig(), requestTimeoutMs: 2_000 });
  for (const name of ['a', 'b', 'c', 'd', 'e']) await port.create(configMap(name), manager);
  server.requests.length = 0;
});

afterEach(async () => {
  await port.close();
  await server.stop();
});

/** The given faults, one for each request; then none. */
function faults(...list: (Fault | undefined)[]): void {
  server.fault = () => list.shift();
}

const html: Fault = {
  kind: 'answer',
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<html>Sign in</html>',
};
const answer = (status: number, reason: string, headers: Record<string, string> = {}): Fault => ({
  kind: 'answer',
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ kind: 'Status', status: 'Failure', reason, message: `${reason} it is`, code: status }),
});

describe('a reading', () => {
  test('survives a connection that breaks, and an API server that is unavailable for a moment', async () => {
    faults({ kind: 'reset' }, answer(503, 'ServiceUnavailable'), { kind: 'cut', after: 20 });
    expect(await port.get(ref)).toMatchObject({ kind: 'read' });
    expect(server.requests).toHaveLength(4);
  });

  test('that cannot be made says why, each in its own word', async () => {
    const always = async (fault: Fault) => {
      server.fault = () => fault;
      const reading = await port.get(ref);
      return reading.kind === 'read' ? 'read' : reading.why;
    };
    const absent: Fault = {
      kind: 'answer',
      status: 404,
      body: status(404, 'NotFound', 'configmaps "x" not found').body,
    };
    expect(await always({ kind: 'reset' })).toBe('unreachable');
    expect(await always({ kind: 'cut', after: 20 })).toBe('truncated');
    expect(await always({ kind: 'truncate', after: 20 })).toBe('truncated');
    expect(await always({ kind: 'truncate', after: 0 })).toBe('empty');
    expect(await always(html)).toBe('unparsed');
    expect(await always(answer(401, 'Unauthorized'))).toBe('denied');
    expect(await always(answer(403, 'Forbidden'))).toBe('denied');
    expect(await always(absent)).toBe('missing');
    expect(await always(answer(404, 'NotFound'))).toBe('not-served');
    expect(await always(answer(504, 'Timeout'))).toBe('timeout');
    expect(await always(answer(500, 'InternalError'))).toBe('error');
    expect(await always(answer(429, 'TooManyRequests', { 'retry-after': '60' }))).toBe('throttled');
  });

  test('takes only a NotFound of a Kubernetes API that names the object for a missing object', async () => {
    faults({ kind: 'answer', status: 404, body: '<html>nginx: not found</html>' });
    expect(await port.get(ref)).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    faults({ kind: 'answer', status: 404, body: JSON.stringify({ error: 'NotFound', reason: 'NotFound' }) });
    expect(await port.get(ref)).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
  });

  test('takes no other object for the one asked for', async () => {
    for (const other of [
      { kind: 'ConfigMap', metadata: { name: 'b' } },
      { kind: 'Secret', metadata: { name: 'a' } },
      { kind: 'ConfigMap' },
      [],
    ]) {
      faults({
        kind: 'answer',
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(other),
      });
      expect(await port.get(ref)).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    }
  });

  test('waits as long as the API server asks when throttled', async () => {
    faults(answer(429, 'TooManyRequests', { 'retry-after': '1' }));
    const started = performance.now();
    expect(await port.get(ref)).toMatchObject({ kind: 'read' });
    expect(performance.now() - started).toBeGreaterThanOrEqual(990);
  });

  test('does not wait for what lies behind its own time-out', async () => {
    server.fault = () => answer(429, 'TooManyRequests', { 'retry-after': '60' });
    const started = performance.now();
    expect(await port.get(ref)).toMatchObject({ why: 'throttled' });
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(server.requests).toHaveLength(1);
  });

  test('ends in time when an answer trickles, or none comes, and lets the connection go', async () => {
    for (const fault of [{ kind: 'trickle', everyMs: 50 }, { kind: 'hang' }] as const) {
      server.fault = () => fault;
      const started = performance.now();
      expect(await port.get(ref, { timeoutMs: 300 })).toMatchObject({ kind: 'unmeasured', why: 'timeout' });
      expect(performance.now() - started).toBeLessThan(20_000);
      await vi.waitFor(() => expect(server.unanswered()).toBe(0));
    }
  });

  test('stops when its caller does', async () => {
    server.fault = () => ({ kind: 'hang' });
    const stop = new AbortController();
    const reading = port.get(ref, { signal: stop.signal });
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    stop.abort();
    expect(await reading).toMatchObject({ kind: 'unmeasured', why: 'error' });
  });

  test('of a server that is not there is unreachable', async () => {
    await server.stop();
    expect(await port.get(ref)).toMatchObject({ kind: 'unmeasured', why: 'unreachable' });
  });

  test('shows nothing of a token that an answer repeats', async () => {
    const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';
    const body = JSON.stringify({
      kind: 'Status',
      reason: 'Forbidden',
      message: `no: Authorization: Bearer ${token} and ${token}`,
    });
    server.fault = () => ({ kind: 'answer', status: 403, body });
    const reading = await port.get(ref);
    expect(JSON.stringify(reading)).not.toContain('eyJ');
  });
});

describe('a list', () => {
  test('has all pages', async () => {
    const list = await port.list(query);
    expect(list).toMatchObject({ kind: 'read' });
    if (list.kind === 'read')
      expect(list.value.items.map((item) => item.metadata.name)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(server.requests).toHaveLength(3);
  });

  test('starts over when the continue token has expired, and never mixes two snapshots', async () => {
    let compacted = false;
    server.fault = (request) => {
      if (request.url.includes('continue=') && !compacted) {
        compacted = true;
        server.store.remove('v1/configmaps', 'shop', 'a', {});
        server.compact();
      }
      return undefined;
    };
    const list = await port.list(query);
    if (list.kind !== 'read') throw new Error(list.message);
    expect(list.value.items.map((item) => item.metadata.name)).toEqual(['b', 'c', 'd', 'e']);
  });

  test('is read in one go when tokens keep expiring', async () => {
    server.fault = (request) => (request.url.includes('continue=') ? answer(410, 'Expired') : undefined);
    const list = await port.list(query);
    if (list.kind !== 'read') throw new Error(list.message);
    expect(list.value.items).toHaveLength(5);
    expect(server.requests.at(-1)?.url).not.toContain('limit=');
  });

  test('that fails on a later page is unmeasured: no part of it is an answer', async () => {
    server.fault = (request) => (request.url.includes('continue=') ? answer(403, 'Forbidden') : undefined);
    expect(await port.list(query)).toMatchObject({ kind: 'unmeasured', why: 'denied' });
    server.fault = (request) => (request.url.includes('continue=') ? { kind: 'truncate', after: 40 } : undefined);
    expect(await port.list(query)).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
  });

  test('whose pages go round in a circle is unmeasured', async () => {
    const page = { kind: 'ConfigMapList', metadata: { resourceVersion: '1', continue: 'again' }, items: [] };
    server.fault = () => ({
      kind: 'answer',
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(page),
    });
    expect(await port.list(query)).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
  });

  test('without the key `items` is no empty list', async () => {
    for (const body of [
      { kind: 'ConfigMapList', metadata: { resourceVersion: '1' } },
      { kind: 'SecretList', metadata: { resourceVersion: '1' }, items: [] },
    ]) {
      server.fault = () => ({
        kind: 'answer',
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(await port.list(query)).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    }
  });
});

describe('a write', () => {
  const patch = () => port.patch(ref, { data: { x: '1' } }, { type: 'merge', ...manager });

  test('whose answer is lost is unknown, was sent once, and can be found by reading back', async () => {
    for (const fault of [
      { kind: 'drop-reply' },
      { kind: 'cut', after: 20 },
      { kind: 'truncate', after: 20 },
    ] as const) {
      server.requests.length = 0;
      server.fault = (request) => (request.method === 'PATCH' ? fault : undefined);
      const outcome = await patch();
      expect(outcome).toMatchObject({ kind: 'unknown' });
      expect(outcome).not.toHaveProperty('effect');
      expect(server.requests).toHaveLength(1);
      expect(await port.get(ref)).toMatchObject({ value: { data: { x: '1' } } });
    }
  });

  test('whose connection broke before it was answered is unknown and not sent again', async () => {
    faults({ kind: 'reset' });
    expect(await patch()).toMatchObject({ kind: 'unknown', cause: 'unreachable' });
    expect(server.requests).toHaveLength(1);
  });

  test('that is not answered in time is unknown', async () => {
    server.fault = () => ({ kind: 'hang' });
    expect(await patch()).toMatchObject({ kind: 'unknown', cause: 'timeout' });
  });

  test('that was throttled took no effect, and says when to come back', async () => {
    faults(answer(429, 'TooManyRequests', { 'retry-after': '7' }));
    expect(await patch()).toMatchObject({ kind: 'unknown', cause: 'throttled', effect: 'none', retryAfterMs: 7_000 });
    expect(server.requests).toHaveLength(1);
  });

  test('to a server that is not there took no effect', async () => {
    const fresh = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig() });
    await server.stop();
    const outcome = await fresh.patch(ref, {}, { type: 'merge', ...manager });
    expect(outcome).toMatchObject({ kind: 'unknown', cause: 'unreachable', effect: 'none' });
    await fresh.close();
  });

  test('answered with an HTML page or an internal error is unknown', async () => {
    faults(html);
    expect(await patch()).toMatchObject({ kind: 'unknown', cause: 'unparsed' });
    faults(answer(500, 'InternalError'));
    expect(await patch()).toMatchObject({ kind: 'unknown', cause: 'error' });
    faults(answer(503, 'ServiceUnavailable'));
    expect(await patch()).toMatchObject({ kind: 'unknown', cause: 'unreachable' });
    expect(server.requests).toHaveLength(3);
  });

  test('answered with a 404 that is not from a Kubernetes API is not missing', async () => {
    faults({ kind: 'answer', status: 404, body: 'nginx' });
    expect(await patch()).toMatchObject({ kind: 'unknown' });
  });

  test('that is refused as invalid tells the fields, but nothing of a Secret', async () => {
    const body = JSON.stringify({
      kind: 'Status',
      reason: 'Invalid',
      message: 'spec.replicas: Invalid value: "hunter2"',
      details: {
        causes: [{ field: 'spec.replicas', reason: 'FieldValueInvalid', message: 'Invalid value: "hunter2"' }],
      },
    });
    faults({ kind: 'answer', status: 422, body }, { kind: 'answer', status: 422, body });
    expect(await patch()).toMatchObject({ kind: 'invalid', causes: [{ field: 'spec.replicas' }] });
    const secret = await port.patch({ ...ref, kind: 'Secret' }, {}, { type: 'merge', ...manager });
    expect(secret).toMatchObject({ kind: 'invalid' });
    expect(JSON.stringify(secret)).not.toContain('hunter2');
  });

  test('carries the content type of its patch and the name of its field manager', async () => {
    const types = {
      strategic: 'strategic-merge-patch+json',
      merge: 'merge-patch+json',
      json: 'json-patch+json',
      apply: 'apply-patch+yaml',
    };
    for (const [type, contentType] of Object.entries(types)) {
      server.requests.length = 0;
      const body = type === 'json' ? [] : {};
      await port.patch(ref, body, {
        type: type as keyof typeof types,
        fieldManager: 'holdfast',
        force: true,
        subresource: 'status',
      });
      expect(server.requests[0]?.headers['content-type']).toBe(`application/${contentType}`);
      const url = new URL(server.requests[0]?.url ?? '', 'http://double');
      expect(url.searchParams.get('fieldManager')).toBe('holdfast');
      expect(url.searchParams.get('force')).toBe(type === 'apply' ? 'true' : null);
      expect(url.pathname).toBe('/api/v1/namespaces/shop/configmaps/a/status');
    }
  });
});

describe('the rest', () => {
  test('a permission that the API server could not evaluate is unmeasured, not a no', async () => {
    await server.stop();
    server = await startApiServer({
      allow: ({ resource }) => (resource === 'pods' ? 'evaluation-error' : resource === 'nodes'),
    });
    const other = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig() });
    expect(await other.can({ verb: 'get', group: '', resource: 'nodes' })).toEqual({ kind: 'read', value: true });
    expect(await other.can({ verb: 'get', group: '', resource: 'secrets' })).toEqual({ kind: 'read', value: false });
    expect(await other.can({ verb: 'get', group: '', resource: 'pods' })).toMatchObject({
      kind: 'unmeasured',
      why: 'error',
    });
    await other.close();
  });

  test('an event whose answer was lost is the same event when it is sent again', async () => {
    server.fault = (request) => (request.method === 'POST' ? { kind: 'drop-reply' } : undefined);
    const event = {
      type: 'Warning' as const,
      reason: 'RolledBack',
      message: 'back to v1',
      action: 'RollBack',
      runId: 'r',
    };
    expect(await port.event(ref, event)).toMatchObject({ kind: 'unknown' });
    server.fault = undefined;
    expect(await port.event(ref, event)).toMatchObject({ kind: 'written' });
    const list = await port.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event', namespace: 'shop' });
    expect(list).toMatchObject({ value: { items: [{ note: 'back to v1', regarding: { name: 'a' } }] } });
  });

  test('a kind that only this cluster knows is found by discovery, once', async () => {
    const widget = { apiVersion: 'example.dev/v1', kind: 'Widget', namespace: 'shop', name: 'w' };
    await port.create(
      { apiVersion: 'example.dev/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'shop' } },
      manager,
    );
    server.requests.length = 0;
    expect(await port.get(widget)).toMatchObject({ kind: 'read', value: { kind: 'Widget' } });
    expect(server.requests).toHaveLength(1);
    expect(await port.get({ ...widget, kind: 'Gadget' })).toMatchObject({ kind: 'unmeasured', why: 'not-served' });
    server.fault = (request) => (request.url === '/apis' ? html : undefined);
    expect(await port.get({ ...widget, apiVersion: 'other.dev/v1' })).toMatchObject({
      kind: 'unmeasured',
      why: 'unparsed',
    });
  });
});
