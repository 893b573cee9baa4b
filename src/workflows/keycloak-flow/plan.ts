import { planFlow } from '../../domain/keycloak-flow/plan.ts';
import { pack } from '../../domain/core/packed.ts';
import { read } from './activities.ts';
import { inputOf } from './execute.ts';
import type { FlowPlanInput, FlowPlanOutput } from './messages.ts';

/** What Enforce would do now for a spec that may not be applied yet. One look, one decision, nothing written. */
export async function planKeycloakFlow({ name, spec }: FlowPlanInput): Promise<FlowPlanOutput> {
  const observation = await read.observeRealm.executeWithOptions({ summary: 'read the realm' }, [
    inputOf(name, spec, 'Shadow'),
  ]);
  return { plan: pack(planFlow(name, spec, observation, Date.now())) };
}
