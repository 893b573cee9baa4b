import type { NodeRebootSpec } from './spec.ts';

/** What people are told of a node by way of which they reach the cluster, before it goes; null of any other. */
export function remoteAccessWarning(
  node: string,
  { remoteAccess }: Pick<NodeRebootSpec, 'remoteAccess'>,
): string | null {
  return remoteAccess.includes(node) ? `remote access goes by way of node ${node}, and drops until it is back` : null;
}
