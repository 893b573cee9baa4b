import { clipped } from '../core/clipped.ts';
import { redactJson } from '../core/redact.ts';
import { sameConfig, samePlace, sameRow, type FlowTree, type TreeRow } from './tree.ts';

const longestValue = 200;

/** One difference between the tree that is wanted and the one that is there. */
export interface TreeDifference {
  readonly kind: 'missing' | 'unexpected' | 'requirement' | 'config';
  readonly level: number;
  /** The execution, as people call it. */
  readonly what: string;
  /** A sentence. */
  readonly message: string;
}

/** What differs, in the order of the trees. Empty exactly where the two are the same. */
export function diffTrees(wanted: FlowTree, found: FlowTree): TreeDifference[] {
  return align(wanted, found).flatMap(({ want, have }) => {
    if (want !== null && have !== null) return rowDifferences(want, have);
    if (want !== null) return [whole('missing', want)];
    return have === null ? [] : [whole('unexpected', have)];
  });
}

/** Both trees as one, for people: a line a row, `-` for what is there and goes, `+` for what is new. */
export function diffLines(wanted: FlowTree, found: FlowTree): string[] {
  return align(wanted, found).flatMap(({ want, have }) => {
    if (want !== null && have !== null && sameRow(want, have)) return [`  ${describeRow(want, pairName(want, have))}`];
    return [...(have === null ? [] : [`- ${describeRow(have)}`]), ...(want === null ? [] : [`+ ${describeRow(want)}`])];
  });
}

/** One tree for people, a line a row. */
export function treeLines(tree: FlowTree): string[] {
  return tree.map((row) => describeRow(row));
}

/** `    auth-otp-form REQUIRED`, with its configuration where it has one. */
function describeRow(row: TreeRow, name = nameOf(row)): string {
  const config = row.config === null ? '' : ` {${settings(row.config)}}`;
  return `${'  '.repeat(row.level)}${name} ${row.requirement}${config}`;
}

function nameOf(row: TreeRow): string {
  if (row.kind === 'authenticator') return row.name;
  return `${row.name === '' ? 'flow' : `flow (${row.name})`} ${row.alias}`;
}

/** A sub-flow as it is called where it is; those of a candidate are the declared ones with a hash behind. */
function pairName(want: TreeRow, have: TreeRow): string {
  if (want.kind === 'authenticator' || have.alias.startsWith(want.alias)) return nameOf(want);
  return `${nameOf(have)} (declared: ${want.alias})`;
}

function settings(config: Readonly<Record<string, string>>): string {
  return Object.entries(config)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${shown(key, value)}`)
    .join(', ');
}

function whole(kind: 'missing' | 'unexpected', row: TreeRow): TreeDifference {
  const what = nameOf(row);
  const config = row.config === null ? '' : ` with ${settings(row.config)}`;
  const message =
    kind === 'missing'
      ? `${what} ${row.requirement}${config} is missing at level ${row.level}`
      : `${what} ${row.requirement}${config} at level ${row.level} is not declared`;
  return { kind, level: row.level, what, message };
}

/** What differs between two rows in the same place. */
export function rowDifferences(want: TreeRow, have: TreeRow): TreeDifference[] {
  const differences: TreeDifference[] = [];
  const what = pairName(want, have);
  if (want.requirement !== have.requirement) {
    const message = `${what} is ${have.requirement} instead of ${want.requirement}`;
    differences.push({ kind: 'requirement', level: want.level, what, message });
  }
  if (!sameConfig(want.config, have.config)) {
    const message = `${what}: ${configDifference(want.config, have.config)}`;
    differences.push({ kind: 'config', level: want.level, what, message });
  }
  return differences;
}

function configDifference(want: TreeRow['config'], have: TreeRow['config']): string {
  if (want === null) return `has a configuration that is not declared (${settings(have ?? {})})`;
  if (have === null) return `has no configuration; declared is ${settings(want)}`;
  const keys = [...new Set([...Object.keys(want), ...Object.keys(have)])].sort();
  return keys
    .flatMap((key) => {
      const [wanted, found] = [own(want, key), own(have, key)];
      if (wanted === found) return [];
      if (found === undefined) return [`${key} is not set; declared is ${shown(key, wanted ?? '')}`];
      if (wanted === undefined) return [`${key} is ${shown(key, found)} and not declared`];
      return [`${key} is ${shown(key, found)} instead of ${shown(key, wanted)}`];
    })
    .join('; ');
}

/** A value as people are shown it: no secret of a flow that others made, and no megabyte of it. */
function shown(key: string, value: string): string {
  const clean = redactJson({ [key]: clipped(value, longestValue) }) as Record<string, unknown>;
  return JSON.stringify(clean[key]);
}

function own(config: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(config, key) ? config[key] : undefined;
}

interface Pair {
  readonly want: TreeRow | null;
  readonly have: TreeRow | null;
}

/** Rows that are the same execution side by side, as many as can be without crossing (a longest common subsequence). */
function align(wanted: FlowTree, found: FlowTree): Pair[] {
  const most = commonFrom(wanted, found);
  const at = (i: number, j: number) => most[i]?.[j] ?? 0;
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < wanted.length || j < found.length) {
    const want = wanted[i] ?? null;
    const have = found[j] ?? null;
    if (want !== null && have !== null && samePlace(want, have) && at(i, j) === at(i + 1, j + 1) + weight(want, have)) {
      pairs.push({ want, have });
      [i, j] = [i + 1, j + 1];
    } else if (have !== null && (want === null || at(i, j + 1) >= at(i + 1, j))) {
      pairs.push({ want: null, have });
      j += 1;
    } else {
      pairs.push({ want, have: null });
      i += 1;
    }
  }
  return pairs;
}

/** Row by row, how much of the two trees from there on can stand side by side. */
function commonFrom(wanted: FlowTree, found: FlowTree): number[][] {
  const most = Array.from({ length: wanted.length + 1 }, () => new Array<number>(found.length + 1).fill(0));
  for (let i = wanted.length - 1; i >= 0; i--) {
    for (let j = found.length - 1; j >= 0; j--) {
      const [want, have] = [wanted[i], found[j]];
      const apart = Math.max(most[i + 1]?.[j] ?? 0, most[i]?.[j + 1] ?? 0);
      const together =
        want !== undefined && have !== undefined && samePlace(want, have)
          ? (most[i + 1]?.[j + 1] ?? 0) + weight(want, have)
          : 0;
      const row = most[i];
      if (row !== undefined) row[j] = Math.max(apart, together);
    }
  }
  return most;
}

/** Sub-flows of the same name belong together, where several could. */
function weight(want: TreeRow, have: TreeRow): number {
  return want.kind === 'flow' && have.alias.startsWith(want.alias) ? 3 : 2;
}
