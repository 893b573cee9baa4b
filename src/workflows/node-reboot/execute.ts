import type { CampaignCommand, StepCommand } from '../../domain/node-reboot/command.ts';
import { campaignFingerprint } from '../../domain/node-reboot/fingerprint.ts';
import type { CampaignResult } from '../../domain/node-reboot/result.ts';
import type { CampaignState } from '../../domain/node-reboot/state.ts';
import { idle, pages, read, watch, work, write } from './activities.ts';

/** What is done by an activity: all but the end, and the waits for people alone. */
export type Executed = Exclude<CampaignCommand, { do: 'done' }>;

/** Does what a command says by the one activity that does it, and gives back what came of it. */
export async function execute(state: CampaignState, command: Executed): Promise<CampaignResult> {
  const { name, spec, done, observation } = state;
  switch (command.do) {
    case 'look':
      return {
        of: 'look',
        observation: await read.observeCampaign.executeWithOptions(named('look'), [{ name, spec, done }]),
      };
    case 'wait': {
      const known = observation === null ? '' : campaignFingerprint(observation);
      const input = { name, spec, done, known, until: command.until };
      const seen = await idle.awaitCampaignChange.executeWithOptions(named(`wait for ${command.for.kind}`), [input]);
      return { of: 'look', observation: seen };
    }
    case 'page':
      await pages.page.executeWithOptions(named(`tell: ${command.page.what}`), [command.page]);
      return { of: 'page' };
    case 'takeLock': {
      const { record, replaces } = command;
      return write.takeLock.executeWithOptions(named(`lock for ${record.visit.node}`), [{ spec, record, replaces }]);
    }
    default:
      return step(state, command);
  }
}

type UnderLock = StepCommand | Extract<CampaignCommand, { do: 'gatesBefore' | 'lastCheck' }>;

function step({ spec }: CampaignState, command: UnderLock): Promise<CampaignResult> {
  const { record } = command;
  const { node } = record.visit;
  const input = { spec, record, deadline: 'deadline' in command ? command.deadline : 0 };
  switch (command.do) {
    case 'gatesBefore':
      return read.gatesBefore.executeWithOptions(named(`gates of ${node}`), [input]);
    case 'cordon':
      return write.cordon.executeWithOptions(named(`cordon ${node}`), [input]);
    case 'movePrimaries':
      return work.movePrimaries.executeWithOptions(named(`move primaries off ${node}`), [input]);
    case 'drain':
      return work.drain.executeWithOptions(named(`drain ${node}`), [input]);
    case 'lastCheck':
      return read.lastCheck.executeWithOptions(named(`last check of ${node}`), [input]);
    case 'reboot':
      return write.rebootNode.executeWithOptions(named(`reboot ${node}`), [input]);
    case 'awaitReturn':
      return watch.awaitReturn.executeWithOptions(named(`await ${node}`), [input]);
    case 'checkNode':
      return watch.checkNode.executeWithOptions(named(`check ${node}`), [input]);
    case 'uncordon':
      return write.uncordon.executeWithOptions(named(`uncordon ${node}`), [input]);
    case 'settle':
      return watch.settle.executeWithOptions(named(`settle after ${node}`), [input]);
    case 'restore':
      return write.restoreNode.executeWithOptions(named(`give ${node} back`), [input]);
    case 'noteStop':
      return write.noteStop.executeWithOptions(named(`note why ${node} stopped`), [input]);
    case 'releaseLock':
      return write.releaseLock.executeWithOptions(named('release the lock'), [input]);
  }
}

/** As the Temporal UI names it. */
function named(summary: string): { readonly summary: string } {
  return { summary };
}
