import { unmeasured, type Reading } from '../../../src/domain/core/verdict.ts';
import { parseLock, type LockReading } from '../../../src/domain/node-reboot/lock.ts';
import type { CordonMark, NodeReading } from '../../../src/domain/node-reboot/node.ts';

/** What a reboot of a simulated node comes to. */
export type BootFault = 'none' | 'nothing' | 'never' | 'twice' | 'oldKernel' | 'lostMemory' | 'sentinelStays';

/** A host with its node object, as far as reboots are concerned. */
export interface SimulatedNode {
  readonly name: string;
  boot: number;
  /** Power is on, and the system has booted. */
  up: boolean;
  /** The boot that is on its way ends at this instant; null where none is, or where it never does. */
  upAt: number | null;
  kubelet: boolean;
  heartbeatAt: number;
  unschedulable: boolean;
  cordonManager: string | null;
  mark: CordonMark | null;
  lastVisitAt: number | null;
  kernel: string;
  memory: number;
  sentinel: string | null;
  fault: BootFault;
  resourceVersion: number;
  /** A disruption budget lets nothing go. */
  blocked: boolean;
}

export const oldKernel = '6.13.5-1';
export const newKernel = '6.14.0-37-generic';
export const wish = `linux-image-${newKernel}`;

/** A cluster in memory: nodes, the lock, and the lock of another reboot daemon. Each write is one atomic step. */
export class SimulatedCluster {
  readonly nodes: SimulatedNode[];
  now = 1_700_000_000_000;
  /** Null: somebody has deleted the ConfigMap. */
  lock: Record<string, string> | null = {};
  lockVersion = 1;
  foreignLock: string | null = null;
  /** The API server cannot be reached. */
  down = false;
  /** Reboots that were told to a host, by node and boot: the one-shot pod's name is made of both. */
  readonly pods = new Set<string>();
  readonly reboots: { readonly node: string; readonly boot: number }[] = [];

  constructor(names: readonly string[]) {
    this.nodes = names.map((name) => ({
      name,
      boot: 1,
      up: true,
      upAt: null,
      kubelet: true,
      heartbeatAt: this.now,
      unschedulable: false,
      cordonManager: null,
      mark: null,
      lastVisitAt: null,
      kernel: oldKernel,
      memory: 16_000,
      sentinel: null,
      fault: 'none',
      resourceVersion: 1,
      blocked: false,
    }));
  }

  node(name: string): SimulatedNode {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) throw new Error(`no node ${name}`);
    return found;
  }

  pass(ms: number): void {
    this.now += ms;
    for (const node of this.nodes) {
      if (node.upAt !== null && this.now >= node.upAt) bootUp(node);
      if (node.up && node.kubelet) node.heartbeatAt = this.now;
    }
  }

  readNodes(): NodeReading[] {
    return this.nodes.map((node) => ({
      name: node.name,
      uid: node.name,
      ready: isReady(node, this.now),
      heartbeatAt: node.heartbeatAt,
      unschedulable: node.unschedulable,
      cordonManager: node.cordonManager,
      cordonedBy: node.mark,
      lastVisitAt: node.lastVisitAt,
      bootId: bootId(node),
      kernel: node.kernel,
      memory: node.memory,
    }));
  }

  readLock(): Reading<LockReading> {
    if (this.lock === null) return unmeasured('the lock', 'API server', 'missing', 'the lock has been deleted');
    return parseLock('holdfast/node-reboot-lock', this.lock, String(this.lockVersion));
  }

  /** @returns false where somebody else was quicker */
  writeLock(resourceVersion: string, data: Record<string, string>): boolean {
    if (this.lock === null || String(this.lockVersion) !== resourceVersion) return false;
    this.lock = data;
    this.lockVersion += 1;
    return true;
  }

  /** The host is told to reboot: by the pod on it, which compares the boot first. */
  tellReboot(name: string, bootBefore: string): void {
    const pod = `${name}/${bootBefore}`;
    if (this.pods.has(pod)) return;
    this.pods.add(pod);
    this.tellByCommand(name, bootBefore);
  }

  /** The same from elsewhere, each time that it is done. */
  tellByCommand(name: string, bootBefore: string): void {
    const node = this.node(name);
    this.reboots.push({ node: name, boot: node.boot });
    if (node.up && bootId(node) === bootBefore) goDown(node, this.now);
  }

  /** Whether anybody has told this boot to end, in whatever way. */
  wasTold(name: string, boot: string): boolean {
    if (this.pods.has(`${name}/${boot}`)) return true;
    return this.reboots.some((one) => one.node === name && bootId({ name, boot: one.boot }) === boot);
  }
}

export function bootId(node: Pick<SimulatedNode, 'name' | 'boot'>): string {
  return `${node.name}-boot-${node.boot}`;
}

/** A node that is off keeps showing Ready until the controller manager gives it up. */
export function isReady(node: SimulatedNode, now: number): boolean {
  return now - node.heartbeatAt < 40_000;
}

/** What the world knows and nobody reads: whether people can use the node. */
export function isOut(node: SimulatedNode): boolean {
  return !node.up || !node.kubelet || node.unschedulable;
}

export function goDown(node: SimulatedNode, now: number): void {
  if (node.fault === 'nothing') return;
  node.up = false;
  node.upAt = node.fault === 'never' ? null : now + 60_000;
}

/** The power button of a node that is off. */
export function bootUp(node: SimulatedNode): void {
  node.up = true;
  node.upAt = null;
  node.boot += node.fault === 'twice' ? 2 : 1;
  if (node.fault !== 'oldKernel' && node.sentinel !== null) node.kernel = newKernel;
  if (node.fault === 'lostMemory') node.memory = 2_600;
  if (node.fault !== 'sentinelStays') node.sentinel = null;
  node.resourceVersion += 1;
}
