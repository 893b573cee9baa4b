import { read, type Reading } from '../../domain/core/verdict.ts';
import {
  architecturesFor,
  type NodeFacts,
  type PodScheduling,
  type Taint,
} from '../../domain/release/architectures.ts';
import type { NodeState } from '../../domain/release/pod-trouble.ts';
import type { KubeObject, KubernetesPort } from '../kubernetes/port.ts';
import type { WorkloadObject } from './workload.ts';

export interface NodeObject extends KubeObject {
  readonly spec?: { readonly taints?: readonly Taint[]; readonly unschedulable?: boolean };
  readonly status?: {
    readonly nodeInfo?: { readonly architecture?: string; readonly operatingSystem?: string };
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Answers which architectures a workload's pods may run on, from one reading of a cluster's nodes. */
export type ArchitecturesOf = (workload: WorkloadObject) => Reading<readonly string[]>;

/** Reads the nodes of a cluster once. Workloads that are scheduled alike are answered from memory. */
export async function readArchitectures(port: KubernetesPort, signal: AbortSignal): Promise<ArchitecturesOf> {
  const nodes = await port.list<NodeObject>({ apiVersion: 'v1', kind: 'Node' }, { signal });
  signal.throwIfAborted();
  if (nodes.kind === 'unmeasured') return () => nodes;
  const facts = nodes.value.items.map(factsOf);
  const known = new Map<string, Reading<readonly string[]>>();
  return (workload) => {
    const scheduling = schedulingOf(workload);
    const key = JSON.stringify(scheduling);
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = read(architecturesFor(scheduling, facts));
    known.set(key, found);
    return found;
  };
}

/** A node that has not reported its architecture yet runs nothing yet. */
function factsOf({ metadata, spec, status }: NodeObject): NodeFacts {
  return {
    name: metadata.name,
    labels: metadata.labels ?? {},
    taints: spec?.taints ?? [],
    architecture: status?.nodeInfo?.architecture ?? metadata.labels?.['kubernetes.io/arch'] ?? 'unknown',
    operatingSystem: status?.nodeInfo?.operatingSystem ?? metadata.labels?.['kubernetes.io/os'] ?? 'linux',
  };
}

function schedulingOf(workload: WorkloadObject): PodScheduling {
  const { nodeName, nodeSelector, affinity, tolerations } = workload.spec.template.spec;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return {
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(terms === undefined ? {} : { nodeSelectorTerms: terms }),
    ...(tolerations === undefined ? {} : { tolerations }),
  };
}

/** A node as far as it explains what its pods do. */
export function nodeStateOf({ spec, status }: NodeObject): NodeState {
  const ready = status?.conditions?.find((c) => c.type === 'Ready');
  const { architecture, operatingSystem = 'linux' } = status?.nodeInfo ?? {};
  return {
    // `Unknown` is what the control plane says of a node that it does not hear from.
    ready: ready === undefined ? null : ready.status === 'True',
    cordoned: spec?.unschedulable === true,
    platform: architecture === undefined ? null : `${operatingSystem}/${architecture}`,
  };
}
