/**
 * A kernel release as `uname -r` prints it, such as `6.14.0-37-generic` or `6.13.12+rpt-rpi-v8`: the numbers before the
 * first letter, in order. What follows is a flavour and says nothing about newer or older.
 */
export type KernelRelease = readonly number[];

/** @returns the numbers of a kernel release, or null where it does not begin with a major and a minor one */
export function parseKernel(release: string): KernelRelease | null {
  const numbers = /^(\d{1,4}(?:[.-]\d{1,6})+)(?![0-9])/.exec(release.trim())?.[1];
  if (numbers === undefined) return null;
  return numbers.split(/[.-]/).map(Number);
}

/** Which of two kernels is newer: negative where the first is older. Missing numbers count as 0, so that 6.13 is 6.13.0. */
export function compareKernels(a: KernelRelease, b: KernelRelease): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
