import type { JsonObject } from './json-body.ts';
import type { ClientRepresentation, FlowRepresentation } from './representation.ts';
import { isOurs } from './read-back.ts';

/** Ids of the flows that the probe client may be aimed at: those that the workflow of this name built. */
export function ourFlowIds(flows: readonly FlowRepresentation[], name: string): ReadonlySet<string> {
  return new Set(flows.filter((flow) => isOurs(flow, name)).map((flow) => flow.id));
}

/**
 * How the probe client is aimed: at nothing, at a candidate of ours (a proof was cut off before it could take the
 * override away), or at a flow of somebody else's, in which case it is no probe client and is not touched.
 */
export function probeAim(client: ClientRepresentation, ours: ReadonlySet<string>): 'nothing' | 'ours' | 'foreign' {
  const id = client.authenticationFlowBindingOverrides?.['browser'] ?? '';
  if (id === '') return 'nothing';
  return ours.has(id) ? 'ours' : 'foreign';
}

/**
 * The body of the PUT that aims the probe client.
 *
 * @param client as it was read right before
 * @param flowId of the candidate; empty takes the override away, since Keycloak keeps those that a body leaves out
 */
export function aimedBody(client: ClientRepresentation, flowId: string): JsonObject {
  const overrides = { ...client.authenticationFlowBindingOverrides, browser: flowId };
  return { ...client, authenticationFlowBindingOverrides: overrides };
}
