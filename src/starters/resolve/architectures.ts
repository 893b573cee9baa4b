import { InvalidArgumentError } from '@commander-js/extra-typings';
import { fail, pass, read, type Verdict } from '../../domain/core/verdict.ts';
import { architectureGate, whatIsThere } from '../../domain/release/architectures.ts';
import type { Resolution } from './resolution.ts';

/** `amd64,arm64`, or in full `linux/amd64`. */
export function parseArchitectures(text: string): readonly string[] {
  const words = text.split(',').map((word) => word.trim().replace(/^linux\//, ''));
  if (words.every((word) => /^[a-z0-9]+(\/[a-z0-9]+){0,2}$/.test(word))) return words;
  throw new InvalidArgumentError('Expected architectures separated by commas, such as amd64,arm64.');
}

/** Whether the image has the architectures that were asked for; by the same gate that holds a target. */
export function architecturesVerdict(
  { label, architectures, unplatformed, problem }: Resolution,
  asked: readonly string[] | undefined,
): Verdict {
  if (asked === undefined || problem !== null) return pass();
  const image = { label: label ?? '', platforms: architectures, unplatformed };
  const missing = asked.filter((architecture) => architectureGate(image, read([architecture])).kind !== 'pass');
  if (missing.length === 0) return pass();
  return fail('Architecture', `${image.label} has no ${missing.join(', ')}; it has ${whatIsThere(image)}`);
}
