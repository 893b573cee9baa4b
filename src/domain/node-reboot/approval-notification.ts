import { notification, type Notification } from '../core/notification.ts';
import type { CampaignCommand } from './command.ts';
import { approveCommand } from './commands.ts';
import { remoteAccessWarning } from './remote-access.ts';
import type { CampaignState } from './state.ts';

/**
 * What people are told when a node waits for their yes, once for each offer; null where nothing is new. Nothing waits for it
 * to be delivered.
 *
 * @param command what is due
 */
export function approvalNotification(state: CampaignState, command: CampaignCommand): Notification | null {
  if (command.do !== 'wait' || command.for.kind !== 'approval') return null;
  const { offer, hash } = command.for;
  if (state.offerTold === hash) return null;
  const { node, running, kernel, packages } = offer;
  const to = kernel === null ? '' : ` and comes back with ${kernel}`;
  const warning = remoteAccessWarning(node, state.spec);
  const text = [
    `node ${node} wants a reboot for ${packages.join(', ')}; it runs kernel ${running}${to}`,
    ...(warning === null ? [] : [warning]),
    approveCommand(state.name, node, hash, state.spec),
  ].join('. ');
  return notification('AwaitingApproval', 'warning', `NodeReboot/${state.name}, node ${node}`, text, hash);
}

/** The state in which that was told. */
export function withOfferTold(state: CampaignState, command: CampaignCommand): CampaignState {
  if (command.do !== 'wait' || command.for.kind !== 'approval') return state;
  return { ...state, offerTold: command.for.hash };
}
