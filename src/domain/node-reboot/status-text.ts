import { clipped } from '../core/clipped.ts';
import type { NodeRebootStatus } from './status.ts';

/** A NodeReboot as the Temporal UI shows it: Markdown, short. */
export function statusText(status: NodeRebootStatus): string {
  const { turn, waiting, stopped } = status;
  const mode = status.modeReason === null ? '' : ` (${clip(status.modeReason)})`;
  const lines = [
    `**${status.phase}** in ${status.effectiveMode}${mode}, cluster ${status.cluster}`,
    ...(turn === null ? [] : [`Node \`${turn.node}\`: ${turn.phase} since ${turn.since}`]),
    ...(stopped === null ? [] : [`Stopped: ${stopped.reason}, ${clip(stopped.message)}`]),
    ...(waiting === null ? [] : [`Waits for ${clip(waiting.for)} (${waiting.who}); next: ${clip(waiting.next)}`]),
  ];
  const blocking = status.gates.filter(({ verdict }) => verdict !== 'pass');
  const gates = blocking.map(
    ({ gate, verdict, reason, message }) => `- gate ${gate}: ${verdict} (${reason ?? ''}), ${clip(message)}`,
  );
  const nodes = status.nodes.map(({ node, reboot, kernel }) => `- ${node}: ${reboot}, kernel ${kernel ?? 'unknown'}`);
  return [lines.join('\n\n'), '', ...gates, ...nodes].join('\n');
}

function clip(text: string): string {
  return clipped(text, 300);
}
