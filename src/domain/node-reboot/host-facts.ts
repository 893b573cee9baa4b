import { read, unmeasured, type Reading } from '../core/verdict.ts';
import { readSentinel, type Sentinel } from './sentinel.ts';

/** What a host says of itself, as the pod on it reports it. */
export interface HostFacts {
  readonly bootId: string;
  readonly sentinel: Reading<Sentinel | null>;
}

/** Between the sections of a report; no file of those that are read can hold it as a line. */
export const reportMark = '--holdfast--';

/**
 * A script that reports: a section for each thing, so that one that is missing differs from one that is empty, between a
 * beginning and an end. A kubelet keeps the last 4096 bytes of what a container says when it ends (kubernetes, ReadAtMost in
 * pkg/util/tail): what is cut off is the beginning.
 *
 * @param lines commands that print sections, each after a line of {@link reportMark} and its name
 */
export function reportScript(lines: readonly string[]): string {
  return [`echo '${reportMark} begin'`, ...lines, `echo '${reportMark} end'`].join('\n');
}

/** What every report tells, in POSIX. Whatever asks for a reboot may add its packages each time anew: they are told once. */
export const hostFactsLines: readonly string[] = [
  `echo '${reportMark} boot'; cat /proc/sys/kernel/random/boot_id`,
  `echo '${reportMark} running'; cat /proc/sys/kernel/osrelease`,
  `if [ -e /run/reboot-required ]; then echo '${reportMark} sentinel'; fi`,
  `if [ -e /run/reboot-required.pkgs ]; then echo '${reportMark} packages'; sort -u /run/reboot-required.pkgs; fi`,
];

/** Reads the host in a shell of its own. */
export const hostFactsScript = reportScript(hostFactsLines);

/**
 * Reads boot and sentinel in a report.
 *
 * @param node whom it is of
 */
export function parseHostFacts(node: string, report: string): Reading<HostFacts> {
  const sections = readReport(node, report);
  if (sections.kind === 'unmeasured') return sections;
  const { value } = sections;
  const bootId = value.get('boot')?.trim() ?? '';
  if (!/^[0-9a-f-]{8,64}$/.test(bootId)) {
    const what = `what host ${node} says of itself`;
    return unmeasured(what, 'a pod on it', 'unparsed', `the pod on node ${node} reported no boot id`);
  }
  const files = {
    present: value.has('sentinel'),
    packages: value.get('packages') ?? null,
    running: runningKernel(value),
  };
  return read({ bootId, sentinel: readSentinel(node, files) });
}

/** The kernel that a host runs, as its report tells; null where it does not. */
export function runningKernel(sections: ReadonlyMap<string, string>): string | null {
  const running = sections.get('running')?.trim() ?? '';
  return running === '' ? null : running;
}

/** The sections of a report by their names. One without its beginning or its end was cut short. */
export function readReport(node: string, report: string): Reading<ReadonlyMap<string, string>> {
  const what = `what host ${node} says of itself`;
  if (report.trim() === '') return unmeasured(what, 'a pod on it', 'empty', `the pod on node ${node} reported nothing`);
  const sections = sectionsOf(report);
  if (sections.has('begin') && sections.has('end')) return read(sections);
  const message = `the report of the pod on node ${node} was cut short; a kubelet keeps 4096 bytes of it: is /run/reboot-required.pkgs long?`;
  return unmeasured(what, 'a pod on it', 'truncated', message);
}

function sectionsOf(report: string): Map<string, string> {
  const sections = new Map<string, string>();
  for (const part of report.split(new RegExp(`^${reportMark} `, 'm')).slice(1)) {
    const lineEnd = part.indexOf('\n');
    if (lineEnd < 0) sections.set(part.trim(), '');
    else sections.set(part.slice(0, lineEnd).trim(), part.slice(lineEnd + 1));
  }
  return sections;
}

/**
 * Ends this boot, once: the boot id is compared on the host itself, right before, so that a pod that comes late, on the boot
 * after, does nothing. Nor does one that comes late on the same boot: a kubelet that is down when it is told starts the pod
 * hours later, when people have taken the node over.
 *
 * @param bootId the boot that is to end
 * @param until the last instant at which it may be told, by the host's clock, epoch milliseconds
 */
export function rebootScript(bootId: string, until: number): string {
  if (!/^[0-9a-f-]{8,64}$/.test(bootId)) throw new Error(`"${bootId.slice(0, 80)}" is no boot id`);
  return [
    `if [ "$(date +%s)" -gt ${Math.floor(until / 1_000)} ]; then echo 'too late'; exit 4; fi`,
    `if [ "$(cat /proc/sys/kernel/random/boot_id)" != '${bootId}' ]; then echo 'another boot'; exit 3; fi`,
    'systemctl reboot',
  ].join('\n');
}
