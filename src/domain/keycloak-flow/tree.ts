import { read, unmeasured, type Reading, type Unmeasured } from '../core/verdict.ts';
import { requirements, type DesiredExecution, type DesiredState, type Requirement } from './desired.ts';
import type { AuthenticatorConfig, ExecutionRow, FlowRepresentation } from './representation.ts';

/** One row of a flow's tree. */
export interface TreeRow {
  /** From 0. */
  readonly level: number;
  readonly kind: 'flow' | 'authenticator';
  /** The provider id; empty for a sub-flow (that of a form flow names its provider). */
  readonly name: string;
  /** Of a sub-flow, for people: aliases are not compared. Empty for an authenticator. */
  readonly alias: string;
  readonly requirement: Requirement;
  /** Key by key as the server keeps it; null where there is none. */
  readonly config: Readonly<Record<string, string>> | null;
}

/** A flow's tree, depth first in the order in which it is carried out. */
export type FlowTree = readonly TreeRow[];

/** The tree that a desired state declares. */
export function desiredTree(desired: DesiredState): FlowTree {
  return declaredRows(desired).map(({ row }) => row);
}

/** A declared row with what else is needed to create it. */
export interface DeclaredRow {
  readonly row: TreeRow;
  readonly configAlias: string | null;
}

/** The rows that a desired state declares, depth first. */
export function declaredRows(desired: DesiredState): readonly DeclaredRow[] {
  return rowsOf(desired, desired.browserFlow, []);
}

function rowsOf(desired: DesiredState, flow: string, above: readonly string[]): DeclaredRow[] {
  // Refused long before; here it keeps a mistake from becoming an endless recursion.
  if (above.includes(flow)) throw new RangeError(`flow "${flow}" contains itself`);
  return (desired.flows[flow]?.executions ?? []).flatMap((execution) => {
    const declared = declaredRow(desired, execution, above.length);
    return execution.kind === 'flow' ? [declared, ...rowsOf(desired, execution.name, [...above, flow])] : [declared];
  });
}

function declaredRow(desired: DesiredState, execution: DesiredExecution, level: number): DeclaredRow {
  const { kind, name, requirement, configAlias = null } = execution;
  const config = configAlias === null ? null : (desired.authenticatorConfig[configAlias] ?? null);
  return {
    row: {
      level,
      kind,
      name: kind === 'flow' ? '' : name,
      alias: kind === 'flow' ? name : '',
      requirement,
      config,
    },
    configAlias,
  };
}

/** What was read of the configurations that rows name, by id. */
export type ConfigReadings = Readonly<Record<string, Reading<AuthenticatorConfig>>>;

/**
 * The tree that a server's answers describe.
 *
 * @param rows the rows as they were listed
 * @param configs a reading for each `authenticationConfig` that the rows name
 * @param flow the flow's entry in the list of flows, where there is one: how many executions it says that it has tells
 *   a list that was cut short
 * @returns the tree, or what of it could not be read: a sub-flow without name, rows that form no tree, a configuration
 *   that the rows name and that was not read. A configuration that vanished is none
 */
export function treeRead(
  rows: readonly ExecutionRow[],
  configs: ConfigReadings,
  flow?: Pick<FlowRepresentation, 'alias' | 'authenticationExecutions'>,
): Reading<FlowTree> {
  const malformed = formFault(rows, flow);
  if (malformed !== null) return malformed;
  const tree: TreeRow[] = [];
  for (const row of rows) {
    const seen = rowRead(row, configs);
    if (seen.kind === 'unmeasured') return seen;
    tree.push(seen.value);
  }
  return read(tree);
}

/** True for a row that is a sub-flow. */
export function isSubFlow(row: ExecutionRow): boolean {
  return row.authenticationFlow === true;
}

/** The alias of a sub-flow: rows give it as `displayName`, never as `alias`. Undefined where it cannot be told. */
export function subFlowAlias(row: ExecutionRow): string | undefined {
  const { displayName } = row;
  return displayName === null || displayName === undefined || displayName === '' ? undefined : displayName;
}

