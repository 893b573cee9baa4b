import { formatDuration } from '../../core/duration.ts';
import { fail, pass, type Verdict } from '../../core/verdict.ts';
import type { GateReading } from '../gate.ts';
import type { GatesSpec } from '../gates-spec.ts';
import type { HostReadiness } from '../host-readiness.ts';
import { isOlder } from '../select-node.ts';

/** The kernels that a node may come back with. */
export interface ExpectedKernel {
  /** As the sentinel names it; null where it names none. */
  readonly intended: string | null;
  /** As the spec names it; null where it names none. */
  readonly floor: string | null;
}

/** What the node itself says, as far as the spec wants it; each by itself, so that one can be set aside alone. */
export function hostGates(
  facts: HostReadiness,
  spec: Exclude<GatesSpec['host'], false>,
  node: string,
  kernel: ExpectedKernel,
): readonly GateReading[] {
  return [
    ...(spec.logindCap ? [logindCapGate(facts, node)] : []),
    ...(spec.packageManager ? [packageManagerGate(facts, node)] : []),
    ...(spec.kernel ? [kernelGate(facts, node, kernel)] : []),
  ];
}

/**
 * The kubelet delays a shutdown, and logind lets it, for as long as its pods are given: otherwise they are killed before
 * they have ended. A drop-in of another package may have set the cap lower.
 */
export function logindCapGate(facts: HostReadiness, node: string): GateReading {
  const lift = `set shutdownGracePeriod of the kubelet on ${node}, give logind an InhibitDelayMaxSec that is as long, and restart both`;
  return { gate: 'host.logindCap', verdict: judgeCap(facts, node), lift };
}

function judgeCap({ inhibitors, inhibitDelayMax, shutdownGracePeriod }: HostReadiness, node: string): Verdict {
  if (inhibitors.kind === 'unmeasured') return inhibitors;
  const held = inhibitors.value.some(
    ({ who, what, mode }) => who === 'kubelet' && what.split(':').includes('shutdown') && mode === 'delay',
  );
  // A kubelet that is not told to delay a shutdown has no settings for it, so that nothing else can be read.
  if (!held) return fail('NoInhibitor', `the kubelet of node ${node} does not delay a shutdown`);
  if (inhibitDelayMax.kind === 'unmeasured') return inhibitDelayMax;
  if (shutdownGracePeriod.kind === 'unmeasured') return shutdownGracePeriod;
  const [cap, grace] = [inhibitDelayMax.value, shutdownGracePeriod.value];
  if (cap < grace) {
    return fail(
      'LogindCapTooShort',
      `logind of node ${node} lets a shutdown be delayed for ${shown(cap)}, and the kubelet takes ${shown(grace)}`,
    );
  }
  return pass(`a shutdown may be delayed for ${shown(cap)}, of which the kubelet takes ${shown(grace)}`);
}

/** No package manager is at work: a reboot would leave half a package, or half a kernel. */
export function packageManagerGate({ packageManagers }: HostReadiness, node: string): GateReading {
  return { gate: 'host.packageManager', verdict: judgeManagers(packageManagers, node), lift: null };
}

function judgeManagers(managers: HostReadiness['packageManagers'], node: string): Verdict {
  if (managers.kind === 'unmeasured') return managers;
  if (managers.value.length === 0) return pass('no package manager is at work');
  return fail('PackageManagerBusy', `at work on node ${node}: ${managers.value.join(', ')}`);
}

/** The kernel that the node would boot is the one that is wanted, and no older than the floor. */
export function kernelGate({ newestKernel }: HostReadiness, node: string, expected: ExpectedKernel): GateReading {
  const lift = `install the kernel that is wanted on node ${node}, or remove what is newer`;
  return { gate: 'host.kernel', verdict: judgeKernel(newestKernel, node, expected), lift };
}

function judgeKernel(
  newest: HostReadiness['newestKernel'],
  node: string,
  { intended, floor }: ExpectedKernel,
): Verdict {
  if (newest.kind === 'unmeasured') return newest;
  const would = `node ${node} would boot kernel ${newest.value}`;
  if (floor !== null && isOlder(newest.value, floor)) {
    return fail('KernelBelowFloor', `${would}, which is older than the floor ${floor}`);
  }
  if (intended !== null && newest.value !== intended)
    return fail('WrongKernel', `${would}, and is to boot ${intended}`);
  return pass(would);
}

function shown(ms: number): string {
  return Number.isFinite(ms) ? formatDuration(ms) : 'ever';
}
