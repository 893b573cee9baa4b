import { incumbentGate, type IncumbentGate } from '../core/incumbent.ts';
import type { CampaignState } from './state.ts';

/** The mode that is in force: Enforce becomes Shadow while a reboot daemon runs, or nobody knows whether one does. */
export function effectiveMode({ spec, observation }: Pick<CampaignState, 'spec' | 'observation'>): IncumbentGate {
  return incumbentGate(spec.mode, observation?.incumbents ?? [], spec.incumbents.length);
}
