import type { GateStatus } from '../../domain/node-reboot/status.ts';
import { paint } from '../output/paint.ts';
import { table } from '../output/table.ts';

/** What each gate says, and what would lift one that does not pass. */
export function gateTable(gates: readonly GateStatus[]): string {
  return table(['GATE', 'VERDICT', 'REASON', 'MESSAGE', 'LIFTED BY'], gates.map(row));
}

function row({ gate, verdict, reason, message, lift }: GateStatus): string[] {
  return [gate, painted(verdict), reason ?? '-', message, verdict === 'pass' ? '-' : (lift ?? 'time')];
}

function painted(verdict: GateStatus['verdict']): string {
  switch (verdict) {
    case 'pass':
      return paint('green', verdict);
    case 'fail':
      return paint('red', verdict);
    case 'unmeasured':
      return paint('yellow', verdict);
  }
}
