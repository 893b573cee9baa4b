import { pack } from '../../domain/core/packed.ts';
import { wishingNodes } from '../../domain/node-reboot/observation.ts';
import { planCampaign } from '../../domain/node-reboot/plan.ts';
import { read } from './activities.ts';
import type { CampaignPlanInput, CampaignPlanOutput } from './messages.ts';

/** What Enforce would do now for a spec that may not be applied yet. One look, one decision, nothing written. */
export async function planNodeReboot({ name, spec }: CampaignPlanInput): Promise<CampaignPlanOutput> {
  const observation = await read.observeCampaign.executeWithOptions({ summary: 'look' }, [{ name, spec, done: {} }]);
  const nodes = wishingNodes(observation);
  const gates = await read.gatesOfNodes.executeWithOptions({ summary: 'gates of each node' }, [{ spec, nodes }]);
  return { plan: pack(planCampaign(name, spec, observation, gates, Date.now())) };
}
