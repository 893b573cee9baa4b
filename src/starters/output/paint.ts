import { styleText } from 'node:util';

/**
 * Colour on standard output, and only where that is a terminal; NO_COLOR and FORCE_COLOR are honoured by Node itself.
 */
export function paint(colour: 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold', text: string): string {
  return styleText(colour, text, { stream: process.stdout });
}

/** The phase or outcome of something in the colour of what it means: fine, on the way, wants a person, broken, not known. */
export function paintPhase(phase: string): string {
  switch (phase) {
    case 'Current':
    case 'Promoted':
    case 'Converged':
    case 'Bound':
      return paint('green', phase);
    case 'RolledBack':
    case 'Failed':
    case 'Degraded':
    case 'Problem':
    case 'Refused':
      return paint('red', phase);
    case 'AwaitingApproval':
    case 'Held':
    case 'Drifted':
    case 'Aborted':
    case 'PendingBind':
    case 'Undetermined':
      return paint('yellow', phase);
    case 'RollingOut':
    case 'Pending':
      return paint('cyan', phase);
    default:
      return phase;
  }
}
