import { watchKube, type WatchedObject, type Written } from './kube-watch.ts';
import type { LabEnv } from './lab.ts';
import { brokenPromises, type Fact, type LockFact, type NodeFact, type SeenLock } from './node-promises.ts';
import { waitFor } from './wait.ts';

/** Sees nodes and lock by the API's own watch while a test runs, and holds NodeReboot to its promises. */
export interface NodeObserver {
  /** Everything seen so far, in the order in which it came. */
  story(): readonly Fact[];
  /**
   * Ends it.
   *
   * @throws Error naming each promise that was broken; or where it saw nothing, which proves nothing
   */
  close(): Promise<void>;
}

interface Entry {
  readonly manager?: string;
  readonly time?: string;
  readonly fieldsV1?: { readonly 'f:data'?: Readonly<Record<string, unknown>> };
}

interface NodeObject extends WatchedObject {
  readonly metadata: WatchedObject['metadata'] & {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managedFields?: readonly Entry[];
  };
  readonly spec: { readonly unschedulable?: boolean };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly nodeInfo?: { readonly bootID: string };
  };
}

interface LockObject extends WatchedObject {
  readonly metadata: NodeObject['metadata'];
  readonly data?: Readonly<Record<string, string>>;
}

const nodesPath = '/api/v1/nodes';
const lockPath = '/api/v1/namespaces/holdfast/configmaps?fieldSelector=metadata.name%3Dnode-reboot-lock';
const manager = 'holdfast-node-reboot';

/** @returns once it sees the nodes, and the lock if there is one */
export async function observeNodes(env: Pick<LabEnv, 'apiServer' | 'caFile' | 'adminToken'>): Promise<NodeObserver> {
  const story: Fact[] = [];
  const nodes = watchKube<NodeObject>(env, nodesPath, (written) => story.push(nodeFact(written)));
  const lock = watchKube<LockObject>(env, lockPath, (written) => story.push(lockFact(written)));
  const caughtUp = () =>
    waitFor('the observer sees what the API server shows', async () => {
      return (await nodes.caughtUp()) && (await lock.caughtUp());
    });
  await caughtUp();
  return {
    story: () => story,
    async close() {
      try {
        await caughtUp();
      } finally {
        await nodes.stop();
        await lock.stop();
      }
      const missing = (['node', 'lock'] as const).filter((kind) => !story.some((fact) => fact.kind === kind));
      if (missing.length > 0) throw new Error(`the observer saw no ${missing.join(' and no ')}: it proves nothing`);
      const broken = brokenPromises(story);
      if (broken.length > 0) throw new Error(`NodeReboot has broken what it promises:\n${broken.join('\n')}`);
    },
  };
}

function nodeFact({ revision, object, gone }: Written<NodeObject>): NodeFact {
  const { metadata, spec, status } = object;
  const { name, annotations = {}, managedFields = [] } = metadata;
  const times = managedFields.filter((entry) => entry.manager === manager).map(({ time = '' }) => time);
  const node = {
    ready: status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true,
    unschedulable: spec.unschedulable === true,
    mark: annotations['holdfast.dev/cordoned-by'] ?? null,
    bootId: status.nodeInfo?.bootID ?? '',
    lastVisit: annotations['holdfast.dev/last-visit'] ?? null,
    writtenAt: times.sort().at(-1) ?? null,
  };
  return { kind: 'node', revision, name, node: gone ? null : node };
}

function lockFact({ revision, object, gone }: Written<LockObject>): LockFact {
  const { data = {}, metadata } = object;
  const lock = gone || Object.keys(data).length === 0 ? null : seenLock(data);
  const ours = (metadata.managedFields ?? []).some(({ manager: by, fieldsV1 }) => {
    const fields = fieldsV1?.['f:data'];
    if (by !== manager || fields === undefined) return false;
    return lock === null ? !Object.keys(fields).some((name) => name.startsWith('f:')) : 'f:campaign' in fields;
  });
  return { kind: 'lock', revision, lock, ours: ours && !gone };
}

function seenLock(data: Readonly<Record<string, string>>): SeenLock {
  const visit = JSON.parse(data['visit'] ?? '{}') as {
    readonly startedAt?: number;
    readonly step?: number;
    readonly rebootAt?: number | null;
    readonly givingUp?: { readonly reason: string } | null;
  };
  const { campaign = '', run = '', node = '', phase = '', undo = '' } = data;
  const { startedAt = 0, step = 0, rebootAt = null, givingUp = null } = visit;
  const rest = { startedAt, step, rebooting: rebootAt !== null, givingUp: givingUp?.reason ?? null };
  return { campaign, run, node, phase, undo, ...rest };
}
