import type { V1Probe } from '@kubernetes/client-node';
import type { KubeObject } from '../../src/activities/kubernetes/port.ts';
import type { Pod } from '../../src/domain/core/workload.ts';
import type { ReleaseSpecInput } from '../../src/domain/release/spec.ts';
import type { PushedImage, SpokeAgent } from '../lab/images.ts';
import { spokeDeployment, type SpokeWorkload } from '../lab/manifests.ts';
import { waitFor } from '../lab/wait.ts';
import type { Rig } from './rig.ts';

/** Two agents, as a spoke's image brings them. */
export const AGENTS: readonly SpokeAgent[] = [
  { name: 'writer', backend: 'alpha', model: 'small', effort: 'low', paused: false },
  { name: 'reviewer', backend: 'alpha', model: 'small', effort: 'low', paused: false },
];

/** The spoke's images have no `cat`, but its own program prints files. */
export const SPOKE_AGENTS = { journal: { command: ['/spoke', 'cat'] } };

type TargetInput = ReleaseSpecInput['targets'][number];

/** A spoke as target: health and agents asked for in its pods. */
export function spokeTarget(rig: Rig, deployment: string, more: Partial<TargetInput> = {}): TargetInput {
  return { namespace: rig.namespace, deployment, container: 'spoke', agents: SPOKE_AGENTS, ...more };
}

/** A release of spokes on a line of semver tags, with the times of a release cut down to seconds. */
export function spokeSpec(
  rig: Rig,
  repository: string,
  targets: readonly TargetInput[],
  more: Partial<ReleaseSpecInput> = {},
): ReleaseSpecInput {
  return {
    mode: 'Enforce',
    image: rig.repository(repository),
    track: { line: '^\\d' },
    pollInterval: '1s',
    soak: '3s',
    soakProbeInterval: '500ms',
    rolloutTimeout: '90s',
    gateTimeout: '10s',
    rollbackTimeout: '90s',
    targets: [...targets],
    ...more,
  };
}

/** How a spoke is deployed, where not as usual. */
export type SpokeDeployment = Partial<SpokeWorkload> & { readonly livenessProbe?: V1Probe };

/** Deploys a spoke to the real node and waits until it is ready there. */
export function deploySpoke(rig: Rig, name: string, image: PushedImage, how: SpokeDeployment = {}): Promise<void> {
  const { livenessProbe, ...more } = how;
  const base = { namespace: rig.namespace, name, image: image.reference, node: 'real' as const };
  const deployment = spokeDeployment({ ...base, ...more });
  const [spoke] = deployment.spec?.template.spec?.containers ?? [];
  if (spoke !== undefined && livenessProbe !== undefined) spoke.livenessProbe = livenessProbe;
  return rig.deploy(deployment);
}

/** The one pod of a workload that is ready now, once there is no other. */
export async function readyPod(rig: Rig, app: string): Promise<string> {
  return waitFor(`one ready pod of ${app}`, async () => {
    const list = await rig.kubernetes.list<Pod & KubeObject>({
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: rig.namespace,
      labelSelector: `app=${app}`,
    });
    const [only, ...others] = list.kind === 'read' ? list.value.items : [];
    const ready = only?.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') === true;
    return ready && others.length === 0 ? (only?.metadata.name ?? null) : null;
  });
}

/** Sets an agent's placement, as the person does who runs the spoke. */
export async function place(rig: Rig, app: string, { name, backend, model, effort }: SpokeAgent): Promise<void> {
  const answer = await rig.kubernetes.podRequest(
    { namespace: rig.namespace, name: await readyPod(rig, app), port: 8080 },
    { method: 'PUT', path: `/api/config/agent/${name}/models`, body: { backend, model, effort }, timeoutMs: 10_000 },
  );
  if (answer.kind !== 'read' || answer.value.status !== 200) throw new Error(JSON.stringify(answer));
}

/** The agents as the spoke itself tells them now. */
export async function agentsNow(rig: Rig, app: string): Promise<SpokeAgent[]> {
  const answer = await rig.kubernetes.podRequest(
    { namespace: rig.namespace, name: await readyPod(rig, app), port: 8080 },
    { method: 'GET', path: '/api/status', timeoutMs: 10_000 },
  );
  if (answer.kind !== 'read') throw new Error(answer.message);
  return (JSON.parse(answer.value.body) as { agents: SpokeAgent[] }).agents;
}
