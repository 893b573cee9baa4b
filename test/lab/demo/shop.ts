import { pushSpokeImage, type PushedImage } from '../images.ts';
import { kube } from '../kube-api.ts';
import { spokeDeployment } from '../manifests.ts';
import { waitFor } from '../wait.ts';
import { BREAKS_AFTER_SECONDS, CONTAINER, TARGETS, type Stage, type Target } from './stage.ts';

/** A Deployment of the shop, as far as the demo reads it. */
export interface Deployment {
  metadata: { name: string; annotations?: Record<string, string> };
  spec: { replicas: number; template: { spec: { containers: { name: string; image: string }[] } } };
  status?: { readyReplicas?: number; updatedReplicas?: number };
}

/** Publishes a version of the shop's image. The bad one starts, passes its health, and ends a few seconds later. */
export async function publish(stage: Stage, version: string, bad = false): Promise<PushedImage> {
  return pushSpokeImage(stage.lab.registry, {
    repository: stage.repository.slice(stage.lab.registry.length + 1),
    tag: version,
    version,
    revision: version.replaceAll('.', 'a').padStart(40, '0'),
    ...(bad ? { fault: `crash-after=${BREAKS_AFTER_SECONDS}s` } : {}),
  });
}

/** One Deployment for each target, all on one image, and running. */
export async function openShop(stage: Stage, image: PushedImage): Promise<void> {
  for (const name of TARGETS) {
    const node = stage.lab.node === null ? 'kwok' : 'real';
    const body = spokeDeployment({
      namespace: stage.namespace,
      name,
      image: image.reference,
      container: CONTAINER,
      node,
      readinessProbe: node === 'real',
    });
    await kube(stage.lab, 'POST', deployments(stage), { body });
  }
  await waitFor('the three targets run', async () => {
    const all = await Promise.all(TARGETS.map((name) => read(stage, name)));
    return all.every(({ status }) => (status?.readyReplicas ?? 0) > 0);
  });
}

/** Puts an image on a target as somebody does who knows nothing of Holdfast: `kubectl set image`. */
export async function setImageByHand(stage: Stage, target: Target, image: string): Promise<void> {
  await kube(stage.lab, 'PATCH', `${deployments(stage)}/${target}?fieldManager=kubectl-set`, {
    body: { spec: { template: { spec: { containers: [{ name: CONTAINER, image }] } } } },
    contentType: 'application/strategic-merge-patch+json',
  });
}

/** A target's Deployment, asked from the API server. */
export function read(stage: Stage, target: Target): Promise<Deployment> {
  return kube<Deployment>(stage.lab, 'GET', `${deployments(stage)}/${target}`);
}

/** The image of each target, asked from the API server. */
export async function imagesOf(stage: Stage): Promise<Record<Target, string>> {
  const [canary, north, south] = await Promise.all(TARGETS.map(async (target) => imageIn(await read(stage, target))));
  return { canary: canary ?? '', north: north ?? '', south: south ?? '' };
}

/** The image in a Deployment's template; empty where there is no such container. */
export function imageIn(deployment: Deployment): string {
  return deployment.spec.template.spec.containers.find(({ name }) => name === CONTAINER)?.image ?? '';
}

/** One of Holdfast's marks on a Deployment, by the name that people see there: it is read as they would. */
export function mark(deployment: Deployment, name: string): string | undefined {
  return deployment.metadata.annotations?.[`holdfast.dev/${name}`];
}

interface Pod {
  metadata: { deletionTimestamp?: string };
  spec: { containers: { name: string; image: string }[] };
  status: { conditions?: { type: string; status: string }[] };
}

/** Images of a target's pods that are ready, asked from the API server. */
export async function readyImages(stage: Stage, target: Target): Promise<string[]> {
  const path = `/api/v1/namespaces/${stage.namespace}/pods?labelSelector=app%3D${target}`;
  const { items } = await kube<{ items: Pod[] }>(stage.lab, 'GET', path);
  return items
    .filter(({ metadata, status }) => {
      const ready = status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
      return ready && metadata.deletionTimestamp === undefined;
    })
    .map(({ spec }) => spec.containers.find(({ name }) => name === CONTAINER)?.image ?? '');
}

/** Reasons of the events that Holdfast has recorded about a target. */
export async function eventsOf(stage: Stage, target: Target): Promise<string[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${stage.namespace}/events`;
  const { items } = await kube<{ items: HoldfastEvent[] }>(stage.lab, 'GET', path);
  return items.filter((event) => isAbout(event, target)).map(({ reason }) => reason);
}

export interface HoldfastEvent {
  reason: string;
  type: 'Normal' | 'Warning';
  note?: string;
  reportingController?: string;
  regarding: { kind: string; name: string };
}

/** True for an event by Holdfast about this target. */
export function isAbout({ reportingController, regarding }: HoldfastEvent, target: string): boolean {
  const byHoldfast = reportingController?.startsWith('holdfast.dev/') ?? false;
  return byHoldfast && regarding.kind === 'Deployment' && regarding.name === target;
}

function deployments(stage: Stage): string {
  return `/apis/apps/v1/namespaces/${stage.namespace}/deployments`;
}
