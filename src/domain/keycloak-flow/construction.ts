import { unmeasured, type Unmeasured } from '../core/verdict.ts';
import { aliasIn, candidateDescription, contentHash, type Candidate } from './candidate-name.ts';
import type { DesiredState, Requirement } from './desired.ts';
import { isOurs, type FlowReadBack } from './read-back.ts';
import type { ExecutionRow } from './representation.ts';
import { rowDifferences } from './tree-diff.ts';
import {
  declaredRows,
  isSubFlow,
  sameConfig,
  samePlace,
  subFlowAlias,
  treeRead,
  type DeclaredRow,
  type TreeRow,
} from './tree.ts';

/**
 * One write of a build. Each is done after reading back what the ones before came to, so that a build that was cut off
 * anywhere is continued from what is there: none of them may be repeated blindly, since Keycloak adds an execution each
 * time that it is asked to.
 */
export type ConstructionWrite =
  | { readonly kind: 'createFlow'; readonly alias: string; readonly description: string }
  | { readonly kind: 'addExecution'; readonly row: number; readonly flow: string; readonly provider: string }
  | {
      readonly kind: 'addSubFlow';
      readonly row: number;
      readonly flow: string;
      readonly alias: string;
      readonly description: string;
    }
  | {
      readonly kind: 'setRequirement';
      readonly row: number;
      /** The candidate: Keycloak looks the execution up by its id. */
      readonly flow: string;
      readonly id: string;
      readonly requirement: Requirement;
      /** The row's own: without it Keycloak sets 0, which reorders. */
      readonly priority: number;
    }
  | {
      readonly kind: 'addConfig';
      readonly row: number;
      readonly execution: string;
      readonly alias: string;
      readonly config: Readonly<Record<string, string>>;
    };

/** What a candidate as it was read back wants next. */
export type Construction =
  | { readonly kind: 'write'; readonly write: ConstructionWrite }
  /** Everything that is declared is there; it is still to be verified. */
  | { readonly kind: 'done' }
  /** It is no prefix of what is declared, or not ours: it is left alone. */
  | { readonly kind: 'foreign'; readonly why: string }
  | Unmeasured;

/**
 * The next write of a build.
 *
 * @param name of the KeycloakFlow
 * @param readBack the candidate as it is; null where there is no such flow
 */
export function nextConstruction(
  desired: DesiredState,
  candidate: Candidate,
  name: string,
  readBack: FlowReadBack | null,
): Construction {
  const description = candidateDescription(name, contentHash(desired));
  if (readBack === null) return { kind: 'write', write: { kind: 'createFlow', alias: candidate.alias, description } };
  const { flow, rows, configs } = readBack;
  if (!isOurs(flow, name)) return foreign(`flow "${flow.alias}" was not built by this workflow`);
  if (!flow.topLevel || flow.builtIn || flow.providerId !== 'basic-flow') {
    return foreign(`flow "${flow.alias}" is not a plain top level flow`);
  }
  const tree = treeRead(rows, configs, flow);
  if (tree.kind === 'unmeasured') return tree;

  const declared = declaredRows(desired);
  if (tree.value.length > declared.length)
    return foreign(`${tree.value.length} rows are there, ${declared.length} declared`);
  for (const [index, found] of tree.value.entries()) {
    const [wanted, served] = [declared[index], rows[index]];
    if (wanted === undefined || served === undefined) break;
    const step = rowStep({ index, wanted, found, served, candidate });
    if (step.kind === 'done') continue;
    // Rows are finished one by one: what comes after an unfinished one was not built by these writes.
    const last = index === tree.value.length - 1;
    return step.kind === 'write' && !last ? foreign(`row ${index + 1} was changed after it was built`) : step;
  }
  const next = declared[tree.value.length];
  return next === undefined ? { kind: 'done' } : addRow(candidate, description, next, rows, declared);
}

interface RowOf {
  readonly index: number;
  readonly wanted: DeclaredRow;
  readonly found: TreeRow;
  readonly served: ExecutionRow;
  readonly candidate: Candidate;
}

function rowStep({ index, wanted, found, served, candidate }: RowOf): Construction {
  const { row, configAlias } = wanted;
  if (!samePlace(row, found)) return foreign(`row ${index + 1} is not the declared one`);
  if (isSubFlow(served) && !(subFlowAlias(served) ?? '').endsWith(candidate.suffix)) {
    return foreign(`sub-flow "${subFlowAlias(served) ?? ''}" is named like none of this candidate`);
  }
  if (found.requirement !== row.requirement) {
    if (!isInitial(served) || found.config !== null)
      return foreign(`row ${index + 1} is ${found.requirement}, which no write of this build set`);
    const { priority } = served;
    if (priority === null || priority === undefined) return noPriority(served.id);
    const { id } = served;
    return {
      kind: 'write',
      write: { kind: 'setRequirement', row: index, flow: candidate.alias, id, requirement: row.requirement, priority },
    };
  }
  if (sameConfig(row.config, found.config)) return { kind: 'done' };
  if (
    found.config !== null ||
    row.config === null ||
    configAlias === null ||
    (served.authenticationConfig ?? '') !== ''
  ) {
    const differs = rowDifferences(row, found).map(({ message }) => message);
    return foreign(`row ${index + 1} has a configuration that is not the declared one: ${differs.join('; ')}`);
  }
  const alias = aliasIn(candidate, configAlias);
  return { kind: 'write', write: { kind: 'addConfig', row: index, execution: served.id, alias, config: row.config } };
}

/** True where a row is as Keycloak creates it: DISABLED, or the only thing that the authenticator can be. */
function isInitial({ requirement, requirementChoices }: ExecutionRow): boolean {
  if (requirement === 'DISABLED') return true;
  return requirementChoices?.length === 1 && requirementChoices[0] === requirement;
}

function addRow(
  candidate: Candidate,
  description: string,
  { row }: DeclaredRow,
  rows: readonly ExecutionRow[],
  declared: readonly DeclaredRow[],
): Construction {
  const index = rows.length;
  const parent = declared.slice(0, index).findLastIndex((other) => other.row.level < row.level);
  const around = rows[parent];
  const flow = around === undefined ? candidate.alias : (subFlowAlias(around) ?? '');
  if (row.kind === 'authenticator') {
    return { kind: 'write', write: { kind: 'addExecution', row: index, flow, provider: row.name } };
  }
  const alias = aliasIn(candidate, row.alias);
  return { kind: 'write', write: { kind: 'addSubFlow', row: index, flow, alias, description } };
}

function noPriority(id: string): Unmeasured {
  const message = `row ${id} has no priority, without which its requirement cannot be written; Keycloak 25 and later say it`;
  return unmeasured('the priority of an execution', 'Keycloak', 'empty', message);
}

function foreign(why: string): Construction {
  return { kind: 'foreign', why };
}
