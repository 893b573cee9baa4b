import { read, unmeasured, type Reading } from '../core/verdict.ts';
import { newestKernels } from './kernel.ts';

/**
 * Why a node is to be rebooted, as Debian and Ubuntu say it: `/run/reboot-required` exists, and the packages that asked for
 * it stand in `/run/reboot-required.pkgs`, a line each (update-notifier-common, notify-reboot-required).
 */
export interface Sentinel {
  /** The packages, sorted, each once. */
  readonly packages: readonly string[];
  /** The kernel that the node is to come back with; null where no package names one. */
  readonly kernel: string | null;
}

/** The two files, as they were read on the node. */
export interface SentinelFiles {
  readonly present: boolean;
  /** The content of the `.pkgs` file; null where there is none. */
  readonly packages: string | null;
  /** The kernel that the node runs; null where it does not tell. */
  readonly running: string | null;
}

/** What a person does on the node, as after a bare `touch`. */
const cure = 'on it, echo NAME > /run/reboot-required.pkgs, or rm /run/reboot-required where nothing is wanted';

/**
 * Reads the sentinel of a node. A sentinel without a readable reason is unmeasured and not absent: somebody wants a reboot,
 * and nobody can say of what.
 *
 * @returns null within the reading where the node wants no reboot
 */
export function readSentinel(node: string, files: SentinelFiles): Reading<Sentinel | null> {
  if (!files.present) return read(null);
  const what = `the reason why node ${node} wants a reboot`;
  if (files.packages === null) {
    return unmeasured(
      what,
      'reboot-required.pkgs',
      'missing',
      `node ${node} wants a reboot, and no file says why: ${cure}`,
    );
  }
  const packages = [...new Set(files.packages.split('\n').map((line) => line.trim()))].filter((line) => line !== '');
  if (packages.length === 0) {
    return unmeasured(
      what,
      'reboot-required.pkgs',
      'empty',
      `node ${node} wants a reboot, and the file that says why is empty: ${cure}`,
    );
  }
  const odd = packages.find((name) => !packageName.test(name));
  if (odd !== undefined) {
    const shown = JSON.stringify(odd.slice(0, 80));
    return unmeasured(
      what,
      'reboot-required.pkgs',
      'unparsed',
      `node ${node} names ${shown}, which is not the name of a package`,
    );
  }
  const [kernel = null, ...more] = newestKernels(packages.flatMap(kernelOf), files.running);
  if (more.length > 0) {
    return unmeasured(
      what,
      'reboot-required.pkgs',
      'unparsed',
      `node ${node} names kernels that are equally new, ${[kernel, ...more].join(', ')}, and runs none of these flavours: leave only the one that it is to boot in /run/reboot-required.pkgs`,
    );
  }
  return read({ packages: packages.sort(), kernel });
}

/** What names one wish for a reboot: the same packages on the same node are the same wish. */
export function sentinelId({ packages }: Sentinel): string {
  return packages.join(' ');
}

/** As Debian Policy 5.6.7 has it, in either case, with an architecture behind a colon. */
const packageName = /^[A-Za-z0-9][A-Za-z0-9+.-]+(:[a-z0-9-]+)?$/;

/** Kernel packages carry the release in their names: `linux-image-6.14.0-37-generic`. */
const kernelPackage = /^linux-image-(?:unsigned-)?(\d[A-Za-z0-9.+~-]*)(?::[a-z0-9-]+)?$/;

function kernelOf(packageName: string): string[] {
  const release = kernelPackage.exec(packageName)?.[1];
  return release === undefined ? [] : [release];
}
