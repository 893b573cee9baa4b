import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import type { LabEnv } from './lab.ts';

/** An answer of the API server that is no success. */
export class KubeApiError extends Error {
  override readonly name = 'KubeApiError';
  readonly status: number;
  readonly reason: string;

  constructor(what: string, status: number, reason: string, message: string) {
    super(`${what}: ${status} ${reason} ${message}`.trimEnd());
    this.status = status;
    this.reason = reason;
  }
}

export interface KubeRequest {
  body?: unknown;
  /** Of the body; JSON unless said otherwise. */
  contentType?: string;
}

export type KubeMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

// One agent for each certificate, so that requests share connections; it closes them when they are idle.
const agents = new Map<string, Agent>();

/**
 * One request to the lab's API server as its administrator: what the lab itself and the preparation of tests need, and
 * nothing of the product's own client.
 *
 * @param path with its query, as in `/api/v1/namespaces/default/pods`
 * @throws KubeApiError on every answer that is no success
 */
export async function kube<T = unknown>(
  env: Pick<LabEnv, 'apiServer' | 'caFile' | 'adminToken'>,
  method: KubeMethod,
  path: string,
  { body, contentType = 'application/json' }: KubeRequest = {},
): Promise<T> {
  const response = await request(env.apiServer + path, {
    method,
    dispatcher: agentFor(env.caFile),
    headers: {
      authorization: `Bearer ${env.adminToken}`,
      'user-agent': 'holdfast-lab',
      ...(body === undefined ? {} : { 'content-type': contentType }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
  });
  const text = await response.body.text();
  if (response.statusCode < 300) return (text.startsWith('{') ? JSON.parse(text) : text) as T;
  const { reason, message } = statusOf(text);
  throw new KubeApiError(`${method} ${path}`, response.statusCode, reason, message);
}

/** The same, but null instead of an error where the thing is not there. */
export async function kubeGetOrNull<T>(
  env: Pick<LabEnv, 'apiServer' | 'caFile' | 'adminToken'>,
  path: string,
): Promise<T | null> {
  try {
    return await kube<T>(env, 'GET', path);
  } catch (error) {
    if (error instanceof KubeApiError && error.status === 404) return null;
    throw error;
  }
}

function agentFor(caFile: string): Agent {
  const ca = readFileSync(caFile, 'utf8');
  const known = agents.get(ca);
  if (known) return known;
  const agent = new Agent({ connect: { ca, timeout: 5_000 } });
  agents.set(ca, agent);
  return agent;
}

function statusOf(text: string): { reason: string; message: string } {
  try {
    const status = JSON.parse(text) as { reason?: string; message?: string };
    return { reason: status.reason ?? '', message: status.message ?? '' };
  } catch {
    return { reason: '', message: text.slice(0, 200) };
  }
}
