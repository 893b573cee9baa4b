import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { createKubernetes } from '../../src/activities/kubernetes/create.ts';
import type { KubeObject } from '../../src/activities/kubernetes/port.ts';
import { releaseSpec, type ReleaseSpecInput } from '../../src/domain/release/spec.ts';
import type { ReleaseStatus } from '../../src/domain/release/status.ts';
import { RELEASE_QUEUE, releaseId, rolloutId, statusQuery } from '../../src/workflows/release/messages.ts';
import type { releaseWorkflow } from '../../src/workflows/release/workflow.ts';
import { createNamespace, deleteNamespace, markAudit, readAudit, type AuditMark } from '../lab/access.ts';
import { pushSpokeImage, type PushedImage } from '../lab/images.ts';
import { kube } from '../lab/kube-api.ts';
import { attachLab, type LabEnv } from '../lab/lab.ts';
import { spokeDeployment } from '../lab/manifests.ts';
import { waitFor } from '../lab/wait.ts';

/** `good`: both targets get the new image. `bad`: the canary fails its soak and is rolled back, the other is not touched. */
export type Kind = 'good' | 'bad';

/** A release with two targets, each alone on this lab, that are to go from 1.0.0 to 1.1.0. */
export interface Subject {
  readonly name: string;
  readonly kind: Kind;
  readonly client: Client;
  readonly targets: readonly string[];
  readonly since: AuditMark;
}

/** What is left when a release has come to rest, without names and instants: equal for equal runs. */
export interface EndState {
  readonly targets: Readonly<Record<string, TargetEnd>>;
  readonly status: unknown;
  /** Kubernetes events about each target, sorted. */
  readonly events: readonly string[];
  /** Every write that the API server has accepted, in order: target, and image or marks. */
  readonly writes: readonly string[];
}

