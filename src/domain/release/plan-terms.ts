import { planHash } from '../core/plan-hash.ts';
import type { Plan, PlanItem } from './plan.ts';
import { targetName, type ReleaseSpec } from './spec.ts';

/** What of a spec says when a plan may be carried out, and not what it does or how it is proven. */
const NOT_TERMS = [
  'mode',
  'suspend',
  'pollInterval',
  'approval',
  'approvers',
  'windows',
  'freeze',
  'blocklist',
] as const satisfies readonly (keyof ReleaseSpec)[];

/**
 * A plan with the terms on which it is carried out: which workload each of its targets is, and by what it is proven there.
 * They are part of what its hash covers, so that an approval never covers a workload or a check that nobody saw.
 */
export function planOf(release: string, spec: ReleaseSpec, items: readonly PlanItem[]): Plan {
  const planned = new Set(items.map((item) => item.target));
  const terms = Object.fromEntries(
    Object.entries(spec).filter(
      ([key, value]) => value !== undefined && !(NOT_TERMS as readonly string[]).includes(key),
    ),
  );
  const targets = spec.targets.filter((target) => planned.has(targetName(target)));
  return { release, items, terms: planHash({ ...terms, targets }) };
}
