import type { Answer } from './answer.ts';
import { isRecord, outcomeOf, parseJson, unusable } from './errors.ts';
import { describe, resourcePath } from './kinds.ts';
import type { DeleteOptions, KubeObject, ObjectRef, PatchOptions, PatchType, WriteOutcome } from './port.ts';
import { asObject } from './reads.ts';
import type { Connection } from './reads.ts';
import type { KubeRequest } from './transport.ts';

const contentTypes: Readonly<Record<PatchType, string>> = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  // JSON is YAML, and this is the one name that every served version knows.
  apply: 'application/apply-patch+yaml',
};

/** See KubernetesPort.patch. */
export async function patchObject<T extends KubeObject>(
  connection: Connection,
  ref: ObjectRef,
  body: unknown,
  options: PatchOptions,
): Promise<WriteOutcome<T>> {
  const prepared = withPreconditions(ref, body, options);
  if ('problem' in prepared) return { kind: 'invalid', message: prepared.problem, causes: [] };
  const what = `patch of ${describe(ref)}`;
  const { uid } = options.preconditions ?? {};
  const outcome = await write<T>(connection, what, ref, options.subresource === 'scale' ? 'Scale' : ref.kind, {
    method: 'PATCH',
    contentType: contentTypes[options.type],
    body: prepared.body,
    ...(options.subresource === undefined ? {} : { subresource: options.subresource }),
    query: {
      fieldManager: options.fieldManager,
      // The API server refuses `force` on the other types.
      force: options.type === 'apply' && options.force === true ? 'true' : undefined,
      dryRun: options.dryRun === true ? 'All' : undefined,
    },
  });
  // To the API server another uid is a change of an immutable field; to us it is another object of the same name.
  const foreign =
    uid !== undefined && outcome.kind === 'invalid' && outcome.causes.some((c) => c.field === 'metadata.uid');
  return foreign
    ? { kind: 'conflict', message: `${what}: the object of that name has no longer the uid ${uid}` }
    : outcome;
}

/** See KubernetesPort.create. */
export function createObject<T extends KubeObject>(
  connection: Connection,
  object: T,
  options: { readonly fieldManager: string },
): Promise<WriteOutcome<T>> {
  const { apiVersion, kind, metadata } = object;
  if (apiVersion === undefined || kind === undefined) {
    const message = `${metadata.name} cannot be created: it needs apiVersion and kind`;
    return Promise.resolve({ kind: 'invalid', message, causes: [] });
  }
  const ref = {
    apiVersion,
    kind,
    name: metadata.name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  };
  return write<T>(connection, `creation of ${describe(ref)}`, ref, kind, {
    method: 'POST',
    body: object,
    query: { fieldManager: options.fieldManager },
  });
}

/** See KubernetesPort.delete. */
export function deleteObject(
  connection: Connection,
  ref: ObjectRef,
  options: DeleteOptions,
): Promise<WriteOutcome<KubeObject>> {
  const { preconditions, propagationPolicy, gracePeriodSeconds } = options;
  return write<KubeObject>(connection, `deletion of ${describe(ref)}`, ref, ref.kind, {
    method: 'DELETE',
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy,
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(preconditions === undefined ? {} : { preconditions }),
    },
  });
}

interface Write extends Pick<KubeRequest, 'body' | 'contentType' | 'query'> {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly subresource?: string;
}

/** Sends a write once. An answer that cannot be read is `unknown`: the write has probably taken effect. */
async function write<T extends KubeObject>(
  { transport, discovery, requestTimeoutMs }: Connection,
  what: string,
  ref: ObjectRef,
  answerKind: string,
  { method, subresource, ...rest }: Write,
): Promise<WriteOutcome<T>> {
  const resource = await discovery.resource(ref, requestTimeoutMs);
  if (resource.kind === 'unmeasured') {
    if (resource.why === 'not-served') return { kind: 'missing', message: `${what}: ${resource.message}` };
    if (resource.why === 'denied') return { kind: 'denied', message: `${what}: ${resource.message}` };
    return { kind: 'unknown', cause: resource.why, message: `${what}: ${resource.message}`, effect: 'none' };
  }
  // Checked with the name also for a creation, which addresses the collection.
  const path = resourcePath(ref, resource.value);
  if ('problem' in path) return { kind: 'invalid', message: `${what}: ${path.problem}`, causes: [] };
  const collection = path.path.slice(0, path.path.lastIndexOf('/'));
  const answer = await transport.send({
    method,
    path: method === 'POST' ? collection : `${path.path}${subresource === undefined ? '' : `/${subresource}`}`,
    timeoutMs: requestTimeoutMs,
    ...rest,
  });
  return outcome<T>(what, ref, answerKind, method, answer);
}

function outcome<T extends KubeObject>(
  what: string,
  ref: ObjectRef,
  answerKind: string,
  method: Write['method'],
  answer: Answer,
): WriteOutcome<T> {
  if (answer.kind === 'none' || answer.status < 200 || answer.status > 299)
    return outcomeOf(what, answer, ref.kind === 'Secret');
  const object =
    asObject<T>(answer, answerKind, ref.name) ?? (method === 'DELETE' ? deleted<T>(ref, answer.body) : undefined);
  if (object !== undefined) return { kind: 'written', object };
  const { why, message } = unusable(answer);
  return { kind: 'unknown', cause: why, message: `${what}: ${message}` };
}

/** A deletion that is complete at once answers with a Status of `Success` instead of the object. */
function deleted<T extends KubeObject>(ref: ObjectRef, body: string): T | undefined {
  const status = parseJson(body);
  if (!isRecord(status) || status.kind !== 'Status' || status.status !== 'Success') return undefined;
  const uid = isRecord(status.details) && typeof status.details.uid === 'string' ? { uid: status.details.uid } : {};
  const namespace = ref.namespace === undefined ? {} : { namespace: ref.namespace };
  const object: KubeObject = {
    apiVersion: ref.apiVersion,
    kind: ref.kind,
    metadata: { name: ref.name, ...namespace, ...uid },
  };
  return object as T;
}

/**
 * Puts the preconditions into the body, where the API server checks them as part of the write. For a JSON patch they
 * become values too, not `test` operations: those would answer 422 like any malformed patch, where a value answers 409.
 */
function withPreconditions(
  ref: ObjectRef,
  body: unknown,
  { type, preconditions = {} }: PatchOptions,
): { readonly body: unknown } | { readonly problem: string } {
  const { uid, resourceVersion } = preconditions;
  if (type === 'json') {
    if (!Array.isArray(body)) return { problem: `patch of ${describe(ref)}: a json patch is an array of operations` };
    const checks = Object.entries({ uid, resourceVersion }).filter(([, value]) => value !== undefined);
    return {
      body: [
        ...checks.map(([key, value]) => ({ op: 'replace', path: `/metadata/${key}`, value })),
        ...(body as unknown[]),
      ],
    };
  }
  if (!isRecord(body)) return { problem: `patch of ${describe(ref)}: a ${type} patch is an object` };
  const metadata = isRecord(body.metadata) ? body.metadata : {};
  const checked = {
    ...metadata,
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  if (type !== 'apply') return { body: Object.keys(checked).length === 0 ? body : { ...body, metadata: checked } };
  const named = { ...checked, name: ref.name, ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }) };
  return { body: { ...body, apiVersion: ref.apiVersion, kind: ref.kind, metadata: named } };
}
