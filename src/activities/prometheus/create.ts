import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { unmeasured, type Reading } from '../../domain/core/verdict.ts';
import { readAnswer } from './answer.ts';
import type { PrometheusClient, PrometheusConfig, QueryOptions } from './port.ts';

/** One value is a few hundred bytes; more than this is a query that was not aggregated. */
const MOST_BYTES = 1 << 20;

/**
 * The real adapter of {@link PrometheusPort}: one POST of the query API per value, never repeated here; the next probe
 * comes soon enough.
 */
export function createPrometheus(config: PrometheusConfig): PrometheusClient {
  const from = `Prometheus at ${new URL(config.url).host}`;
  const endpoint = `${config.url.replace(/\/+$/, '')}/api/v1/query`;
  let agent: Promise<Agent> | null = null;

  function connection(): Promise<Agent> {
    agent ??= openAgent(config).catch((error: unknown) => {
      agent = null;
      throw error;
    });
    return agent;
  }

  async function value(query: string, options: QueryOptions): Promise<Reading<number>> {
    const what = `query ${query.slice(0, 200)}`;
    const timeout = AbortSignal.timeout(options.timeoutMs);
    const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
    let credentials: Record<string, string>;
    let dispatcher: Agent;
    try {
      [credentials, dispatcher] = await Promise.all([authorization(config), connection()]);
    } catch (error) {
      return unmeasured(
        what,
        from,
        'missing',
        `a secret or CA file of the worker's Prometheus configuration cannot be read (${codeOf(error)})`,
      );
    }
    try {
      const response = await request(endpoint, {
        method: 'POST',
        dispatcher,
        signal,
        headers: { ...credentials, 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: new URLSearchParams({ query, timeout: `${Math.max(1, options.timeoutMs)}ms` }).toString(),
      });
      const body = await bounded(response.body);
      if (body === null)
        return unmeasured(
          what,
          from,
          'truncated',
          `the answer is longer than ${MOST_BYTES} bytes; aggregate the query to one value`,
        );
      return readAnswer(response.statusCode, body, what, from);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (timeout.aborted) return unmeasured(what, from, 'timeout', `no answer within ${options.timeoutMs} ms`);
      if (cutShort(error))
        return unmeasured(what, from, 'truncated', 'the connection ended in the middle of the answer');
      return unmeasured(what, from, 'unreachable', `cannot be reached (${codeOf(error)})`);
    }
  }

  return {
    value,
    async close() {
      if (agent !== null) await (await agent).close();
    },
  };
}

async function openAgent(config: PrometheusConfig): Promise<Agent> {
  const ca = config.caFile === undefined ? undefined : await readFile(config.caFile, 'utf8');
  return new Agent({ connections: 8, ...(ca === undefined ? {} : { connect: { ca } }) });
}

async function authorization(config: PrometheusConfig): Promise<Record<string, string>> {
  if (config.bearer !== undefined) return { authorization: `Bearer ${await config.bearer()}` };
  if (config.basic !== undefined) {
    const { username, password } = config.basic;
    return { authorization: `Basic ${Buffer.from(`${username}:${await password()}`).toString('base64')}` };
  }
  return {};
}

/** The whole body, or null where it is too long. */
async function bounded(body: AsyncIterable<Uint8Array>): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > MOST_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function cutShort(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
}

/** The stable code of an error: its message may hold an address or a header. */
function codeOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string')
    return error.code;
  return error instanceof Error ? error.name : 'unknown error';
}
