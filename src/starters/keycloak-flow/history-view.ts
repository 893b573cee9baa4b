import { counted } from '../../domain/core/counted.ts';
import type { KeycloakFlowHistory } from '../../domain/keycloak-flow/history.ts';
import type { RunStatus } from '../../domain/keycloak-flow/status.ts';
import { span, toSeconds } from '../output/instants.ts';
import { paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';
import { evidenceTable } from '../output/evidence-table.ts';

/** Runs, and what was decided and written, as `holdfast history` shows them: the newest first. */
export function flowHistoryView({ runs, lastRuns, evidence, dropped }: KeycloakFlowHistory): string {
  const happened = evidence.filter(({ kind }) => kind !== 'reading' && kind !== 'gap').toReversed();
  return [
    ...(lastRuns.length === 0 ? [] : [runTable(lastRuns.toReversed(), runs)]),
    ...(happened.length === 0 ? [] : [evidenceTable(happened, dropped)]),
  ].join('\n\n');
}

function runTable(lastRuns: readonly RunStatus[], all: number): string {
  const rows = lastRuns.map(({ id, startedAt, endedAt, outcome, message }) => [
    id,
    toSeconds(startedAt),
    span(Date.parse(endedAt) - Date.parse(startedAt)),
    paintPhase(outcome),
    message,
  ]);
  const older = all - lastRuns.length;
  return [
    table(['RUN', 'STARTED', 'TOOK', 'OUTCOME', 'MESSAGE'], rows),
    ...(older > 0 ? [`${counted(older, 'older one is', 'older ones are')} in Temporal's own history`] : []),
  ].join('\n');
}
