import { kube } from '../lab/kube-api.ts';
import type { Lab } from '../lab/lab.ts';
import type { SimulatedHosts } from '../lab/simulated-hosts.ts';
import { waitFor } from '../lab/wait.ts';
import type { RebootStage } from './reboot-stage.ts';

/** What tests on simulated hosts ask of nodes and do to them, as people would. */

const merge = 'application/merge-patch+json';

export async function isCordoned({ env }: Lab, node: string): Promise<boolean> {
  const { spec } = await kube<{ spec: { unschedulable?: boolean } }>(env, 'GET', `/api/v1/nodes/${node}`);
  return spec.unschedulable === true;
}

/** Waits until the API server shows a node as Ready, or as not Ready. */
export async function seenReady({ env }: Lab, node: string, ready: boolean): Promise<void> {
  await waitFor(`node ${node} is ${ready ? '' : 'not '}Ready`, async () => {
    const { status } = await kube<{ status: { conditions: { type: string; status: string }[] } }>(
      env,
      'GET',
      `/api/v1/nodes/${node}`,
    );
    return status.conditions.some((one) => one.type === 'Ready' && (one.status === 'True') === ready);
  });
}

/** A pod that is told to go and does not, until it is let go: a drain lasts for as long as a test needs. */
export interface HeldPod {
  letGo(): Promise<void>;
}

/** The drain must be allowed to delete bare pods. */
export async function holdPod({ env }: Lab, node: string): Promise<HeldPod> {
  const pods = '/api/v1/namespaces/default/pods';
  await kube(env, 'POST', pods, {
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'held', finalizers: ['tests.holdfast.dev/held'] },
      spec: {
        nodeName: node,
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image: 'simulated' }],
      },
    },
  });
  return {
    async letGo() {
      await kube(env, 'PATCH', `${pods}/held`, { body: { metadata: { finalizers: null } }, contentType: merge });
    },
  };
}

/** Leaves nothing of a test to the next one, as a person would put it right. */
export async function tidy(stage: RebootStage, hosts: SimulatedHosts): Promise<void> {
  for (const name of hosts.names) {
    hosts.reset(name);
    const body = { metadata: { annotations: { 'holdfast.dev/cordoned-by': null } }, spec: { unschedulable: null } };
    await kube(stage.lab.env, 'PATCH', `/api/v1/nodes/${name}`, { body, contentType: merge });
  }
  await stage.writeLock({});
  for (const name of hosts.names) await seenReady(stage.lab, name, true);
}
