import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import type { EtcdConfig, EtcdOptions, EtcdPort } from './port.ts';
import { boundedBody } from '../bounded-body.ts';
import { errorCode } from '../error-code.ts';

/** A member list is a few kilobytes. */
const mostBytes = 1 << 20;

/** The real adapter of {@link EtcdPort}. Certificates are read anew for each question, so that a renewed one is honoured. */
export function createEtcd(config: EtcdConfig): EtcdPort {
  async function ask(url: string, method: 'GET' | 'POST', options: EtcdOptions): Promise<Reading<unknown>> {
    const from = new URL(url).host;
    const what = `${new URL(url).pathname} of etcd at ${from}`;
    const timeout = AbortSignal.timeout(options.timeoutMs);
    const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
    let agent: Agent;
    try {
      agent = await openAgent(config);
    } catch (error) {
      return unmeasured(what, 'this worker', 'missing', `a certificate for etcd cannot be read (${errorCode(error)})`);
    }
    try {
      const body = method === 'POST' ? { body: '{}', headers: { 'content-type': 'application/json' } } : {};
      const response = await request(url, { method, dispatcher: agent, signal, ...body });
      const text = await boundedBody(response.body, mostBytes);
      if (text === null) return unmeasured(what, from, 'truncated', `${what}: the answer is too long`);
      // A member without a leader answers /health with 503 and says so in the body.
      if (response.statusCode !== 200 && response.statusCode !== 503) {
        const why = response.statusCode === 401 || response.statusCode === 403 ? 'denied' : 'error';
        return unmeasured(what, from, why, `${what}: it answers ${response.statusCode}`);
      }
      return read(JSON.parse(text) as unknown);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (timeout.aborted)
        return unmeasured(what, from, 'timeout', `${what}: no answer within ${options.timeoutMs} ms`);
      if (error instanceof SyntaxError) return unmeasured(what, from, 'unparsed', `${what}: the answer is not JSON`);
      return unmeasured(what, from, 'unreachable', `${what}: it cannot be reached (${errorCode(error)})`);
    } finally {
      await agent.destroy();
    }
  }

  return {
    async members(options) {
      let last: Reading<unknown> = unmeasured(
        'the members of etcd',
        'this worker',
        'missing',
        'no endpoint is configured',
      );
      for (const endpoint of config.endpoints) {
        last = await ask(`${endpoint.replace(/\/+$/, '')}/v3/cluster/member/list`, 'POST', options);
        if (last.kind === 'read') return last;
      }
      return last;
    },
    health: (clientUrl, options) => ask(`${clientUrl.replace(/\/+$/, '')}/health`, 'GET', options),
  };
}

async function openAgent({ caFile, certFile, keyFile }: EtcdConfig): Promise<Agent> {
  const file = (path: string | undefined) => (path === undefined ? undefined : readFile(path, 'utf8'));
  const [ca, cert, key] = await Promise.all([file(caFile), file(certFile), file(keyFile)]);
  const connect = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  return new Agent({ connections: 1, connect });
}
