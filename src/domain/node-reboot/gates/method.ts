import { fail, pass, type Reading } from '../../core/verdict.ts';
import type { GateReading } from '../gate.ts';
import type { CommandLine } from '../reboot-command.ts';

/** The worker has the command by which a spec lets nodes be rebooted, and can fill it in for this node. */
export function methodGate(name: string, line: Reading<CommandLine>): GateReading {
  if (line.kind === 'unmeasured') return { gate: 'method', verdict: line, lift: null };
  if (line.value.ok) {
    return { gate: 'method', verdict: pass(`the worker has reboot command ${name}`), lift: null };
  }
  const { reason, message, lift } = line.value;
  return { gate: 'method', verdict: fail(reason, message), lift };
}
