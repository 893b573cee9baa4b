import { giveUp, into, page, readAnew, record, stop, whyNot } from './move-visit.ts';
import type { ResultOf } from './result.ts';
import type { CampaignState } from './state.ts';
import type { Visit } from './visit.ts';

/** What came of P8 to P12: from the reboot on only a proven boot lets a node go back to work. */

/** P8. */
export function rebooted(state: CampaignState, visit: Visit, result: ResultOf<'reboot'>, now: number): CampaignState {
  const { outcome, message } = result;
  switch (outcome) {
    case 'sent':
      return into(record(state, now, 'write', message), visit, 'Returning', now);
    case 'stale':
      return readAnew(
        record(state, now, 'reading', message),
        { ...visit, phase: 'LastCheck', rebootAt: null },
        'LastCheck',
        message,
        now,
      );
    case 'rebooted':
    case 'unknown':
      return into(record(state, now, 'notVerified', message), visit, 'Returning', now, { personNext: message });
    case 'refused':
      return giveUp(state, { ...visit, phase: 'LastCheck', rebootAt: null }, 'RebootRefused', message, now);
  }
}

/** P9. */
export function returned(
  state: CampaignState,
  visit: Visit,
  result: ResultOf<'awaitReturn'>,
  now: number,
): CampaignState {
  const read = record(state, now, 'reading', result.message);
  switch (result.outcome) {
    case 'returned': {
      const late = visit.hungSince === null ? visit.personNext : `node ${visit.node} came back late`;
      return into(read, visit, 'Checking', now, { bootedAs: result.bootId, hungSince: null, personNext: late });
    }
    case 'hung': {
      const text = `${result.message}: press its power button. The lock stays held, no other node is touched, and the node is watched on`;
      return page(into(read, visit, 'Returning', now, { hungSince: now }), visit, 'Hung', text, now);
    }
    case 'didNothing':
      return stop(state, visit, 'RebootDidNothing', result.message, now);
  }
}

/** P10. A node that is not as it should be stays cordoned: nothing is rolled back. */
export function checked(state: CampaignState, visit: Visit, result: ResultOf<'checkNode'>, now: number): CampaignState {
  const { verdict, kernel } = result;
  const { node, sentinel, bootedAs } = visit;
  if (verdict.kind !== 'pass' || bootedAs === null) {
    return stop(state, visit, verdict.kind === 'fail' ? verdict.reason : 'NodeUnchecked', whyNot(verdict), now);
  }
  const done = { ...state.done, [node]: { sentinel, bootId: bootedAs, kernel, at: now } };
  const message = verdict.message ?? `node ${node} is as it should be`;
  return into(record({ ...state, done }, now, 'reading', message), visit, 'Uncordoning', now);
}

/** P11. */
export function uncordoned(
  state: CampaignState,
  visit: Visit,
  result: ResultOf<'uncordon'>,
  now: number,
): CampaignState {
  if (result.outcome === 'refused') return stop(state, visit, 'UncordonRefused', result.message, now);
  return into(record(state, now, 'write', result.message), visit, 'Settling', now, { uncordonedAt: now });
}

/** P12 and P13. */
export function settled(
  state: CampaignState,
  visit: Visit,
  { verdict }: ResultOf<'settle'>,
  now: number,
): CampaignState {
  if (verdict.kind !== 'pass') return stop(state, visit, 'NotSettled', whyNot(verdict), now);
  const message = verdict.message ?? `everything is as before the reboot of ${visit.node}`;
  return into(record(state, now, 'reading', message), visit, 'Releasing', now);
}
