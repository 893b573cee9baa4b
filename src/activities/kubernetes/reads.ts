import { read, unmeasured } from '../../domain/core/verdict.ts';
import type { Reading, Unmeasured } from '../../domain/core/verdict.ts';
import type { HttpAnswer } from './answer.ts';
import type { Discovery } from './discovery.ts';
import { isRecord, judge, parseJson, unmeasuredBy, unusable } from './errors.ts';
import { describe, describeQuery, resourcePath } from './kinds.ts';
import type { KubeObject, ListQuery, ObjectList, ObjectRef, ReadOptions } from './port.ts';
import { sendRead } from './retry.ts';
import type { Transport } from './transport.ts';

/** What the parts of the adapter share. */
export interface Connection {
  readonly transport: Transport;
  readonly discovery: Discovery;
  readonly requestTimeoutMs: number;
}

const pageSize = '500';
/** A list of this many pages is no list of a cluster: something repeats itself. */
const maxPages = 2_000;

/** Reads one object; see KubernetesPort.get. */
export async function getObject<T extends KubeObject>(
  { transport, discovery, requestTimeoutMs }: Connection,
  ref: ObjectRef,
  { timeoutMs = requestTimeoutMs, signal }: ReadOptions = {},
): Promise<Reading<T>> {
  const what = describe(ref);
  const until = performance.now() + timeoutMs;
  const resource = await discovery.resource(ref, timeoutMs);
  if (resource.kind === 'unmeasured') return { ...resource, what };
  const path = resourcePath(ref, resource.value);
  if ('problem' in path) return unmeasured(what, transport.server, 'error', path.problem);
  const answer = await sendRead(transport, {
    method: 'GET',
    path: path.path,
    timeoutMs: remaining(until),
    ...(signal === undefined ? {} : { signal }),
  });
  if (answer.kind === 'none' || answer.status !== 200) return unmeasuredBy(what, transport.server, answer);
  const object = asObject<T>(answer, ref.kind, ref.name);
  return object === undefined ? unusableReading(what, transport.server, answer) : read(object);
}

/**
 * Reads all pages; see KubernetesPort.list. A continue token that expired (410) means starting over: first with pages,
 * then, as client-go does, once in a single answer.
 */
export async function listObjects<T extends KubeObject>(
  connection: Connection,
  query: ListQuery,
  { timeoutMs = connection.requestTimeoutMs * 2, signal }: ReadOptions = {},
): Promise<Reading<ObjectList<T>>> {
  const what = describeQuery(query);
  const { transport, discovery } = connection;
  const until = performance.now() + timeoutMs;
  const resource = await discovery.resource(query, timeoutMs);
  if (resource.kind === 'unmeasured') return { ...resource, what };
  const path = resourcePath(query, resource.value);
  if ('problem' in path) return unmeasured(what, transport.server, 'error', path.problem);
  const source: ListSource = {
    transport,
    path: path.path,
    query,
    what,
    until,
    ...(signal === undefined ? {} : { signal }),
  };
  for (const limit of [pageSize, pageSize]) {
    const paged = await readPages<T>(source, limit);
    if (paged.kind !== 'expired') return paged;
  }
  const whole = await readPages<T>(source, undefined);
  return whole.kind === 'expired'
    ? unmeasured(what, transport.server, 'truncated', `${what}: ${whole.message}`)
    : whole;
}

interface ListSource {
  readonly transport: Transport;
  readonly path: string;
  readonly query: ListQuery;
  readonly what: string;
  readonly until: number;
  readonly signal?: AbortSignal;
}

type Expired = { readonly kind: 'expired'; readonly message: string };

async function readPages<T extends KubeObject>(
  source: ListSource,
  limit: string | undefined,
): Promise<Reading<ObjectList<T>> | Expired> {
  const { transport, query, what } = source;
  const items: T[] = [];
  let token: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const answer = await sendRead(transport, {
      method: 'GET',
      path: source.path,
      query: { limit, continue: token, labelSelector: query.labelSelector, fieldSelector: query.fieldSelector },
      timeoutMs: remaining(source.until),
      ...(source.signal === undefined ? {} : { signal: source.signal }),
    });
    if (answer.kind === 'answer' && answer.status === 410 && token !== undefined)
      return { kind: 'expired', message: judge(answer).message };
    if (answer.kind === 'none' || answer.status !== 200) return unmeasuredBy(what, transport.server, answer);
    const list = asList<T>(answer, query);
    if (list === undefined) return unusableReading(what, transport.server, answer);
    items.push(...list.items);
    if (list.next === undefined) return read({ items, resourceVersion: list.resourceVersion });
    if (list.next === token)
      return unmeasured(what, transport.server, 'truncated', `${what}: page ${page + 1} points to itself`);
    token = list.next;
  }
  return unmeasured(what, transport.server, 'truncated', `${what}: more than ${maxPages} pages`);
}

interface Page<T> {
  readonly items: T[];
  readonly resourceVersion: string;
  readonly next?: string;
}

function asList<T extends KubeObject>(answer: HttpAnswer, query: ListQuery): Page<T> | undefined {
  const body = parseJson(answer.body);
  if (!isRecord(body) || body.kind !== `${query.kind}List` || !isRecord(body.metadata)) return undefined;
  // Go writes an empty slice as [] or null; a missing key is another document.
  if (!('items' in body) || !(Array.isArray(body.items) || body.items === null)) return undefined;
  const { resourceVersion } = body.metadata;
  const next = body.metadata.continue;
  if (typeof resourceVersion !== 'string') return undefined;
  const items: T[] = [];
  for (const item of body.items ?? []) {
    if (!isKubeObject(item)) return undefined;
    // Items of a list come without apiVersion and kind.
    items.push({ ...item, apiVersion: query.apiVersion, kind: query.kind } as T);
  }
  return { items, resourceVersion, ...(typeof next === 'string' && next !== '' ? { next } : {}) };
}

/** The object that was asked for, by kind and name; undefined when the body is something else. */
export function asObject<T extends KubeObject>(answer: HttpAnswer, kind: string, name?: string): T | undefined {
  const body = parseJson(answer.body);
  if (!isKubeObject(body) || body.kind !== kind) return undefined;
  return name === undefined || body.metadata.name === name ? (body as T) : undefined;
}

/** Whether a value has the shape that all objects share. */
export function isKubeObject(value: unknown): value is KubeObject {
  return isRecord(value) && isRecord(value.metadata) && typeof value.metadata.name === 'string';
}

function unusableReading(what: string, from: string, answer: HttpAnswer): Unmeasured {
  const { why, message } = unusable(answer);
  return unmeasured(what, from, why, `${what}: ${message}`);
}

function remaining(until: number): number {
  return Math.max(1, Math.floor(until - performance.now()));
}
