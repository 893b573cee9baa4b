import type { RegistryPort } from '../../activities/registry/port.ts';
import { createImageCache } from '../../activities/release/image-cache.ts';
import { resolveLine } from '../../activities/release/resolve-line.ts';
import { fail, pass, type Reading, type Verdict } from '../../domain/core/verdict.ts';
import { deployedImage } from '../../domain/release/deployed-image.ts';
import { linesOf } from '../../domain/release/line.ts';
import type { ResolvedLine } from '../../domain/release/observation.ts';
import type { ReleaseSpec } from '../../domain/release/spec.ts';
import type { Check } from './check.ts';

const fix =
  'holdfast resolve REPOSITORY asks it alone; credentials: docker login, or registries in the worker configuration';

/** Every line that the specs follow, asked from here. */
export async function registryChecks(registry: RegistryPort, specs: readonly ReleaseSpec[]): Promise<readonly Check[]> {
  const images = createImageCache(registry);
  const lines = new Map(specs.flatMap((spec) => linesOf(spec, null)).map((line) => [line.key, line]));
  const checks: Check[] = [];
  for (const line of lines.values()) {
    checks.push({ name: 'registry', verdict: verdictOf(await resolveLine(registry, images, line)), fix });
  }
  return checks;
}

/** That nothing is there is the registry's own word. */
function verdictOf(reading: Reading<ResolvedLine>): Verdict {
  if (reading.kind === 'read') return pass(`${deployedImage(reading.value)} is ${reading.value.label}`);
  if (reading.why === 'missing' || reading.why === 'empty') return fail('NothingToResolve', reading.message);
  return reading;
}
