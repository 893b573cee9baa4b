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
