import { formatDuration } from '../core/duration.ts';
import { remaining } from '../core/window.ts';
import { describeBlocking, judgeGates, type GateReading, type Override } from './gate.ts';
import { giveUp, into, page, readAnew, record, whyNot } from './move-visit.ts';
import { remoteAccessWarning } from './remote-access.ts';
import type { ResultOf } from './result.ts';
import { sentinelId } from './sentinel.ts';
import type { CampaignState } from './state.ts';
import type { GivingUp, Visit } from './visit.ts';

/** What came of P2 to P7: as long as nothing was sent to the node, each failure gives it back as it was found. */

/** After a try that was refused. */
export const retryMs = 60_000;

/** P2. */
export function lockTaken(
  state: CampaignState,
  visit: Visit,
  result: ResultOf<'takeLock'>,
  now: number,
): CampaignState {
  if (result.outcome === 'refused') {
    const notBefore = { at: now + retryMs, for: { kind: 'lock', message: result.message } } as const;
    return { ...state, visit: null, holds: false, adopting: null, observation: null, notBefore };
  }
  const held = record({ ...state, holds: true, adopting: null }, now, 'write', result.message);
  return visit.phase === 'Locking' ? into(held, visit, 'Gating', now) : held;
}

/** P3: not met, the lock is given back. A cordon may have been tried already, when the gates are read anew for it. */
export function gatesBefore(
  state: CampaignState,
  visit: Visit,
  { readings, before, at }: ResultOf<'gatesBefore'>,
  now: number,
): CampaignState {
  const { blocking, used } = judgeGates(readings, state.overrides, visit.node, visit.startedAt, now);
  const read = { ...state, gates: readings };
  // A page, or an API server, may have been waited for since the turn began.
  if (remaining(state.spec.windows, now) < state.spec.worstCase) {
    const left = `the window is not open for another ${formatDuration(state.spec.worstCase)}, which is what a node may take`;
    return notMet(read, visit, left, now, 'OutsideWindow');
  }
  if (before.kind === 'unmeasured') return notMet(read, visit, before.message, now);
  const { bootId } = before.value;
  if (visit.offeredBoot !== null && visit.offeredBoot !== bootId) {
    const other = `node ${visit.node} runs boot ${bootId}, and not ${visit.offeredBoot} any more, for which its reboot was offered`;
    return notMet(read, visit, other, now, 'CordonRefused');
  }
  if (blocking.length > 0) return notMet(read, visit, describeBlocking(blocking), now);
  const passed = record(withUsed(read, used, visit, now), now, 'reading', gatesPassed(readings));
  const next = into(passed, visit, 'Cordoning', now, { before: before.value, gatesAt: at });
  // Once in a turn, also where the gates are read anew for the cordon.
  const warning = visit.gatesAt === null ? remoteAccessWarning(visit.node, state.spec) : null;
  return warning === null ? next : page(next, visit, 'RemoteAccess', `it is rebooted now: ${warning}`, now);
}

/** P4. */
export function cordoned(state: CampaignState, visit: Visit, result: ResultOf<'cordon'>, now: number): CampaignState {
  if (result.outcome === 'refused') return notMet(state, visit, result.message, now, 'CordonRefused');
  if (result.outcome === 'stale') return readAnew(state, visit, 'Gating', result.message, now);
  return into(record(state, now, 'write', result.message), visit, 'Moving', now, { staleRounds: 0 });
}

/** P5. */
export function primariesMoved(
  state: CampaignState,
  visit: Visit,
  { verdict }: ResultOf<'movePrimaries'>,
  now: number,
): CampaignState {
  if (verdict.kind !== 'pass') return giveUp(state, visit, 'PrimariesStay', whyNot(verdict), now);
  return into(record(state, now, 'write', verdict.message ?? 'no primary is on the node'), visit, 'Draining', now);
}

/** P6. */
export function drained(state: CampaignState, visit: Visit, result: ResultOf<'drain'>, now: number): CampaignState {
  switch (result.outcome) {
    case 'drained':
      return into(record(state, now, 'write', result.message), visit, 'LastCheck', now);
    case 'interrupted':
      return state;
    case 'blocked':
      return giveUp(state, visit, 'DrainBlocked', result.message, now);
  }
}

/** P7. The gates have discounted what our own drain did; everything else stops the campaign. */
export function lastCheck(
  state: CampaignState,
  visit: Visit,
  { readings, sentinel, at }: ResultOf<'lastCheck'>,
  now: number,
): CampaignState {
  const { blocking, used } = judgeGates(readings, state.overrides, visit.node, visit.startedAt, now);
  const read = { ...state, gates: readings };
  if (sentinel.kind === 'unmeasured') return giveUp(read, visit, 'SentinelUnread', sentinel.message, now);
  if (sentinel.value === null || sentinelId(sentinel.value) !== visit.sentinel) {
    const message = `node ${visit.node} does not want this reboot any more`;
    const givingUp: GivingUp = { reason: 'SentinelGone', message, keepLock: false };
    return into(record(read, now, 'reading', message), visit, 'Restoring', now, { givingUp });
  }
  if (blocking.length > 0) return giveUp(read, visit, 'LastCheckFailed', describeBlocking(blocking), now);
  const passed = record(withUsed(read, used, visit, now), now, 'reading', gatesPassed(readings));
  return into(passed, visit, 'Rebooting', now, { rebootAt: now, gatesAt: at });
}

function notMet(
  state: CampaignState,
  visit: Visit,
  message: string,
  now: number,
  reason = 'GatesNotMet',
): CampaignState {
  const givingUp: GivingUp = { reason, message, keepLock: false };
  // Once a cordon was tried, one that comes late could still take effect: then it is taken back first.
  const phase = visit.before === null ? 'Releasing' : 'Restoring';
  return into(record(state, now, 'reading', message), visit, phase, now, { givingUp });
}

function withUsed(state: CampaignState, used: readonly Override[], { startedAt }: Visit, now: number): CampaignState {
  const fresh = used.filter(({ usedFor }) => usedFor === null);
  const overrides = state.overrides.map((one) => (fresh.includes(one) ? { ...one, usedFor: startedAt } : one));
  return fresh.reduce<CampaignState>(
    (kept, { gate, by, reason, expiresAt }) => {
      const message = `gate ${gate} is set aside by ${by}, who may do so for ${formatDuration(expiresAt - now)} more: ${reason}`;
      return record(kept, now, 'override', message);
    },
    { ...state, overrides },
  );
}

function gatesPassed(readings: readonly GateReading[]): string {
  return `gates read: ${readings.map(({ gate, verdict }) => `${gate} ${verdict.kind}`).join(', ')}`;
}
