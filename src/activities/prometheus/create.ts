import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { unmeasured, type Reading } from '../../domain/core/verdict.ts';
import { readAnswer, readBody } from './answer.ts';
import type { PrometheusClient, PrometheusConfig, QueryOptions } from './port.ts';
import { boundedBody } from '../bounded-body.ts';
import { errorCode } from '../error-code.ts';

/** One value is a few hundred bytes, and the rules of a large cluster a few hundred thousand. */
const MOST_BYTES = 4 << 20;

/** A GET, or a POST where it has a form. */
interface Question {
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
}

/**
 * The real adapter of {@link PrometheusPort}: one request for each question, never repeated here; the next probe comes soon
 * enough.
 */
export function createPrometheus(config: PrometheusConfig): PrometheusClient {
  const from = `Prometheus at ${new URL(config.url).host}`;
  const base = config.url.replace(/\/+$/, '');
  let agent: Promise<Agent> | null = null;

  function connection(): Promise<Agent> {
    agent ??= openAgent(config).catch((error: unknown) => {
      agent = null;
      throw error;
    });
    return agent;
  }

  async function ask<T>(
    what: string,
    question: Question,
    options: QueryOptions,
    understand: (status: number, body: string, what: string, from: string) => Reading<T>,
  ): Promise<Reading<T>> {
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
        `a secret or CA file of the worker's Prometheus configuration cannot be read (${errorCode(error)})`,
      );
    }
    try {
      const form = question.form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
      const response = await request(`${base}${question.path}`, {
        method: question.form === undefined ? 'GET' : 'POST',
        dispatcher,
        signal,
        headers: { ...credentials, ...form, accept: 'application/json' },
        ...(question.form === undefined ? {} : { body: new URLSearchParams(question.form).toString() }),
      });
      const body = await boundedBody(response.body, MOST_BYTES);
      if (body === null) {
        const message = `the answer is longer than ${MOST_BYTES} bytes; ask for less, such as an aggregate`;
        return unmeasured(what, from, 'truncated', message);
      }
      return understand(response.statusCode, body, what, from);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (timeout.aborted) return unmeasured(what, from, 'timeout', `no answer within ${options.timeoutMs} ms`);
      if (cutShort(error))
        return unmeasured(what, from, 'truncated', 'the connection ended in the middle of the answer');
      return unmeasured(what, from, 'unreachable', `cannot be reached (${errorCode(error)})`);
    }
  }

  const instant = (query: string, { timeoutMs }: QueryOptions): Question => ({
    path: '/api/v1/query',
    form: { query, timeout: `${Math.max(1, timeoutMs)}ms` },
  });
  const named = (query: string) => `query ${query.slice(0, 200)}`;

  return {
    value: (query, options) => ask(named(query), instant(query, options), options, readAnswer),
    series: (query, options) => ask(named(query), instant(query, options), options, readBody),
    rules: (options) => ask('the rules', { path: '/api/v1/rules?type=alert' }, options, readBody),
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

function cutShort(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
}
