import { incumbentGate } from '../core/incumbent.ts';
import type { IncumbentReading } from './observation.ts';
import type { ReleaseSpec } from './spec.ts';

/** Another writer of the same image, with the cluster it is in. */
export type Incumbent = ReleaseSpec['incumbents'][number] & { readonly cluster: string };

/**
 * The incumbents of a spec, with the release's cluster where they name none. Filled in once and here: an incumbent that
 * is looked for in the wrong cluster reads as absent.
 */
export function incumbentsOf(spec: Pick<ReleaseSpec, 'cluster' | 'incumbents'>): Incumbent[] {
  return spec.incumbents.map((incumbent) => ({ ...incumbent, cluster: incumbent.cluster ?? spec.cluster }));
}

/**
 * One sentence for each incumbent that is active or could not be read; the latter counts as active.
 *
 * @param expected how many the spec names [those that were read]
 */
export function incumbentHolds(
  readings: readonly IncumbentReading[],
  expected: number = readings.length,
): readonly string[] {
  const found = readings.map(({ name, state }) => ({
    ref: name,
    state:
      state.kind === 'unmeasured'
        ? state
        : { ...state, value: { exists: state.value !== 'absent', suspended: state.value === 'suspended' } },
  }));
  return incumbentGate('Enforce', found, expected).reasons;
}
