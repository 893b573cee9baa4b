import type { PassResult } from '../../domain/keycloak-flow/passes.ts';
import { paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';

/** What each pass came to, and what differs; of the flow the tree says that. */
export function passesView(passes: readonly PassResult[]): string {
  if (passes.length === 0) return 'No pass was made yet.';
  const rows = passes.map((pass) => [pass.pass, paintPhase(pass.outcome), pass.reason, pass.message]);
  const differing = passes.filter((pass) => pass.pass !== 'flow' && pass.differences.length > 0);
  return [
    table(['PASS', 'OUTCOME', 'REASON', 'MESSAGE'], rows),
    ...differing.flatMap((pass) => ['', `${pass.pass}${when(pass)}:`, ...pass.differences.map((line) => `  ${line}`)]),
  ].join('\n');
}

/** What a pass put right differs no more. */
function when({ reason }: PassResult): string {
  return reason === 'Repaired' ? ', before it was put right' : '';
}