/** Rows that no flow can have are an answer that something is missing from. */
function formFault(
  rows: readonly ExecutionRow[],
  flow: Pick<FlowRepresentation, 'alias' | 'authenticationExecutions'> | undefined,
): Unmeasured | null {
  const next = [0];
  const ids = new Set<string>();
  for (const row of rows) {
    if (row.level >= next.length) return cut(`row ${row.id} stands at level ${row.level}, below no sub-flow`);
    next.length = row.level + 1;
    if (row.index !== next[row.level])
      return cut(`row ${row.id} is number ${row.index} of its flow, not ${next[row.level] ?? 0}`);
    next[row.level] = row.index + 1;
    if (isSubFlow(row)) next.push(0);
    if (ids.has(row.id)) return cut(`row ${row.id} is listed twice`);
    ids.add(row.id);
  }
  const said = flow?.authenticationExecutions?.length;
  if (said !== undefined && said !== (next[0] ?? 0)) {
    return cut(`flow "${flow?.alias ?? ''}" says that it has ${said} executions, and ${next[0] ?? 0} are listed`);
  }
  return null;
}

function rowRead(row: ExecutionRow, configs: ConfigReadings): Reading<TreeRow> {
  const requirement = requirements.find((known) => known === row.requirement);
  if (requirement === undefined) return unread(`row ${row.id} has the unknown requirement "${row.requirement}"`);
  const provider = row.providerId ?? '';
  if (isSubFlow(row)) {
    const alias = subFlowAlias(row);
    if (alias === undefined)
      return unread(`sub-flow ${row.id} has no displayName, so that it cannot be told which it is`);
    return read({ level: row.level, kind: 'flow', name: provider, alias, requirement, config: null });
  }
  if (provider === '') return unread(`row ${row.id} names neither an authenticator nor a sub-flow`);
  const config = configRead(row, configs);
  if (config.kind === 'unmeasured') return config;
  return read({
    level: row.level,
    kind: 'authenticator',
    name: provider,
    alias: '',
    requirement,
    config: config.value,
  });
}

function configRead(row: ExecutionRow, configs: ConfigReadings): Reading<Record<string, string> | null> {
  const id = row.authenticationConfig ?? '';
  if (id === '') return read(null);
  const reading = configs[id];
  if (reading === undefined) return unread(`configuration ${id} of row ${row.id} was not read`);
  if (reading.kind === 'unmeasured') {
    // The listing shows the alias of a configuration that exists: the two answers must agree that it is gone.
    const listed = (row.alias ?? '') !== '';
    return reading.why === 'missing' && !listed ? read(null) : reading;
  }
  const entries = Object.entries(reading.value.config ?? {});
  return read(Object.fromEntries(entries.flatMap(([key, value]) => (value === null ? [] : [[key, value]]))));
}

/** True where two trees are the same row by row; aliases are not compared. */
export function sameTree(a: FlowTree, b: FlowTree): boolean {
  return (
    a.length === b.length &&
    a.every((row, index) => {
      const other = b[index];
      return other !== undefined && sameRow(row, other);
    })
  );
}

/** True where two rows are the same in everything that is compared. */
export function sameRow(a: TreeRow, b: TreeRow): boolean {
  return samePlace(a, b) && a.requirement === b.requirement && sameConfig(a.config, b.config);
}

/** True where two rows are the same execution, however it is set. */
export function samePlace(a: TreeRow, b: TreeRow): boolean {
  return a.level === b.level && a.kind === b.kind && a.name === b.name;
}

/** True where two configurations hold the same keys with the same values. */
export function sameConfig(a: TreeRow['config'], b: TreeRow['config']): boolean {
  if (a === null || b === null) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}

function cut(message: string): Unmeasured {
  return unmeasured(
    'the executions of the flow',
    'Keycloak',
    'truncated',
    `the list of executions is not whole: ${message}`,
  );
}

function unread(message: string): Unmeasured {
  return unmeasured('the executions of the flow', 'Keycloak', 'unparsed', message);
}
