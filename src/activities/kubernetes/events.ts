import { createHash } from 'node:crypto';
import type { EventContent, KubeObject, ObjectRef, WriteOutcome } from './port.ts';
import { getObject } from './reads.ts';
import type { Connection } from './reads.ts';
import { createObject } from './writes.ts';

/** As `kubectl describe` shows it under FROM. */
const controller = 'holdfast.dev/holdfast';
/** Longest note that the API server takes (events.k8s.io/v1). */
const maxNoteChars = 1_024;

interface EventObject extends KubeObject {
  readonly [field: string]: unknown;
}

/**
 * Records an event; see KubernetesPort.event. Its name is a digest of what it says, about which object and for which
 * run, so that a repeat (a retried activity, a worker that died before it knew) meets `AlreadyExists` and is the same
 * event.
 * @param eventTime RFC 3339, of the first time; a repeat keeps the first one's.
 */
export async function recordEvent(
  connection: Connection,
  ref: ObjectRef & { readonly uid?: string },
  event: EventContent,
  eventTime: string,
): Promise<WriteOutcome<KubeObject>> {
  // Events about cluster-scoped objects live in "default", as the API server demands.
  const namespace = ref.namespace ?? 'default';
  const name = eventName(ref, event);
  const { apiVersion, kind, uid } = ref;
  const note = event.message.length <= maxNoteChars ? event.message : `${event.message.slice(0, maxNoteChars - 1)}…`;
  const object: EventObject = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace },
    type: event.type,
    reason: event.reason,
    note,
    action: event.action,
    eventTime: microTime(eventTime),
    reportingController: controller,
    reportingInstance: (event.reportingInstance ?? 'holdfast').slice(0, 128),
    regarding: {
      apiVersion,
      kind,
      name: ref.name,
      ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
      ...(uid === undefined ? {} : { uid }),
    },
  };
  const created = await createObject<KubeObject>(connection, object, { fieldManager: 'holdfast' });
  if (created.kind !== 'conflict') return created;
  const existing = await getObject<KubeObject>(connection, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    namespace,
    name,
  });
  return existing.kind === 'read' ? { kind: 'written', object: existing.value } : created;
}

/** Such as `web.3f9c…`: at most 253 characters, lower case as names are. */
function eventName(ref: ObjectRef & { readonly uid?: string }, event: EventContent): string {
  const parts = [
    ref.apiVersion,
    ref.kind,
    ref.namespace,
    ref.name,
    ref.uid,
    event.type,
    event.reason,
    event.message,
    event.action,
    event.runId,
  ];
  const digest = createHash('sha256')
    .update(JSON.stringify(parts.map((part) => part ?? null)))
    .digest('hex');
  return `${ref.name.slice(0, 200).toLowerCase()}.${digest.slice(0, 20)}`;
}

/** MicroTime wants six digits behind the second. */
function microTime(instant: string): string {
  return new Date(instant).toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
}
