import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createPrometheus } from '../../../src/activities/prometheus/create.ts';
import type { PrometheusClient, PrometheusConfig } from '../../../src/activities/prometheus/port.ts';

/** A server of this process stands for Prometheus: most of these answers a real one cannot be made to give. */
let server: Server | undefined;
let client: PrometheusClient | undefined;

afterEach(async () => {
  await client?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  server = undefined;
  client = undefined;
});

async function prometheus(answer: RequestListener, config: Partial<PrometheusConfig> = {}): Promise<PrometheusClient> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  client = createPrometheus({ url: `http://127.0.0.1:${port}/prefix/`, ...config });
  return client;
}

function answering(status: number, body: unknown): RequestListener {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

function vector(...values: string[]): unknown {
  return {
    status: 'success',
    data: { resultType: 'vector', result: values.map((v) => ({ metric: {}, value: [1_700_000_000, v] })) },
  };
}

const options = { timeoutMs: 2_000 };

describe('a query has a value only where Prometheus gives exactly one', () => {
  test('one series', async () => {
    const port = await prometheus(answering(200, vector('0.25')));
    expect(await port.value('up', options)).toEqual({ kind: 'read', value: 0.25 });
  });

  test('a scalar', async () => {
    const port = await prometheus(
      answering(200, { status: 'success', data: { resultType: 'scalar', result: [1, '7'] } }),
    );
    expect(await port.value('7', options)).toEqual({ kind: 'read', value: 7 });
  });

  test('infinity is a value, above every bound', async () => {
    const port = await prometheus(answering(200, vector('+Inf')));
    expect(await port.value('x', options)).toEqual({ kind: 'read', value: Number.POSITIVE_INFINITY });
  });

  test.each([
    ['no data', 200, vector(), 'empty'],
    ['NaN', 200, vector('NaN'), 'empty'],
    ['several series', 200, vector('1', '2'), 'error'],
    ['a range of values', 200, { status: 'success', data: { resultType: 'matrix', result: [] } }, 'unparsed'],
    ['text for a number', 200, vector('abc'), 'unparsed'],
    ['an empty text for a number', 200, vector(''), 'unparsed'],
    ['a query that cannot be parsed', 400, { status: 'error', errorType: 'bad_data', error: 'parse error' }, 'error'],
    ['a query that timed out', 503, { status: 'error', errorType: 'timeout', error: 'query timed out' }, 'timeout'],
    ['denied', 401, 'Unauthorized', 'denied'],
    ['forbidden', 403, '{}', 'denied'],
    ['throttled', 429, '<html>', 'throttled'],
    ['a gateway that is down', 502, '<html>bad gateway</html>', 'unreachable'],
    ['not a Prometheus', 200, '<html>hello</html>', 'unparsed'],
    ['JSON cut in the middle', 200, '{"status":"success","data":{"resultType":"vec', 'unparsed'],
    [
      'partial results of a store',
      200,
      { status: 'success', warnings: ['store down'], data: { resultType: 'vector', result: [{ value: [1, '0'] }] } },
      'truncated',
    ],
  ])('%s is unmeasured', async (_, status, body, why) => {
    const port = await prometheus(answering(status, body));
    expect(await port.value('q', options)).toMatchObject({ kind: 'unmeasured', why });
  });

  test('an answer that never comes is a time-out', async () => {
    const port = await prometheus(() => undefined);
    expect(await port.value('q', { timeoutMs: 100 })).toMatchObject({ kind: 'unmeasured', why: 'timeout' });
  });

  test('a connection that ends in the middle is truncated', async () => {
    const port = await prometheus((_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"status":');
      setTimeout(() => response.destroy(), 20);
    });
    expect(await port.value('q', options)).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
  });

  test('an answer of a hundred megabytes is not read to its end', async () => {
    const port = await prometheus((_, response) => {
      const more = () => {
        while (response.writable && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    expect(await port.value('q', options)).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
  });

  test('a server that is not there is unreachable', async () => {
    const port = await prometheus(() => undefined);
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
    expect(await port.value('q', options)).toMatchObject({ kind: 'unmeasured', why: 'unreachable' });
  });

  test('a cancelled query throws what it was cancelled with', async () => {
    const port = await prometheus(() => undefined);
    const cancelled = new Error('no longer wanted');
    await expect(port.value('q', { ...options, signal: AbortSignal.abort(cancelled) })).rejects.toBe(cancelled);
  });
});

describe('credentials', () => {
  test('a rotated token is sent with the next query, and the prefix of the address is kept', async () => {
    const seen: unknown[] = [];
    let token = 'first';
    const port = await prometheus(
      (request, response) => {
        seen.push([request.url, request.headers.authorization]);
        answering(200, vector('1'))(request, response);
      },
      { bearer: () => Promise.resolve(token) },
    );
    await port.value('q', options);
    token = 'second';
    await port.value('q', options);
    expect(seen).toEqual([
      ['/prefix/api/v1/query', 'Bearer first'],
      ['/prefix/api/v1/query', 'Bearer second'],
    ]);
  });

  test('a secret that cannot be read is unmeasured, and no query is sent', async () => {
    let asked = 0;
    const port = await prometheus(() => (asked += 1), {
      basic: {
        username: 'u',
        password: () => Promise.reject(Object.assign(new Error('secret path'), { code: 'ENOENT' })),
      },
    });
    const reading = await port.value('q', options);
    expect(reading).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(JSON.stringify(reading)).not.toContain('secret path');
    expect(asked).toBe(0);
  });
});
