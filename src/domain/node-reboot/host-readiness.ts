import { z } from 'zod';
import { read, unmeasured, type Reading } from '../core/verdict.ts';
import { hostFactsLines, readReport, reportMark, reportScript, runningKernel } from './host-facts.ts';
import { newestKernels } from './kernel.ts';
import { parseSettingDuration } from './setting-duration.ts';

/** What a host and its kubelet say about being rebooted, each thing by itself. Durations are milliseconds. */
export interface HostReadiness {
  /** What delays a shutdown, as logind lists it. */
  readonly inhibitors: Reading<readonly Inhibitor[]>;
  /** How long logind lets inhibitors delay a shutdown: what it runs with, drop-ins included. */
  readonly inhibitDelayMax: Reading<number>;
  /** How long the kubelet takes to end pods at a shutdown. */
  readonly shutdownGracePeriod: Reading<number>;
  /** The package managers at work, as `dpkg (1234)`. */
  readonly packageManagers: Reading<readonly string[]>;
  /** The release of the kernel that the next boot takes. */
  readonly newestKernel: Reading<string>;
}

export interface Inhibitor {
  /** Such as `shutdown:sleep`. */
  readonly what: string;
  readonly who: string;
  /** `block` or `delay`. */
  readonly mode: string;
}

/** The files that dpkg and apt lock while they work. */
const packageLocks: readonly string[] = [
  '/var/lib/dpkg/lock-frontend',
  '/var/lib/dpkg/lock',
  '/var/lib/apt/lists/lock',
  '/var/cache/apt/archives/lock',
];

/** Where a kubelet that ends pods at a shutdown tells logind for how long (kubernetes, pkg/kubelet/nodeshutdown/systemd). */
const kubeletDropIn = '/etc/systemd/logind.conf.d/99-kubelet.conf';

const logind = 'org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager';

const listLocks = [
  'all=$(lslocks --noheadings --raw --output COMMAND,PID,PATH) || exit 1',
  `printf "%s\\n" "$all" | grep -F ${packageLocks.map((path) => `-e ${path}`).join(' ')}`,
  // grep fails where it finds nothing, which here is good news.
  'true',
].join('; ');

/**
 * Asks the host in a shell of its own, before what {@link hostFactsLines} ask, so that one report tells both. A section
 * whose command failed is left out: it is missing, and not empty.
 */
export const hostReadinessScript = reportScript([
  `say() { name=$1; shift; if out=$("$@" 2>/dev/null); then echo "${reportMark} $name"; printf '%s\\n' "$out"; fi; }`,
  `say inhibitors busctl --json=short call ${logind} ListInhibitors`,
  `say delay busctl get-property ${logind} InhibitDelayMaxUSec`,
  `say locks sh -c '${listLocks}'`,
  `say grace cat ${kubeletDropIn}`,
  `say kernels sh -c 'ls /boot | grep -E "^(vmlinuz|initrd\\.img)-"'`,
  ...hostFactsLines,
]);

/**
 * Understands what a host has answered.
 *
 * @param report what {@link hostReadinessScript} printed
 * @param grace how long the kubelet takes, as the spec says; null where the kubelet's own file is to tell, milliseconds
 */
export function readHostReadiness(node: string, report: Reading<string>, grace: number | null): HostReadiness {
  const from = `a pod on node ${node}`;
  const sections = report.kind === 'read' ? readReport(node, report.value) : report;
  const running = sections.kind === 'read' ? runningKernel(sections.value) : null;
  const section = <T>(name: string, what: string, parse: (text: string) => T | null): Reading<T> => {
    if (sections.kind === 'unmeasured') return sections;
    const text = sections.value.get(name);
    if (text === undefined) return unmeasured(what, from, 'missing', `node ${node} does not tell ${what}`);
    return understood(parse(text), text, what, from);
  };
  return {
    inhibitors: section('inhibitors', 'what delays a shutdown', inhibitorsOf),
    inhibitDelayMax: section('delay', 'how long logind lets a shutdown be delayed', delayOf),
    shutdownGracePeriod:
      grace === null ? section('grace', 'how long its kubelet takes to end pods', graceOf) : read(grace),
    packageManagers: section('locks', 'which package managers are at work', holdersOf),
    newestKernel: section('kernels', 'which kernel it boots next', (text) => newestKernelOf(text, running)),
  };
}

function understood<T>(value: T | null, text: string, what: string, from: string): Reading<T> {
  if (value !== null) return read(value);
  return unmeasured(what, from, 'unparsed', `${what}: ${JSON.stringify(text.slice(0, 120))} cannot be understood`);
}

/** D-Bus type a(ssssuu): what, who, why, mode, uid, pid. */
const inhibitorsSchema = z
  .object({
    data: z.tuple([z.array(z.tuple([z.string(), z.string(), z.string(), z.string(), z.number(), z.number()]))]),
  })
  .transform(({ data: [inhibitors] }) => inhibitors.map(([what, who, , mode]): Inhibitor => ({ what, who, mode })));

function inhibitorsOf(text: string): readonly Inhibitor[] | null {
  try {
    return inhibitorsSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** D-Bus type t, in microseconds: `t 30000000`. */
function delayOf(text: string): number | null {
  const microseconds = /^t (\d{1,20})$/.exec(text.trim())?.[1];
  return microseconds === undefined ? null : Number(microseconds) / 1_000;
}

/** `InhibitDelayMaxSec=90`, in whole seconds or as systemd writes a duration. */
function graceOf(text: string): number | null {
  const written = /^InhibitDelayMaxSec=(.+)$/m.exec(text)?.[1]?.trim();
  if (written === undefined) return null;
  return /^\d{1,9}$/.test(written) ? Number(written) * 1_000 : parseSettingDuration(written);
}

/** `COMMAND PID PATH`, a lock a line. */
function holdersOf(text: string): readonly string[] | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const locks = lines.map((line) => /^(\S+) (-?\d+) (\S+)$/.exec(line));
  if (locks.includes(null)) return null;
  return locks.flatMap((lock) =>
    lock?.[1] === undefined || !packageLocks.includes(lock[3] ?? '') ? [] : [`${lock[1]} (${lock[2] ?? ''})`],
  );
}

/**
 * The newest kernel that has its initial ramdisk, where kernels have one: what GRUB boots unless it is told otherwise.
 *
 * @returns null where there is none, and where two are equally new and neither is of the flavour that runs
 */
function newestKernelOf(text: string, running: string | null): string | null {
  const files = text.split('\n').map((line) => line.trim());
  const releases = (prefix: string) =>
    files.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const ramdisks = releases('initrd.img-');
  const bootable = releases('vmlinuz-').filter((release) => ramdisks.length === 0 || ramdisks.includes(release));
  const [newest = null, ...more] = newestKernels(bootable, running);
  return more.length === 0 ? newest : null;
}
