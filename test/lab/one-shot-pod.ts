import { kube } from './kube-api.ts';
import type { LabEnv } from './lab.ts';
import { waitFor } from './wait.ts';

/** Where pods that do one thing on a node are made, and of which image (busybox-image.ts). */
export interface PodPlace {
  readonly env: LabEnv;
  readonly namespace: string;
  readonly image: string;
}

export interface OneShotPod {
  readonly name: string;
  /** The node, which no scheduler is asked about. */
  readonly node: string;
  /** For a shell. */
  readonly script: string;
  /** With all rights that the node has, in sight of all of its processes [false]. */
  readonly privileged?: boolean;
  /** Further fields of the pod, such as `restartPolicy` [Never]. */
  readonly spec?: object;
}

interface ContainerStatus {
  readonly restartCount: number;
  readonly state: { readonly running?: object };
  readonly containerID?: string;
}

interface PodStatus {
  readonly status: { readonly phase?: string; readonly containerStatuses?: readonly ContainerStatus[] };
}

/** What asks a node to reboot, from a privileged pod on it. */
export const REBOOT = 'nsenter -t 1 -m -u -i -n -p -- systemctl reboot';

export async function startPod(place: PodPlace, pod: OneShotPod): Promise<void> {
  await kube(place.env, 'POST', podsPath(place), { body: podManifest(place.image, pod) });
}

/** @returns its phase, once it is over: `Succeeded` or `Failed` */
export function podEnded(place: PodPlace, name: string): Promise<string> {
  return waitFor(`the pod ${name} ends`, async () => {
    const { phase } = (await kube<PodStatus>(place.env, 'GET', `${podsPath(place)}/${name}`)).status;
    return phase === 'Succeeded' || phase === 'Failed' ? phase : null;
  });
}

/** Runs a pod to its end. @returns its phase and what it printed */
export async function runPod(place: PodPlace, pod: OneShotPod): Promise<{ phase: string; log: string }> {
  await startPod(place, pod);
  const phase = await podEnded(place, pod.name);
  return { phase, log: await kube<string>(place.env, 'GET', `${podsPath(place)}/${pod.name}/log`) };
}

/** Its container, where that runs. */
export async function runningContainer(place: PodPlace, name: string): Promise<ContainerStatus | null> {
  const { status } = await kube<PodStatus>(place.env, 'GET', `${podsPath(place)}/${name}`);
  const [container] = status.containerStatuses ?? [];
  return container?.state.running ? container : null;
}

export function podsPath({ namespace }: Pick<PodPlace, 'namespace'>): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}

function podManifest(image: string, { name, node, script, privileged = false, spec = {} }: OneShotPod): object {
  const securityContext = { privileged };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      nodeName: node,
      hostPID: privileged,
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', image, command: ['sh', '-c', script], securityContext }],
      ...spec,
    },
  };
}
