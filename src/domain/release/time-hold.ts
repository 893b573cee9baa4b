import { timeGate, type Freeze, type TimeGate } from '../core/window.ts';
import { instant, type Hold } from './hold.ts';
import type { ReleaseSpec } from './spec.ts';

/** What says when targets may be started: the windows and freezes of a spec, and the freezes of all releases. */
export interface Times {
  readonly spec: Pick<ReleaseSpec, 'windows' | 'freeze'>;
  readonly freezes: readonly Freeze[];
}

/** Whether targets may be started at `now` (epoch milliseconds), and until when. */
export function gateOfTimes({ spec, freezes }: Times, now: number): TimeGate {
  return timeGate(spec.windows, [...(spec.freeze ?? []), ...freezes], now);
}

/** What keeps every target from being started at `now` (epoch milliseconds); null where nothing does. */
export function timeHold(times: Times, now: number): (Hold & { readonly until: number }) | null {
  const gate = gateOfTimes(times, now);
  switch (gate.kind) {
    case 'open':
      return null;
    case 'closed':
      return {
        reason: 'OutsideWindow',
        message: `outside its windows; the next one opens at ${instant(gate.opensAt)}`,
        until: gate.opensAt,
      };
    case 'frozen':
      return {
        reason: 'Frozen',
        message: `frozen until ${instant(gate.until)}: ${gate.reason}`,
        until: gate.until,
      };
  }
}
