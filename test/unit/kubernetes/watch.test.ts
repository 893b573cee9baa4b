import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubeObject, KubernetesClient, WatchEvent } from '../../../src/activities/kubernetes/port.ts';
import { startApiServer } from '../../doubles/api-server.ts';
import type { ApiServerDouble } from '../../doubles/api-server.ts';

let server: ApiServerDouble;
let port: KubernetesClient;
let stop: AbortController;
let running: Promise<void>;
let seen: string[];

const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop' };
const manager = { fieldManager: 'test' };
const pace = { lastMs: 60_000, quietMs: 60_000, firstBackoffMs: 20, maxBackoffMs: 100 };

function create(name: string): void {
  server.store.create('v1/configmaps', 'shop', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
}

function change(name: string): void {
  server.store.change(
    'v1/configmaps',
    'shop',
    name,
    (before) => ({ ...before, data: { at: String(server.store.version()) } }),
    false,
  );
}

function summary(event: WatchEvent<KubeObject>): string {
  if (event.type === 'listed') return `listed ${event.items.map((item) => item.metadata.name).join(' ')}`.trim();
  if (event.type === 'interrupted') return `interrupted ${event.reading.why}`;
  return `${event.type} ${event.object.metadata.name}`;
}

function start(client = port): void {
  stop = new AbortController();
  seen = [];
  running = (async () => {
    for await (const event of client.watch(query, { signal: stop.signal })) seen.push(summary(event));
  })();
}

const saw = (...events: string[]) => vi.waitFor(() => expect(seen).toEqual(events), { timeout: 5_000, interval: 10 });
const watchRequests = () => server.requests.filter((request) => request.url.includes('watch=true'));
const lists = () => server.requests.filter((request) => !request.url.includes('watch=true'));
const isWatched = (times = 1) =>
  vi.waitFor(() => expect(watchRequests()).toHaveLength(times), { timeout: 5_000, interval: 10 });

beforeEach(async () => {
  server = await startApiServer();
  port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig(), requestTimeoutMs: 1_000 }, pace);
  create('a');
  start();
  await saw('listed a');
  await isWatched();
});

afterEach(async () => {
  stop.abort();
  await running;
  await port.close();
  await server.stop();
});

