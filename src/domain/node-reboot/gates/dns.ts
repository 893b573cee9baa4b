import { z } from 'zod';
import { fail, pass, read, type Reading, type Verdict } from '../../core/verdict.ts';
import type { GateReading, GateStage } from '../gate.ts';
import type { GatesSpec } from '../gates-spec.ts';
import { labelSelectorSchema, selects } from '../label-selector.ts';
import { isFinished, readPods } from '../pod.ts';
import { readAnswer, type RawObjects } from '../read-objects.ts';

export interface DnsFacts {
  readonly deployment: Reading<DnsDeployment>;
}

export interface DnsDeployment {
  /** How many replicas it is told to have. */
  readonly wanted: number;
  /** The nodes on which a replica is ready, one entry a replica. */
  readonly readyOn: readonly string[];
}

const deploymentSchema = z.object({
  metadata: z.object({ namespace: z.string() }),
  spec: z.object({ replicas: z.number().default(1), selector: labelSelectorSchema }),
});

/**
 * @param deployment the Deployment of the cluster's DNS
 * @param pods of its namespace
 */
export function readDns(deployment: Reading<unknown>, pods: RawObjects): DnsFacts {
  const what = 'the Deployment of DNS';
  const understood = readAnswer(deployment, what, 'API server', deploymentSchema);
  if (understood.kind === 'unmeasured') return { deployment: understood };
  const all = readPods(pods);
  if (all.kind === 'unmeasured') return { deployment: all };
  const { metadata, spec } = understood.value;
  const ready = all.value.filter(
    (pod) =>
      pod.namespace === metadata.namespace &&
      selects(spec.selector, pod.labels) &&
      pod.ready &&
      !pod.terminating &&
      !isFinished(pod),
  );
  return { deployment: read({ wanted: spec.replicas, readyOn: ready.flatMap(({ node }) => node ?? []) }) };
}

/**
 * DNS has as many ready replicas as the spec says, on two nodes at least, so that one of them answers whichever node goes.
 * A restart of k3s sets it back to one replica, which holds up the next node. Between drain and reboot, when replicas that
 * were on the node may still be starting elsewhere, one on another node is enough.
 *
 * @param turn the node whose turn it is
 */
export function dnsGate(
  { deployment }: DnsFacts,
  spec: Exclude<GatesSpec['dns'], false>,
  turn: string,
  stage: GateStage,
): GateReading {
  const name = `${spec.namespace}/${spec.deployment}`;
  const lift = `kubectl -n ${spec.namespace} scale deployment ${spec.deployment} --replicas=${spec.replicas}, and spread them over nodes`;
  return { gate: 'dns', verdict: judge(deployment, spec.replicas, name, turn, stage), lift };
}

function judge(
  deployment: Reading<DnsDeployment>,
  replicas: number,
  name: string,
  turn: string,
  stage: GateStage,
): Verdict {
  if (deployment.kind === 'unmeasured') return deployment;
  const { wanted, readyOn } = deployment.value;
  if (stage === 'last') {
    return readyOn.some((node) => node !== turn)
      ? pass(`${name} answers on another node`)
      : fail('DnsOnOneNode', `no replica of ${name} is ready on another node than ${turn}`);
  }
  if (wanted < replicas) return fail('DnsTooFew', `${name} is set to ${wanted} of ${replicas} replicas`);
  if (readyOn.length < replicas) {
    return fail('DnsTooFew', `${readyOn.length} of ${replicas} replicas of ${name} are ready`);
  }
  if (replicas > 1 && new Set(readyOn).size < 2) {
    return fail('DnsOnOneNode', `all ready replicas of ${name} are on node ${readyOn[0] ?? ''}`);
  }
  return pass(`${readyOn.length} replicas of ${name} are ready on ${new Set(readyOn).size} nodes`);
}
