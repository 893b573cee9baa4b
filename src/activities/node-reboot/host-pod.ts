import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import { cordonManager } from '../../domain/node-reboot/node.ts';
import { hostPods } from '../../domain/node-reboot/pod.ts';
import type { KubeObject, KubernetesPort } from '../kubernetes/port.ts';
import { sleep } from '../wait-context.ts';
import { answered } from './lock.ts';

/** A one-shot pod on a node, in whose host's namespaces a script is run. */
export interface HostPod {
  /** Tells one from another: a pod of the same name is the same pod, and is never made a second time. */
  readonly name: string;
  readonly node: string;
  readonly image: string;
  readonly script: string;
  /** After so long the kubelet ends it. */
  readonly deadlineSeconds: number;
}

export interface PodObject extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly message?: string;
    readonly containerStatuses?: readonly {
      readonly state?: {
        readonly terminated?: { readonly exitCode: number; readonly message?: string };
        readonly waiting?: { readonly reason?: string; readonly message?: string };
      };
    }[];
  };
}

const pauseMs = 500;

/**
 * Creates the pod, unless it is there already.
 *
 * @returns whether it is there now; `timeout` where an earlier try had no answer, so that it may be there all the same
 */
export async function placeHostPod(
  port: KubernetesPort,
  pod: HostPod,
  signal: AbortSignal,
): Promise<Reading<'placed' | 'was there'>> {
  let unanswered = false;
  for (;;) {
    const outcome = await port.create(hostPodManifest(pod), { fieldManager: cordonManager });
    signal.throwIfAborted();
    switch (outcome.kind) {
      case 'written':
        return read('placed');
      case 'conflict':
        return read('was there');
      case 'denied':
      case 'missing':
      case 'invalid': {
        const why = outcome.kind === 'invalid' ? 'error' : outcome.kind;
        return unmeasured(`pod ${pod.name}`, 'API server', unanswered ? 'timeout' : why, outcome.message);
      }
      case 'unknown':
        unanswered ||= outcome.effect !== 'none';
        await sleep(outcome.retryAfterMs ?? pauseMs, signal);
    }
  }
}

/** Runs a script that only reads on a host, and gives back what it printed. The pod is gone afterwards. */
export async function askHost(
  port: KubernetesPort,
  pod: HostPod,
  clock: () => number,
  signal: AbortSignal,
): Promise<Reading<string>> {
  const placed = await placeHostPod(port, pod, signal);
  if (placed.kind === 'unmeasured') return placed;
  try {
    return await awaitReport(port, pod, clock, signal);
  } finally {
    await removeHostPod(port, pod.name);
  }
}

/** Whether a pod is there. One that ends a boot is kept until that boot is gone: as long as it could be told to end again. */
export function readHostPod(port: KubernetesPort, name: string, signal: AbortSignal): Promise<Reading<PodObject>> {
  return answered(() => port.get<PodObject>(podRef(name), { signal }), signal);
}

export async function removeHostPod(port: KubernetesPort, name: string): Promise<void> {
  await port.delete(podRef(name), { propagationPolicy: 'Background', gracePeriodSeconds: 0 });
}

async function awaitReport(
  port: KubernetesPort,
  { name, node, deadlineSeconds }: HostPod,
  clock: () => number,
  signal: AbortSignal,
) {
  const giveUpAt = clock() + deadlineSeconds * 1_000;
  const what = `what host ${node} says of itself`;
  // A pod takes a second or so, before which there is nothing to see.
  for (let lookMs = pauseMs; ; lookMs = 2 * pauseMs) {
    await sleep(lookMs, signal);
    const found = await answered(() => port.get<PodObject>(podRef(name), { signal }), signal);
    if (found.kind === 'unmeasured') return found;
    const { state } = found.value.status?.containerStatuses?.[0] ?? {};
    if (state?.terminated !== undefined) {
      const { exitCode, message = '' } = state.terminated;
      if (exitCode === 0) return read(message);
      return unmeasured(
        what,
        'a pod on it',
        'error',
        `the pod on node ${node} ended with exit code ${exitCode}: ${message.slice(0, 300)}`,
      );
    }
    if (found.value.status?.phase === 'Failed') {
      return unmeasured(
        what,
        'a pod on it',
        'error',
        `the pod on node ${node} failed: ${found.value.status.message ?? 'nothing says why'}`,
      );
    }
    if (clock() >= giveUpAt) {
      const why =
        state?.waiting?.message ?? state?.waiting?.reason ?? `it is ${found.value.status?.phase ?? 'nowhere'}`;
      return unmeasured(
        what,
        'a pod on it',
        'timeout',
        `the pod on node ${node} did not end in ${deadlineSeconds} s: ${why}`,
      );
    }
  }
}

/**
 * Bound to its node by name, past the scheduler and past the cordon; tolerates every taint. What the script prints becomes
 * the container's termination message, which the API server shows without anybody reading logs.
 */
function hostPodManifest({
  name,
  node,
  image,
  script,
  deadlineSeconds,
}: HostPod): KubeObject & Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: hostPods.namespace, labels: { [hostPods.label]: hostPods.value } },
    spec: {
      nodeName: node,
      hostPID: true,
      restartPolicy: 'Never',
      activeDeadlineSeconds: deadlineSeconds,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      tolerations: [{ operator: 'Exists' }],
      containers: [
        {
          name: 'host',
          image,
          // The script is an argument of its own, so that nothing of it is read by this shell.
          command: ['sh', '-c', 'nsenter -t 1 -m -u -i -n -- sh -c "$1" > /dev/termination-log 2>&1', 'sh', script],
          securityContext: { privileged: true },
        },
      ],
    },
  };
}

function podRef(name: string) {
  return { apiVersion: 'v1', kind: 'Pod', namespace: hostPods.namespace, name };
}
