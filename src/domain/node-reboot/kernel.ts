/** A kernel release as `uname -r` prints it, such as `6.14.0-37-generic` or `6.13.12+rpt-rpi-v8`. */
export interface KernelRelease {
  /** Those before the first letter, in order. */
  readonly numbers: readonly number[];
  /** The number of a release candidate, which is older than its release; null for a release. */
  readonly candidate: number | null;
  /** Which build of the release: `generic`, `rpi-v8`. It says nothing about newer or older; empty where there is none. */
  readonly flavour: string;
}

/** @returns a kernel release taken apart, or null where it does not begin with a major and a minor number */
export function parseKernel(release: string): KernelRelease | null {
  const [, numbers, rest = ''] = /^(\d{1,4}(?:[.-]\d{1,6})+)(?![0-9])(.*)$/s.exec(release.trim()) ?? [];
  if (numbers === undefined) return null;
  // As upstream tags it (6.14-rc3), and as Ubuntu's mainline builds write it (6.14.0-061400rc3-generic).
  const candidate = /^-?rc(\d{1,4})/.exec(rest);
  const flavour = rest
    .slice(candidate?.[0].length ?? 0)
    .replace(/^\+[^-]*/, '')
    .replace(/^-/, '');
  return {
    numbers: numbers.split(/[.-]/).map(Number),
    candidate: candidate === null ? null : Number(candidate[1]),
    flavour,
  };
}

/** How many numbers are upstream's; what follows counts a distribution's builds of it. */
const upstream = 3;

/**
 * Which of two kernels is newer: negative where the first is older. Missing numbers count as 0, so that 6.13 is 6.13.0. A
 * release candidate is older than every build of its release.
 */
export function compareKernels(a: KernelRelease, b: KernelRelease): number {
  return (
    compareNumbers(a.numbers.slice(0, upstream), b.numbers.slice(0, upstream)) ||
    compareCandidates(a.candidate, b.candidate) ||
    compareNumbers(a.numbers.slice(upstream), b.numbers.slice(upstream))
  );
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareCandidates(a: number | null, b: number | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return a - b;
}

/**
 * The newest of several kernels. A host may have one release in two flavours, as Raspberry Pi OS installs rpi-v8 and
 * rpi-2712 together: it boots the one that it runs.
 *
 * @param releases what is no kernel release is passed over
 * @param running what the host runs; null where that is not known
 * @returns none where there is no kernel, and several where nothing tells which of them is booted
 */
export function newestKernels(releases: readonly string[], running: string | null): readonly string[] {
  const kernels = [...new Set(releases)].flatMap((release) => {
    const parsed = parseKernel(release);
    return parsed === null ? [] : [{ release, parsed }];
  });
  const first = kernels.sort((a, b) => compareKernels(b.parsed, a.parsed))[0];
  if (first === undefined) return [];
  const newest = kernels.filter(({ parsed }) => compareKernels(parsed, first.parsed) === 0);
  const flavour = running === null ? null : parseKernel(running)?.flavour;
  const own = newest.filter(({ parsed }) => parsed.flavour === flavour);
  return (own.length === 1 ? own : newest).map(({ release }) => release);
}
