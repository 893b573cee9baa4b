import type { Unmeasured } from '../core/verdict.ts';
import { treeHash } from './candidate-name.ts';
import type { DesiredState } from './desired.ts';
import type { ExecutionRow, FlowRepresentation } from './representation.ts';
import { diffTrees } from './tree-diff.ts';
import { desiredTree, treeRead, type ConfigReadings } from './tree.ts';

/**
 * A flow as it was read back, all of it at one time. Where its entry in the list of flows is older than the rows, that
 * entry comes without `authenticationExecutions`, which would say another number of rows.
 */
export interface FlowReadBack {
  readonly flow: FlowRepresentation;
  readonly rows: readonly ExecutionRow[];
  /** A reading for each configuration that the rows name. */
  readonly configs: ConfigReadings;
}

/**
 * True for a flow that the workflow of this name built, as its description says. What its content was to be is in the
 * description too, and not asked for here.
 */
export function isOurs(flow: FlowRepresentation, name: string): boolean {
  const { description } = flow;
  return (description ?? '').startsWith(`built by holdfast keycloakflow/${name}, content `);
}

/** What a flow comes to beside what is declared. */
export type Verification =
  | { readonly kind: 'verified'; readonly treeHash: string }
  | { readonly kind: 'different'; readonly treeHash: string; readonly differences: readonly string[] }
  | Unmeasured;

/**
 * Verifies a flow that is to be bound: the declared tree, all of it, in an order that cannot change by itself. What
 * could not be read is not verified.
 */
export function verify(desired: DesiredState, { flow, rows, configs }: FlowReadBack): Verification {
  const tree = treeRead(rows, configs, flow);
  if (tree.kind === 'unmeasured') return tree;
  const differences = [
    ...flowFaults(flow),
    ...diffTrees(desiredTree(desired), tree.value).map((difference) => difference.message),
    ...orderFaults(rows),
  ];
  const hash = treeHash(tree.value);
  return differences.length === 0
    ? { kind: 'verified', treeHash: hash }
    : { kind: 'different', treeHash: hash, differences };
}

function flowFaults(flow: FlowRepresentation): string[] {
  return [
    ...(flow.topLevel ? [] : [`flow "${flow.alias}" is not top level, so that it cannot be bound`]),
    ...(flow.builtIn ? [`flow "${flow.alias}" is built in, so that it is not a candidate`] : []),
    ...(flow.providerId === 'basic-flow' ? [] : [`flow "${flow.alias}" is a ${flow.providerId}, not a basic-flow`]),
  ];
}

/** Rows of equal priority come in any order, another one at each reading. */
function orderFaults(rows: readonly ExecutionRow[]): string[] {
  const before: (number | null)[] = [];
  return rows.flatMap((row) => {
    before.length = row.level + 1;
    const last = before[row.level] ?? null;
    const own = row.priority ?? null;
    before[row.level] = own;
    return last !== null && own !== null && own <= last
      ? [`row ${row.id} has priority ${own} after one of ${last}, so that their order is not fixed`]
      : [];
  });
}
