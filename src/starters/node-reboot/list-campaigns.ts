import type { NodeRebootStatus } from '../../domain/node-reboot/status.ts';
import { NODE_REBOOT_WORKFLOW, nodeRebootId } from '../../workflows/node-reboot/messages.ts';
import { listEntities, type Listed } from '../list-entities.ts';
import type { Temporal } from '../temporal/connect.ts';
import { askRebootStatus } from './reboot-client.ts';

/** Every NodeReboot that runs, by name. */
export async function listCampaigns(temporal: Temporal): Promise<readonly Listed<NodeRebootStatus>[]> {
  return listEntities(temporal, NODE_REBOOT_WORKFLOW, nodeRebootId(''), (name) => askRebootStatus(temporal, name));
}
