import type { Workload } from '../../domain/core/workload.ts';
import { own } from '../../domain/core/own.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import type { NodeSelectorTerm, Toleration } from '../../domain/release/architectures.ts';
import type { KubeObject, ObjectRef } from '../kubernetes/port.ts';

/** A target's workload on the wire: what decisions read, and what only the activities look at. */
export type WorkloadObject = KubeObject & Workload & { readonly spec: WireSpec };

interface WireSpec {
  readonly selector?: LabelSelector;
  readonly template: { readonly spec: WireScheduling };
}

interface WireScheduling {
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: {
        readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
      };
    };
  };
  readonly tolerations?: readonly Toleration[];
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** The target's container in a template: in which list, and its image. Null where neither list has it. */
export function containerIn(
  workload: Pick<WorkloadObject, 'spec'>,
  name: string,
): { readonly list: 'containers' | 'initContainers'; readonly image: string } | null {
  const { containers, initContainers = [] } = workload.spec.template.spec;
  const found = containers.find((c) => c.name === name);
  if (found !== undefined) return { list: 'containers', image: found.image };
  const init = initContainers.find((c) => c.name === name);
  return init === undefined ? null : { list: 'initContainers', image: init.image };
}

/** Names of all containers of a template, init containers last. */
export function containerNames(workload: Pick<WorkloadObject, 'spec'>): string[] {
  const { containers, initContainers = [] } = workload.spec.template.spec;
  return [...containers, ...initContainers].map((c) => c.name);
}

/** Where the API server has a target's workload. */
export function workloadRef(target: Pick<TargetAddress, 'kind' | 'namespace' | 'workload'>): ObjectRef {
  return { apiVersion: 'apps/v1', kind: target.kind, namespace: target.namespace, name: target.workload };
}

/** Such as `Deployment shop/web`. */
export function workloadName(target: Pick<TargetAddress, 'kind' | 'namespace' | 'workload'>): string {
  return `${target.kind} ${target.namespace}/${target.workload}`;
}

/** A label selector in the form that lists and watches take: `app=web,tier in (a,b)`. Empty where it selects all. */
export function selectorText(selector: LabelSelector | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
  });
  return [...labels, ...expressions].join(',');
}

/** Whether labels are what a selector asks for. */
export function selects(selector: LabelSelector | undefined, labels: Readonly<Record<string, string>>): boolean {
  const all = Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => own(labels, key) === value);
  return all && (selector?.matchExpressions ?? []).every((e) => holds(e, own(labels, e.key)));
}

function holds(
  { operator, values = [] }: { readonly operator: string; readonly values?: readonly string[] },
  value: string | undefined,
): boolean {
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  if (operator === 'In') return value !== undefined && values.includes(value);
  return value === undefined || !values.includes(value);
}
