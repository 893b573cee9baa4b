import type { ReleaseSpecInput } from '../../src/domain/release/spec.ts';
import type { LabEnv } from '../lab/lab.ts';
import { attachLab } from '../lab/lab.ts';
import { spokeDeployment } from '../lab/manifests.ts';
import { startHealthServer, type HealthServer } from './health-server.ts';
import { startRig, type Rig } from './rig.ts';
import type { WorkerChanges } from './worker-in-process.ts';

/** A rig with a node without a machine, for hubs whose health this process answers. */
export interface Fleet extends Rig {
  readonly health: HealthServer;
  /** Hubs on that image, in namespace and on a node of this fleet. */
  deployHubs(image: string, ...names: readonly string[]): Promise<void>;
  /** A quick spec in Enforce on the line of 1.x tags. */
  spec(repository: string, targets: readonly string[], more?: Partial<ReleaseSpecInput>): ReleaseSpecInput;
}

export async function startFleet(lab: LabEnv, prefix: string, changes: WorkerChanges = {}): Promise<Fleet> {
  const nodes = await (await attachLab(lab.dir)).addNodes({ count: 1, arch: 'amd64', prefix });
  const health = await startHealthServer();
  const rig = await startRig(lab, prefix, changes.kubeconfig ?? lab.kubeconfig, changes.config);
  const { namespace } = rig;
  return {
    ...rig,
    health,
    async deployHubs(image, ...names) {
      for (const name of names) {
        await rig.deploy(spokeDeployment({ namespace, name, image, node: 'kwok', readinessProbe: false }));
      }
    },
    spec: (repository, targets, more = {}) => ({
      mode: 'Enforce',
      image: rig.repository(repository),
      track: { line: '^1' },
      pollInterval: '1s',
      soak: '1s',
      soakProbeInterval: '200ms',
      rolloutTimeout: '60s',
      targets: targets.map((target) => ({
        namespace,
        deployment: target,
        container: 'spoke',
        kind: 'hub' as const,
        healthURL: health.url(target),
      })),
      ...more,
    }),
    async close() {
      await rig.close();
      await health.close();
      await (await attachLab(lab.dir)).removeNodes(nodes);
    },
  };
}
