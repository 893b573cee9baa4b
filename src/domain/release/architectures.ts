import type { Reading } from '../core/verdict.ts';
import type { ResolvedLine } from './observation.ts';
import { fail, pass, unmeasured, type Verdict } from '../core/verdict.ts';
import { own } from '../core/own.ts';

/** A node as far as the architecture gate needs it. */
export interface NodeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** `status.nodeInfo.architecture`, such as `amd64`. */
  readonly architecture: string;
  /** `status.nodeInfo.operatingSystem`, such as `linux`. */
  readonly operatingSystem: string;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** What a pod template says about where its pods may run. */
export interface PodScheduling {
  /** `spec.nodeName`. */
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** `affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`. */
  readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
  readonly tolerations?: readonly Toleration[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeRequirement[];
  readonly matchFields?: readonly NodeRequirement[];
}

export interface NodeRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

/**
 * Taints that come and go with the state of a node (cordoned, not ready, under pressure, just joining). They do not
 * take a node away: pods may run there tomorrow, and an image that lacks the node's architecture would die there then.
 * This also covers every taint that the DaemonSet controller makes its pods tolerate.
 */
const passingTaints = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/unschedulable',
  'node.kubernetes.io/memory-pressure',
  'node.kubernetes.io/disk-pressure',
  'node.kubernetes.io/pid-pressure',
  'node.kubernetes.io/network-unavailable',
  'node.kubernetes.io/out-of-service',
  'node.cloudprovider.kubernetes.io/uninitialized',
  'node.cloudprovider.kubernetes.io/shutdown',
]);

/**
 * The architectures of the nodes that pods may run on, sorted: `amd64` for Linux, `windows/amd64` for another system.
 * Follows the scheduler: node selector and required node affinity must match, and each NoSchedule or NoExecute taint
 * must be tolerated. What the scheduler would do with a form unknown here is taken as "may run there".
 */
export function architecturesFor(pod: PodScheduling, nodes: readonly NodeFacts[]): readonly string[] {
  const found = new Set<string>();
  for (const node of nodes) {
    if (!mayRunOn(pod, node)) continue;
    found.add(node.operatingSystem === 'linux' ? node.architecture : `${node.operatingSystem}/${node.architecture}`);
  }
  return [...found].sort();
}

/** True where pods of the template may be scheduled to the node, now or once it is healthy. */
export function mayRunOn(pod: PodScheduling, node: NodeFacts): boolean {
  if (pod.nodeName !== undefined && pod.nodeName !== '') return pod.nodeName === node.name;
  for (const [key, value] of Object.entries(pod.nodeSelector ?? {})) {
    if (own(node.labels, key) !== value) return false;
  }
  const terms = pod.nodeSelectorTerms;
  if (terms !== undefined && !terms.some((term) => matchesTerm(term, node))) return false;
  return node.taints.every((taint) => !repels(taint) || (pod.tolerations ?? []).some((t) => tolerates(t, taint)));
}

/**
 * The architecture gate: every architecture among the nodes must be among the image's platforms.
 *
 * @param resolved the image; entries without a platform and attestations match nothing
 * @param nodes architectures as `architecturesFor` gives them
 * @returns unmeasured where the nodes could not be read, or no node may run the pods: none proves nothing
 */
export function architectureGate(
  resolved: Pick<ResolvedLine, 'platforms' | 'unplatformed' | 'label'>,
  nodes: Reading<readonly string[]>,
): Verdict {
  if (nodes.kind === 'unmeasured') return nodes;
  const needed = nodes.value;
  if (needed.length === 0) {
    return unmeasured(
      'architectures of the nodes that the pods may run on',
      'API server',
      'empty',
      'no node matches the node selector, affinity and tolerations of the pods',
    );
  }
  const missing = needed.filter((architecture) => !resolved.platforms.some((p) => runsOn(p, architecture)));
  if (missing.length === 0) return pass(`${resolved.label} has ${needed.join(', ')}`);
  return fail(
    'Architecture',
    `${resolved.label} has no ${missing.map(platformOf).join(', ')}, which nodes of the target need; it has ${whatIsThere(resolved)}`,
  );
}

/** The platforms of an image in words: `linux/arm64, plus 1 entry without platform`. */
export function whatIsThere(image: Pick<ResolvedLine, 'platforms' | 'unplatformed'>): string {
  const platforms = image.platforms.length === 0 ? 'no platform' : image.platforms.join(', ');
  if (image.unplatformed === 0) return platforms;
  return `${platforms}, plus ${image.unplatformed} ${image.unplatformed === 1 ? 'entry' : 'entries'} without platform`;
}

function platformOf(architecture: string): string {
  return architecture.includes('/') ? architecture : `linux/${architecture}`;
}

/** Nodes do not report a variant, so any variant of their architecture is taken as theirs. */
function runsOn(platform: string, architecture: string): boolean {
  const wanted = platformOf(architecture);
  return platform === wanted || platform.startsWith(`${wanted}/`);
}

/** A term without requirements matches no node, as the API defines it. */
function matchesTerm(term: NodeSelectorTerm, node: NodeFacts): boolean {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  if (expressions.length + fields.length === 0) return false;
  return (
    expressions.every((r) => matchesRequirement(r, own(node.labels, r.key))) &&
    fields.every((r) => matchesRequirement(r, r.key === 'metadata.name' ? node.name : undefined))
  );
}

function matchesRequirement(requirement: NodeRequirement, value: string | undefined): boolean {
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compares(value, values, (a, b) => a > b);
    case 'Lt':
      return compares(value, values, (a, b) => a < b);
    default:
      return true;
  }
}

function compares(
  value: string | undefined,
  values: readonly string[],
  holds: (a: bigint, b: bigint) => boolean,
): boolean {
  const [bound] = values;
  if (value === undefined || bound === undefined || !isInteger(value) || !isInteger(bound)) return false;
  return holds(BigInt(value), BigInt(bound));
}

function isInteger(text: string): boolean {
  return /^-?\d+$/.test(text);
}

function repels(taint: Taint): boolean {
  if (taint.effect !== 'NoSchedule' && taint.effect !== 'NoExecute') return false;
  return !passingTaints.has(taint.key);
}

/** As the scheduler reads it: an empty key with Exists tolerates everything, an empty effect every effect. */
function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator = 'Equal', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === '' || key === taint.key;
  return operator !== 'Equal' || (key === taint.key && value === (taint.value ?? ''));
}