interface TargetEnd {
  readonly image: string;
  /** Counts every change of the pod template, whoever made it. */
  readonly generation: number;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Fleet {
  readonly images: { readonly old: PushedImage; readonly new: PushedImage };
  /** Deploys the targets of a new release on the old image. */
  prepare(client: Client, kind: Kind): Promise<Subject>;
  /** Starts the release's workflow, as `apply` does. */
  apply(subject: Subject, change?: Partial<ReleaseSpecInput>): Promise<WorkflowHandle<typeof releaseWorkflow>>;
  /** Waits until the release is at rest with the outcome of its kind. */
  settled(subject: Subject): Promise<ReleaseStatus>;
  endState(subject: Subject): Promise<EndState>;
  /** What of it is outside of Temporal. */
  endOfObjects(subject: Subject): Promise<Omit<EndState, 'status'>>;
  /** Ends its workflows and removes its targets. */
  remove(subject: Subject): Promise<void>;
  close(): Promise<void>;
}

interface Deployment extends KubeObject {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
  readonly status?: { readonly availableReplicas?: number };
}

const REPOSITORY = 'chaos/spoke';

export async function openFleet(lab: LabEnv): Promise<Fleet> {
  const parts = await attachLab(lab.dir);
  const nodes = await parts.addNodes({ count: 1, arch: 'amd64', prefix: 'chaos' });
  const namespace = await createNamespace(lab, 'chaos');
  const kubernetes = await createKubernetes({ name: 'test', kubeconfig: lab.kubeconfig });
  const images = { old: await push(lab, '1.0.0'), new: await push(lab, '1.1.0') };
  const subjects = new Map<string, Subject>();
  let count = 0;

  async function deployment(name: string): Promise<Deployment> {
    return kube<Deployment>(lab, 'GET', `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`);
  }

  async function imageOf(name: string): Promise<string> {
    return (await deployment(name)).spec.template.spec.containers[0]?.image ?? '';
  }

  async function endOfObjects(subject: Subject): Promise<Omit<EndState, 'status'>> {
    const { targets, since } = subject;
    const neutral = (text: string) => anonymous(text, subject, namespace);
    const ends = await Promise.all(
      targets.map(async (target): Promise<[string, TargetEnd]> => {
        const { metadata } = await deployment(target);
        const own = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith('holdfast.dev/'));
        return [
          neutral(target),
          {
            image: await imageOf(target),
            generation: metadata.generation ?? 0,
            annotations: Object.fromEntries(own.map(([key, value]) => [key, neutral(value)] as const).sort()),
          },
        ];
      }),
    );
    const { items } = await kube<{
      items: { reason: string; regarding: { name: string }; reportingController: string }[];
    }>(lab, 'GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
    return {
      targets: Object.fromEntries(ends),
      events: items
        .filter((e) => e.reportingController.includes('holdfast') && targets.includes(e.regarding.name))
        .map((e) => `${neutral(e.regarding.name)} ${e.reason}`)
        .sort(),
      writes: await acceptedWrites(lab, since, targets, neutral),
    };
  }

  /** A bad image answers well until its soak has begun, as Temporal itself knows it, and badly from then on. */
  async function isHealthy(target: string): Promise<boolean> {
    const subject = [...subjects.values()].find((s) => s.targets.includes(target));
    if (subject === undefined || subject.kind === 'good') return true;
    if ((await imageOf(target)) !== images.new.reference) return true;
    const { events } = await subject.client.workflow.getHandle(rolloutId(subject.name)).fetchHistory();
    return !(events ?? []).some((e) => e.activityTaskScheduledEventAttributes?.activityType?.name === 'watchSoak');
  }

  const health = createServer((request, response) => {
    isHealthy((request.url ?? '').slice(1)).then(
      (healthy) => response.writeHead(healthy ? 200 : 500).end(),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => health.listen(0, '127.0.0.1', resolve));
  const { port } = health.address() as AddressInfo;

  return {
    images,
    async prepare(client, kind) {
      count += 1;
      const name = `${kind}-${count}`;
      const targets = [`${name}-a`, `${name}-b`];
      await Promise.all(
        targets.map(async (target) => {
          const wanted = spokeDeployment({
            namespace,
            name: target,
            image: images.old.reference,
            node: 'kwok',
            readinessProbe: false,
          });
          await kube(lab, 'POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, { body: wanted });
          await waitFor(
            `${target} is available`,
            async () => (await deployment(target)).status?.availableReplicas === 1,
          );
        }),
      );
      const subject = { name, kind, client, targets, since: await markAudit(lab) };
      subjects.set(name, subject);
      return subject;
    },
    apply({ name, client, targets }, change = {}) {
      const spec: ReleaseSpecInput = {
        mode: 'Enforce',
        image: `${lab.registry}/${REPOSITORY}`,
        track: { line: '^\\d' },
        pollInterval: '5s',
        soak: '1s',
        soakProbeInterval: '300ms',
        rolloutTimeout: '3m',
        targets: targets.map((target) => ({
          namespace,
          deployment: target,
          container: 'spoke',
          kind: 'hub' as const,
          healthURL: `http://127.0.0.1:${port}/${target}`,
        })),
        ...change,
      };
      return client.workflow.start<typeof releaseWorkflow>('releaseWorkflow', {
        workflowId: releaseId(name),
        taskQueue: RELEASE_QUEUE,
        args: [{ name, spec: releaseSpec.parse(spec) }],
      });
    },
    async settled({ name, kind, client }) {
      const handle = client.workflow.getHandle(releaseId(name));
      let last: ReleaseStatus | null = null;
      try {
        return await waitFor(
          `${name} has come to rest`,
          async () => {
            const status = await handle.query(statusQuery);
            last = status;
            return status.rollout === null && isOver(status, kind) && (await isIdle(handle)) ? status : null;
          },
          150_000,
          200,
        );
      } catch (error) {
        const seen = { status: whatCounts(last), ...(await seenAround(lab, namespace)) };
        throw new Error(`${String(error)}; seen last: ${JSON.stringify(seen)}`, { cause: error });
      }
    },
    async endState(subject) {
      const status = await subject.client.workflow.getHandle(releaseId(subject.name)).query(statusQuery);
      const counts = anonymous(JSON.stringify(whatCounts(status)), subject, namespace);
      return { ...(await endOfObjects(subject)), status: JSON.parse(counts) as unknown };
    },
    endOfObjects,
    async remove({ name, client, targets }) {
      subjects.delete(name);
      for (const id of [releaseId(name), rolloutId(name)]) {
        await client.workflow
          .getHandle(id)
          .terminate('test is over')
          .catch((error: unknown) => {
            if (!/not found|already completed/i.test(String(error))) throw error;
          });
      }
      for (const target of targets) {
        await kube(lab, 'DELETE', `/apis/apps/v1/namespaces/${namespace}/deployments/${target}`);
      }
    },
    async close() {
      health.closeAllConnections();
      health.close();
      await kubernetes.close();
      await deleteNamespace(lab, namespace);
      await parts.removeNodes(nodes);
    },
  };
}

function push(lab: LabEnv, version: string): Promise<PushedImage> {
  const revision = version.padStart(40, '0').replaceAll('.', 'a');
  return pushSpokeImage(lab.registry, { repository: REPOSITORY, tag: version, version, revision });
}

function isOver({ targets }: ReleaseStatus, kind: Kind): boolean {
  if (targets.length === 0) return false;
  if (kind === 'bad') return targets[0]?.phase === 'RolledBack';
  return targets.every((t) => t.phase === 'Current' && (t.current ?? '').includes('1.1.0'));
}

/** Nothing is under way but the wait for a change. */
async function isIdle(handle: WorkflowHandle): Promise<boolean> {
  const { raw } = await handle.describe();
  const pending = raw.pendingActivities ?? [];
  return pending.length > 0 && pending.every((a) => a.activityType?.name === 'awaitChange');
}

/** What a person would look at next, where a rollout does not come to an end. */
async function seenAround(lab: LabEnv, namespace: string): Promise<object> {
  const list = async (path: string) =>
    (await kube<{ items: { metadata: object; status: object }[] }>(lab, 'GET', path)).items;
  const pods = await list(`/api/v1/namespaces/${namespace}/pods`);
  const nodes = await list('/api/v1/nodes');
  const leases = await kube<{ items: object[] }>(
    lab,
    'GET',
    '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
  );
  return { pods, nodes, leases: leases.items };
}

/** What a person relies on in a status; not how often something was looked at. */
function whatCounts(of: ReleaseStatus | null): unknown {
  if (of === null) return null;
  const { phase, effectiveMode, targets, blocked, rollbacks, conditions } = of;
  return {
    phase,
    effectiveMode,
    rollbacks,
    targets: targets.map(({ name, phase: p, reason, current, desired, applied, rollbackTo }) => ({
      name,
      phase: p,
      reason,
      current,
      desired,
      applied,
      rollbackTo,
    })),
    blocked: blocked.map(({ image }) => image),
    conditions: conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
  };
}

async function acceptedWrites(
  lab: LabEnv,
  since: AuditMark,
  targets: readonly string[],
  neutral: (text: string) => string,
): Promise<string[]> {
  const events = await readAudit(lab, since);
  return events.flatMap(({ verb, objectRef, userAgent, responseStatus, requestObject }) => {
    if (!['create', 'update', 'patch', 'delete'].includes(verb) || objectRef?.resource !== 'deployments') return [];
    if (!userAgent?.includes('holdfast') || userAgent.includes('lab') || !targets.includes(objectRef.name ?? ''))
      return [];
    if ((responseStatus?.code ?? 500) > 299) return [];
    const image = (requestObject as Partial<Deployment> | undefined)?.spec?.template.spec.containers[0]?.image;
    return [`${neutral(objectRef.name ?? '')} ${image ?? 'marks'}`];
  });
}

function anonymous(text: string, { name }: Subject, namespace: string): string {
  return text
    .replaceAll(name, 'NAME')
    .replaceAll(namespace, 'NAMESPACE')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}
