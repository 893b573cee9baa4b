import { MockActivityEnvironment } from '@temporalio/testing';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import { createNodeRebootActivities } from '../../../src/activities/node-reboot/create.ts';
import type { PrometheusPort } from '../../../src/activities/prometheus/port.ts';
import type { Verdict } from '../../../src/domain/core/verdict.ts';
import type { GateReading } from '../../../src/domain/node-reboot/gate.ts';
import { nodeRebootSpec, type NodeRebootSpecInput } from '../../../src/domain/node-reboot/spec.ts';
import { serviceAccountKubeconfig } from '../../lab/access.ts';
import type { Lab } from '../../lab/lab.ts';
import { simulateHosts, type SimulatedHosts } from '../../lab/simulated-hosts.ts';

type Gates = NonNullable<NodeRebootSpecInput['gates']>;

/** The gates as the worker asks them, of a cluster with three nodes that are played. */
export interface GateStage {
  readonly hosts: SimulatedHosts;
  /** What a gate says before a turn of n1. */
  verdict(gate: string, gates?: Gates): Promise<Verdict>;
  /** The same, as a worker is told that may read nothing. */
  withoutRights(gate: string, gates?: Gates): Promise<Verdict>;
  close(): Promise<void>;
}

const off = { budgets: false, dns: false, host: false, releases: false } as const;

/** @param prometheus the one of the worker [none] */
export async function openGateStage(lab: Lab, prometheus: PrometheusPort | null = null): Promise<GateStage> {
  const hosts = await simulateHosts(lab.env, ['n1', 'n2', 'n3']);
  const account = await serviceAccountKubeconfig(lab, { namespace: 'default', name: 'nobody' });
  const clusters = await Promise.all(
    [lab.env.kubeconfig, account].map((kubeconfig) => createKubernetes({ name: 'default', kubeconfig })),
  );
  const asks = clusters.map((cluster) => async (gate: string, gates: Gates = {}) => {
    const activities = createNodeRebootActivities({
      kubernetes: () => cluster,
      prometheus: () => prometheus,
      etcd: () => null,
      holderRun: () => Promise.resolve('unknown'),
      hostImage: 'simulated',
    });
    const spec = nodeRebootSpec.parse({ nodes: ['n1'], gates: { ...off, ...gates } });
    const answer = await new MockActivityEnvironment().run(() => activities.gatesOfNodes({ spec, nodes: ['n1'] }));
    const { n1 = [] } = answer as Readonly<Record<string, readonly GateReading[]>>;
    const reading = n1.find((one) => one.gate === gate);
    if (reading === undefined) throw new Error(`gate ${gate} was not asked, but ${n1.map((one) => one.gate).join()}`);
    return reading.verdict;
  });
  const [verdict, withoutRights] = asks;
  if (verdict === undefined || withoutRights === undefined) throw new Error('two clusters were opened');
  return {
    hosts,
    verdict,
    withoutRights,
    async close() {
      await hosts.stop();
      await Promise.all(clusters.map((cluster) => cluster.close()));
    },
  };
}
