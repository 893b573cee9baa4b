import { clipped } from '../../domain/core/clipped.ts';
import type { KeycloakFlowStatus } from '../../domain/keycloak-flow/status.ts';
import type { Listed } from '../list-entities.ts';
import { paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';

/** KeycloakFlows as `holdfast get` lists them. */
export function flowListView(listed: readonly Listed<KeycloakFlowStatus>[]): string {
  return table(['NAME', 'PHASE', 'MODE', 'REALM', 'BOUND', 'CANDIDATE', 'WAITS FOR'], listed.map(row));
}

function row({ name, status, problem }: Listed<KeycloakFlowStatus>): string[] {
  const object = `keycloakflow/${name}`;
  if (status === null) return [object, 'no answer', '-', '-', '-', '-', problem];
  const { mode, effectiveMode, bound, candidate, waiting } = status;
  return [
    object,
    paintPhase(status.phase),
    mode === effectiveMode ? mode : `${mode} (${effectiveMode})`,
    status.realm,
    bound === null ? '?' : bound.alias,
    candidate === null ? '-' : candidate.alias,
    waiting === null ? '-' : `${clipped(waiting.for, 100)} (${waiting.who})`,
  ];
}
