import { z } from 'zod';
import { read, unmeasured, type Reading } from '../core/verdict.ts';
import { compareKernels, parseKernel } from './kernel.ts';
import { readAnswer } from './read-objects.ts';
import { parseSettingDuration } from './setting-duration.ts';

/** What a node's host says of itself, each thing by itself. Durations are milliseconds. */
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

/** The answers of a host and its kubelet as they come. */
export interface HostAnswers {
  /** `busctl --json=short call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager ListInhibitors` */
  readonly inhibitors: Reading<unknown>;
  /** `busctl get-property … InhibitDelayMaxUSec` (`t 30000000`), or `InhibitDelayMaxUSec=30s` as systemd shows settings. */
  readonly inhibitDelayMax: Reading<string>;
  /** The kubelet's `/configz`. */
  readonly kubelet: Reading<unknown>;
  /** `lslocks --json --output COMMAND,PID,PATH` */
  readonly fileLocks: Reading<unknown>;
  /** The names of the files in `/boot`. */
  readonly bootFiles: Reading<readonly string[]>;
}

/** Understands what a host has answered. */
export function readHost(node: string, answers: HostAnswers): HostReadiness {
  const from = `node ${node}`;
  return {
    inhibitors: readAnswer(answers.inhibitors, `inhibitors of ${from}`, 'logind', inhibitorsSchema),
    inhibitDelayMax: understood(answers.inhibitDelayMax, `InhibitDelayMaxSec of ${from}`, 'logind', delayMax),
    shutdownGracePeriod: gracePeriod(answers.kubelet, `shutdownGracePeriod of ${from}`),
    packageManagers: readAnswer(answers.fileLocks, `file locks of ${from}`, from, fileLocksSchema),
    newestKernel: newestKernel(answers.bootFiles, `the kernels of ${from}`, from),
  };
}

/** D-Bus type a(ssssuu): what, who, why, mode, uid, pid. */
const inhibitorsSchema = z
  .object({
    data: z.tuple([z.array(z.tuple([z.string(), z.string(), z.string(), z.string(), z.number(), z.number()]))]),
  })
  .transform(({ data: [inhibitors] }) => inhibitors.map(([what, who, , mode]): Inhibitor => ({ what, who, mode })));

function understood<T, Raw>(
  answer: Reading<Raw>,
  what: string,
  from: string,
  parse: (raw: Raw) => T | null,
): Reading<T> {
  if (answer.kind === 'unmeasured') return answer;
  const value = parse(answer.value);
  if (value !== null) return read(value);
  const shown = JSON.stringify(answer.value).slice(0, 80);
  return unmeasured(what, from, 'unparsed', `${what} cannot be understood: ${shown}`);
}

function delayMax(text: string): number | null {
  const microseconds = /^t (\d{1,20})$/.exec(text.trim())?.[1];
  if (microseconds !== undefined) return Number(microseconds) / 1_000;
  const shown = /^InhibitDelayMax(?:USec|Sec)=(.+)$/.exec(text.trim())?.[1];
  return shown === undefined ? null : parseSettingDuration(shown);
}

const configzSchema = z.object({ kubeletconfig: z.object({ shutdownGracePeriod: z.string().default('0s') }) });

function gracePeriod(answer: Reading<unknown>, what: string): Reading<number> {
  const config = readAnswer(answer, what, 'the kubelet', configzSchema);
  if (config.kind === 'unmeasured') return config;
  return understood(read(config.value.kubeletconfig.shutdownGracePeriod), what, 'the kubelet', parseSettingDuration);
}

/** The files that dpkg and apt lock while they work (apt-get(8), dpkg: lib/dpkg/dbmodify.c). */
const packageLocks: readonly string[] = [
  '/var/lib/dpkg/lock-frontend',
  '/var/lib/dpkg/lock',
  '/var/lib/apt/lists/lock',
  '/var/cache/apt/archives/lock',
];

const fileLocksSchema = z
  .object({
    locks: z.array(z.object({ command: z.string().nullish(), pid: z.number().nullish(), path: z.string().nullish() })),
  })
  .transform(({ locks }) =>
    locks
      .filter(({ path }) => typeof path === 'string' && packageLocks.includes(path))
      .map(({ command, pid }) => `${command ?? 'a package manager'} (${pid ?? 'unknown process'})`),
  );

/** The newest kernel that has its initial ramdisk, where kernels have one: what GRUB boots unless it is told otherwise. */
function newestKernel(files: Reading<readonly string[]>, what: string, from: string): Reading<string> {
  if (files.kind === 'unmeasured') return files;
  const released = (prefix: string) =>
    files.value.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const ramdisks = released('initrd.img-');
  const kernels = released('vmlinuz-')
    .flatMap((release) => {
      const numbers = parseKernel(release);
      return numbers === null || (ramdisks.length > 0 && !ramdisks.includes(release)) ? [] : [{ release, numbers }];
    })
    .sort((a, b) => compareKernels(b.numbers, a.numbers));
  const [newest, next] = kernels;
  if (newest === undefined) return unmeasured(what, from, 'empty', `${what}: /boot has no kernel that can be booted`);
  if (next !== undefined && compareKernels(newest.numbers, next.numbers) === 0) {
    const message = `${what}: ${newest.release} and ${next.release} are equally new`;
    return unmeasured(what, from, 'unparsed', message);
  }
  return read(newest.release);
}
