import { clipped } from '../core/clipped.ts';
import type { KeycloakFlowStatus } from './status.ts';

const mostLines = 60;

/** A KeycloakFlow as the Temporal UI shows it: Markdown, short. */
export function statusText(status: KeycloakFlowStatus): string {
  const { bound, waiting, candidate, previous, hold } = status;
  const mode = status.modeReason === null ? '' : ` (${clip(status.modeReason)})`;
  const lines = [
    `**${status.phase}** in ${status.effectiveMode}${mode}, realm ${status.realm}`,
    bound === null
      ? 'What is bound could not be read'
      : `Bound: \`${bound.alias}\`${bound.by === null ? '' : ` (${bound.by})`}${previous === null ? '' : `, before \`${previous}\``}`,
    ...(candidate === null ? [] : [`Waits to be bound: \`${candidate.alias}\` (${clip(candidate.proof)})`]),
    ...(hold === null ? [] : [`Binding is held by ${hold.by}${hold.reason === '' ? '' : `: ${clip(hold.reason)}`}`]),
    ...(waiting === null ? [] : [`Waits for ${clip(waiting.for)} (${waiting.who}); next: ${clip(waiting.next)}`]),
  ];
  const passes = status.passes.map((pass) => `- ${pass.pass}: ${pass.outcome}, ${clip(pass.message)}`);
  const diff = bound === null || bound.asDeclared ? [] : ['```diff', ...bound.diff.slice(0, mostLines), '```'];
  return [lines.join('\n\n'), '', ...passes, ...(diff.length === 0 ? [] : ['', ...diff])].join('\n');
}

function clip(text: string): string {
  return clipped(text, 300);
}
