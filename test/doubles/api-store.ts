/** The objects of the API server's double: versions, generations, patches, and the changes that watches replay. */

export interface Stored {
  apiVersion: string;
  kind: string;
  metadata: Record<string, unknown> & { name: string; namespace?: string; uid: string; resourceVersion: string };
  [field: string]: unknown;
}

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly collection: string;
  readonly object: Stored;
}

/** A refusal with the code and reason that a real API server gives. */
export class Refusal extends Error {
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly object[];

  constructor(code: number, reason: string, message: string, causes: readonly object[] = []) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.causes = causes;
  }
}

export interface Checks {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export function createStore() {
  const objects = new Map<string, Stored>();
  const changes: Change[] = [];
  const listeners = new Set<(change: Change) => void>();
  let version = 100;
  let uids = 0;

  const key = (collection: string, namespace: string | undefined, name: string) =>
    `${collection}|${namespace ?? ''}|${name}`;

  function record(type: Change['type'], collection: string, object: Stored): void {
    const change = { type, version, collection, object: structuredClone(object) };
    changes.push(change);
    for (const listener of listeners) listener(change);
  }

  function find(collection: string, namespace: string | undefined, name: string): Stored {
    const found = objects.get(key(collection, namespace, name));
    if (found === undefined) throw new Refusal(404, 'NotFound', `${collection} "${name}" not found`);
    return found;
  }

  return {
    version: () => version,
    changesAfter: (after: number) => changes.filter((change) => change.version > after),
    listen(listener: (change: Change) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    get: (collection: string, namespace: string | undefined, name: string) =>
      structuredClone(find(collection, namespace, name)),

    list: (collection: string, namespace: string | undefined) =>
      [...objects.entries()]
        .filter(
          ([at]) =>
            at.startsWith(`${collection}|`) &&
            (namespace === undefined || at.startsWith(`${collection}|${namespace}|`)),
        )
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, object]) => structuredClone(object)),

    create(collection: string, namespace: string | undefined, body: Record<string, unknown>): Stored {
      const metadata = body.metadata as { name: string };
      const at = key(collection, namespace, metadata.name);
      if (objects.has(at)) throw new Refusal(409, 'AlreadyExists', `${collection} "${metadata.name}" already exists`);
      version += 1;
      uids += 1;
      const object = {
        ...structuredClone(body),
        metadata: {
          ...metadata,
          ...(namespace === undefined ? {} : { namespace }),
          uid: `00000000-0000-4000-8000-${String(uids).padStart(12, '0')}`,
          resourceVersion: String(version),
          generation: 1,
          creationTimestamp: '2026-01-01T00:00:00Z',
        },
      } as unknown as Stored;
      objects.set(at, object);
      record('ADDED', collection, object);
      return structuredClone(object);
    },

    change(
      collection: string,
      namespace: string | undefined,
      name: string,
      patch: (before: Stored) => Record<string, unknown>,
      dryRun: boolean,
    ): Stored {
      const before = find(collection, namespace, name);
      const after = patch(structuredClone(before)) as Stored;
      check(before, { resourceVersion: after.metadata.resourceVersion });
      if (after.metadata.uid !== before.metadata.uid)
        throw new Refusal(422, 'Invalid', `${name} is invalid: metadata.uid: field is immutable`, [
          { field: 'metadata.uid', reason: 'FieldValueInvalid', message: 'field is immutable' },
        ]);
      const specChanged = JSON.stringify(before.spec) !== JSON.stringify(after.spec);
      if (!specChanged && JSON.stringify(before) === JSON.stringify(after)) return after;
      if (specChanged) after.metadata.generation = Number(before.metadata.generation) + 1;
      if (dryRun) return after;
      version += 1;
      after.metadata.resourceVersion = String(version);
      objects.set(key(collection, namespace, name), after);
      record('MODIFIED', collection, after);
      return structuredClone(after);
    },

    remove(collection: string, namespace: string | undefined, name: string, checks: Checks): Stored {
      const before = find(collection, namespace, name);
      check(before, checks);
      version += 1;
      objects.delete(key(collection, namespace, name));
      before.metadata.resourceVersion = String(version);
      record('DELETED', collection, before);
      return structuredClone(before);
    },

    /** Lets time pass for others, so that versions move on. */
    tick(): number {
      version += 1;
      return version;
    },
  };
}

export type Store = ReturnType<typeof createStore>;

function check(object: Stored, { uid, resourceVersion }: Checks): void {
  if (uid !== undefined && uid !== object.metadata.uid)
    throw new Refusal(
      409,
      'Conflict',
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${object.metadata.uid}`,
    );
  if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
    throw new Refusal(
      409,
      'Conflict',
      'the object has been modified; please apply your changes to the latest version and try again',
    );
}
