import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createNotifyActivities } from '../../../src/activities/notify/create.ts';
import { createLogNotifier } from '../../../src/activities/notify/log.ts';
import type { Delivery, Notifier } from '../../../src/activities/notify/port.ts';
import type { Reference } from '../../../src/activities/notify/reference.ts';
import { createWebhookNotifier } from '../../../src/activities/notify/webhook.ts';
import { notification } from '../../../src/domain/core/notification.ts';

const said = notification('RolledBack', 'page', 'Release/web, target api', 'crash loop', 'web-3');

interface Received {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

let received: Received[];
let answer: (response: ServerResponse) => void;
let url: string;
let close: () => Promise<void>;

beforeEach(async () => {
  received = [];
  answer = (response) => response.writeHead(200).end('ok');
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { url: at = '', method = '', headers } = request;
      received.push({ path: at, method, headers, body: JSON.parse(body) as unknown });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/s3cret`;
  close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
});

afterEach(() => close());

function webhook(options: { url?: Reference; value?: string; timeoutMs?: number; format?: 'json' | 'slack' } = {}) {
  return createWebhookNotifier(
    {
      name: 'ops',
      url: options.url ?? { env: 'HOOK' },
      ...(options.format === undefined ? {} : { format: options.format }),
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    },
    {
      env: (name) => (name === 'HOOK' ? (options.value ?? url) : undefined),
      readFile: (file) => readFile(file, 'utf8'),
    },
  );
}

const never = new AbortController().signal;

describe('a webhook', () => {
  test('gets JSON whose text chat systems show, with a key by which repetitions are one', async () => {
    expect(await webhook().notify(said, never)).toEqual({ kind: 'delivered' });
    expect(received).toMatchObject([
      {
        path: '/services/s3cret',
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': 'RolledBack%2FRelease%2Fweb%2C%20target%20api%2Fweb-3',
        },
        body: {
          what: 'RolledBack',
          severity: 'page',
          subject: 'Release/web, target api',
          text: 'PAGE Release/web, target api RolledBack: crash loop',
          dedupeKey: 'RolledBack/Release/web, target api/web-3',
        },
      },
    ]);
  });

  test('of a chat system gets the text alone', async () => {
    expect(await webhook({ format: 'slack' }).notify(said, never)).toEqual({ kind: 'delivered' });
    expect(received[0]?.body).toEqual({ text: 'PAGE Release/web, target api RolledBack: crash loop' });
  });

  test('may have its URL in a file, which is read at each attempt', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'holdfast-notify-'));
    try {
      const file = path.join(folder, 'url');
      const notifier = webhook({ url: { file } });
      expect(await notifier.notify(said, never)).toEqual({
        kind: 'refused',
        message: `webhook ops has no URL: the file ${file} cannot be read (ENOENT)`,
      });
      await writeFile(file, '\n');
      expect(await notifier.notify(said, never)).toEqual({
        kind: 'refused',
        message: `webhook ops has no URL: the file ${file} is empty`,
      });
      await writeFile(file, `${url}\n`);
      expect(await notifier.notify(said, never)).toEqual({ kind: 'delivered' });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('without a URL is refused by the name of the variable, and a URL of another kind without showing it', async () => {
    expect(await webhook({ url: { env: 'OTHER' } }).notify(said, never)).toEqual({
      kind: 'refused',
      message: 'webhook ops has no URL: the environment variable OTHER is not set',
    });
    for (const value of ['file:///etc/passwd', 's3cret']) {
      expect(await webhook({ value }).notify(said, never)).toEqual({
        kind: 'refused',
        message: 'webhook ops: what the environment variable HOOK holds is no http URL',
      });
    }
    expect(received).toEqual([]);
  });

  test.each([
    [400, {}, { kind: 'refused', message: 'webhook ops answered 400' }],
    [404, {}, { kind: 'refused', message: 'webhook ops answered 404' }],
    [302, { location: '/elsewhere' }, { kind: 'refused', message: 'webhook ops answered 302' }],
    [429, { 'retry-after': '7' }, { kind: 'unreachable', message: 'webhook ops answered 429', retryAfterMs: 7_000 }],
    [429, {}, { kind: 'unreachable', message: 'webhook ops answered 429' }],
    [500, {}, { kind: 'unreachable', message: 'webhook ops answered 500' }],
    [
      503,
      { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' },
      { kind: 'unreachable', message: 'webhook ops answered 503' },
    ],
    [503, { 'retry-after': '-1' }, { kind: 'unreachable', message: 'webhook ops answered 503' }],
  ])('that answers %d is told apart', async (status, headers, delivery) => {
    answer = (response) => response.writeHead(status, headers).end('<html>');
    expect(await webhook().notify(said, never)).toEqual(delivery);
    expect(received).toHaveLength(1);
  });

  test('that does not answer is given up, without its URL in the message', async () => {
    answer = () => undefined;
    expect(await webhook({ timeoutMs: 50 }).notify(said, never)).toEqual({
      kind: 'unreachable',
      message: 'webhook ops did not answer within 50 ms',
    });
    answer = (response) => response.destroy();
    const dropped = await webhook().notify(said, never);
    expect(dropped.kind).toBe('unreachable');
    expect(await webhook({ value: await urlOfNobody() }).notify(said, never)).toEqual({
      kind: 'unreachable',
      message: 'webhook ops could not be reached: ECONNREFUSED',
    });
    expect(JSON.stringify(dropped)).not.toContain('s3cret');
  });

  test('is left when the activity is cancelled, which is no delivery', async () => {
    const controller = new AbortController();
    answer = () => controller.abort(new Error('cancelled'));
    await expect(webhook().notify(said, controller.signal)).rejects.toThrow('cancelled');
  });
});

describe('the log', () => {
  test('gets each notification at its level', async () => {
    const lines: string[] = [];
    const log = createLogNotifier({ info: (m) => lines.push(`info ${m}`), warn: (m) => lines.push(`warn ${m}`) });
    for (const severity of ['info', 'warning', 'page'] as const) {
      expect(await log.notify({ ...said, severity }, never)).toEqual({ kind: 'delivered' });
    }
    expect(lines).toEqual([
      'info Release/web, target api RolledBack: crash loop',
      'warn WARNING Release/web, target api RolledBack: crash loop',
      'warn PAGE Release/web, target api RolledBack: crash loop',
    ]);
  });
});

test('every receiver is told, and one that cannot be reached fails nothing', async () => {
  answer = (response) => response.writeHead(500).end();
  const lines: string[] = [];
  const log = createLogNotifier({ info: (m) => lines.push(m), warn: (m) => lines.push(m) });
  const { notify } = createNotifyActivities({ notifiers: [webhook(), log], signal: () => never }, [1]);
  expect(await notify(said)).toEqual({
    deliveries: [
      { notifier: 'webhook ops', kind: 'unreachable', message: 'webhook ops answered 500' },
      { notifier: 'log', kind: 'delivered' },
    ],
  });
  expect(lines).toHaveLength(1);
});

/** An address at which nobody listens (any more). */
async function urlOfNobody(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/s3cret`;
}

describe('a receiver that cannot be reached', () => {
  function flaky(...deliveries: Delivery[]) {
    let tries = 0;
    const notifier: Notifier = {
      name: 'flaky',
      notify: () => Promise.resolve(deliveries[Math.min(tries++, deliveries.length - 1)] ?? { kind: 'delivered' }),
    };
    const signal = new AbortController();
    const { notify } = createNotifyActivities({ notifiers: [notifier], signal: () => signal.signal }, [1, 1, 20]);
    return { notify, tries: () => tries, signal };
  }
  const down: Delivery = { kind: 'unreachable', message: 'down' };

  test('is tried again until it has the notification', async () => {
    const { notify, tries } = flaky(down, down, { kind: 'delivered' });
    expect(await notify(said)).toEqual({ deliveries: [{ kind: 'delivered', notifier: 'flaky' }] });
    expect(tries()).toBe(3);
  });

  test('is given up after a few tries, without an exception', async () => {
    const { notify, tries } = flaky(down);
    expect(await notify(said)).toEqual({ deliveries: [{ ...down, notifier: 'flaky' }] });
    expect(tries()).toBe(4);
  });

  test('is not asked again before it wants to be, and not at all where that is too late', async () => {
    const soon = flaky({ ...down, retryAfterMs: 15 }, { kind: 'delivered' });
    const begun = performance.now();
    await soon.notify(said);
    expect(performance.now() - begun).toBeGreaterThan(13);
    const late = flaky({ ...down, retryAfterMs: 60_000 });
    expect(await late.notify(said)).toMatchObject({ deliveries: [{ kind: 'unreachable' }] });
    expect(late.tries()).toBe(1);
  });

  test('a refusal is not tried again', async () => {
    const { notify, tries } = flaky({ kind: 'refused', message: 'no' });
    await notify(said);
    expect(tries()).toBe(1);
  });

  test('the cancellation ends the tries', async () => {
    const { notify, signal } = flaky({ ...down, retryAfterMs: 20 });
    const telling = notify(said);
    signal.abort();
    await expect(telling).rejects.toThrow();
  });
});

describe('NR-70 a page', () => {
  const log: Notifier = createLogNotifier({ info: () => undefined, warn: () => undefined });
  const receiver = (name: string, ...deliveries: Delivery[]): Notifier => ({
    name,
    notify: () => Promise.resolve(deliveries.shift() ?? { kind: 'delivered' }),
  });
  const pageTo = (...notifiers: Notifier[]) =>
    createNotifyActivities({ notifiers, signal: () => never }, []).page(said);
  const gone: Delivery = { kind: 'unreachable', message: 'ops could not be reached: ECONNREFUSED' };
  const refused: Delivery = { kind: 'refused', message: 'chat answered 404' };

  test('that only the log took fails, so that it is tried again until a receiver takes it', async () => {
    const ops = receiver('ops', gone);
    await expect(pageTo(log, ops)).rejects.toMatchObject({
      type: 'PageUndelivered',
      nonRetryable: false,
      message: 'nobody took the page RolledBack: ops could not be reached: ECONNREFUSED',
    });
    expect((await pageTo(log, ops)).deliveries).toEqual([
      { kind: 'delivered', notifier: 'log' },
      { kind: 'delivered', notifier: 'ops' },
    ]);
  });

  test('that every receiver refused fails too, and says what each of them answered', async () => {
    await expect(pageTo(receiver('chat', refused), log, receiver('ops', gone))).rejects.toThrow(
      'chat answered 404; ops could not be reached: ECONNREFUSED',
    );
  });

  test('is delivered once one of several receivers took it, and where the log is all there is', async () => {
    expect((await pageTo(log, receiver('chat', refused), receiver('ops'))).deliveries).toHaveLength(3);
    expect((await pageTo(log)).deliveries).toEqual([{ kind: 'delivered', notifier: 'log' }]);
  });
});