describe('a watch', () => {
  test('asks for bookmarks and for minutes, so that an idle one costs few requests', () => {
    const url = new URL(watchRequests()[0]?.url ?? '', 'http://double');
    expect(url.searchParams.get('allowWatchBookmarks')).toBe('true');
    expect(Number(url.searchParams.get('timeoutSeconds'))).toBeGreaterThanOrEqual(30);
    expect(Number(url.searchParams.get('timeoutSeconds'))).toBeLessThanOrEqual(60);
    expect(url.searchParams.get('resourceVersion')).toBe('101');
  });

  test('goes on where it was when the server ends it: no list, nothing twice, nothing lost', async () => {
    change('a');
    await saw('listed a', 'modified a');
    server.endWatches();
    create('b');
    await isWatched(2);
    await saw('listed a', 'modified a', 'added b');
    expect(lists()).toHaveLength(1);
  });

  test('goes on likewise when the connection breaks, without an alarm', async () => {
    server.breakConnections();
    create('b');
    await saw('listed a', 'added b');
    expect(lists()).toHaveLength(1);
  });

  test('resumes from the last bookmark', async () => {
    const version = server.store.tick();
    server.writeToWatches(
      `${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'ConfigMap', metadata: { resourceVersion: String(version) } } })}\n`,
    );
    // In order on one connection: once this is seen, so was the bookmark.
    change('a');
    await saw('listed a', 'modified a');
    const last = server.store.tick();
    server.writeToWatches(
      `${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'ConfigMap', metadata: { resourceVersion: String(last) } } })}\n`,
    );
    server.endWatches();
    await isWatched(2);
    expect(watchRequests()[1]?.url).toContain(`resourceVersion=${last}`);
  });

  test('lists again after a 410 as HTTP status', async () => {
    let asked = false;
    server.fault = (request) => {
      if (request.url.includes('watch=true') && !asked) {
        asked = true;
        server.store.remove('v1/configmaps', 'shop', 'a', {});
        create('b');
        server.compact();
      }
      return undefined;
    };
    server.endWatches();
    await saw('listed a', 'listed b');
    create('c');
    await saw('listed a', 'listed b', 'added c');
  });

  test('lists again after a 410 as an ERROR event in the stream', async () => {
    server.writeToWatches(
      `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })}\n`,
    );
    await saw('listed a', 'listed a');
    create('b');
    await saw('listed a', 'listed a', 'added b');
  });

  test('tells that the API cannot be reached, backs off, and goes on when it can', async () => {
    server.fault = () => ({ kind: 'answer', status: 503, body: '' });
    server.endWatches();
    await vi.waitFor(() =>
      expect(seen.slice(0, 3)).toEqual(['listed a', 'interrupted unreachable', 'interrupted unreachable']),
    );
    server.fault = undefined;
    create('b');
    await vi.waitFor(() => expect(seen.at(-1)).toBe('added b'));
    expect(lists()).toHaveLength(1);
  });

  test('does not hammer an API server that ends each watch at once', async () => {
    const before = server.requests.length;
    server.fault = (request) =>
      request.url.includes('watch=true') ? { kind: 'answer', status: 200, body: '' } : undefined;
    server.endWatches();
    await vi.waitFor(() => expect(server.requests.length).toBeGreaterThan(before + 4), { timeout: 5_000 });
    const from = performance.now();
    const count = server.requests.length;
    await vi.waitFor(() => expect(server.requests.length).toBeGreaterThan(count + 5), { timeout: 5_000 });
    // At 50 to 100 ms each.
    expect(performance.now() - from).toBeGreaterThan(240);
  });

  test('asks again for an event that arrived broken, and tells nothing of it', async () => {
    server.writeToWatches('{"type":"MODIFIED","object":{"kind":"ConfigMa\n');
    create('b');
    await saw('listed a', 'added b');
    server.writeToWatches('<html>\n');
    change('b');
    await saw('listed a', 'added b', 'modified b');
    expect(lists()).toHaveLength(1);
  });

  test('an event that never arrives whole is told as unparsed when it comes again', async () => {
    server.fault = (request) =>
      request.url.includes('watch=true') ? { kind: 'answer', status: 200, body: '{"type":"ADDED"}\n' } : undefined;
    server.endWatches();
    await vi.waitFor(() => expect(seen.at(-1)).toBe('interrupted unparsed'));
  });

  test('takes a connection on which nothing comes any more for dead, and opens another', async () => {
    stop.abort();
    await running;
    const impatient = await createKubernetes(
      { name: 'double', kubeconfig: server.kubeconfig() },
      { ...pace, quietMs: 100 },
    );
    const before = watchRequests().length;
    start(impatient);
    await isWatched(before + 3);
    expect(seen).toEqual(['listed a']);
    stop.abort();
    await running;
    await impatient.close();
  });

  test('ends when told, also while it backs off or waits for an answer, and leaves nothing open', async () => {
    stop.abort();
    await running;
    await vi.waitFor(() => expect(server.unanswered()).toBe(0));
    server.fault = () => ({ kind: 'answer', status: 403, body: '{"kind":"Status","reason":"Forbidden"}' });
    start();
    await vi.waitFor(() => expect(seen).toContain('interrupted denied'));
    stop.abort();
    await running;
    server.fault = () => ({ kind: 'hang' });
    const before = server.requests.length;
    start();
    await vi.waitFor(() => expect(server.requests.length).toBeGreaterThan(before));
    stop.abort();
    await running;
    await vi.waitFor(() => expect(server.unanswered()).toBe(0));
  });

  test('a caller that stops iterating closes the connection', async () => {
    stop.abort();
    await running;
    for await (const event of port.watch(query, { signal: new AbortController().signal })) {
      if (event.type === 'listed') create('b');
      if (event.type === 'added') break;
    }
    await vi.waitFor(() => expect(server.unanswered()).toBe(0));
  });

  test('a slow reader loses nothing', async () => {
    stop.abort();
    await running;
    const names: string[] = [];
    const slow = new AbortController();
    for await (const event of port.watch(query, { signal: slow.signal })) {
      if (event.type === 'listed')
        for (let i = 0; i < 200; i++)
          await port.create(
            { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `n${i}`, namespace: 'shop' } },
            manager,
          );
      if (event.type === 'added') names.push(event.object.metadata.name);
      if (names.length === 200) slow.abort();
    }
    expect(names).toEqual(Array.from({ length: 200 }, (_, i) => `n${i}`));
  });
});
