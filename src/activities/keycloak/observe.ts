import { isUnmeasured, unmeasured, type Reading, type Unmeasured } from '../../domain/core/verdict.ts';
import {
  asksAuthenticators,
  asksUnregistered,
  candidatesToRead,
  observationOf,
  type FlowObservation,
  type FlowReadings,
} from '../../domain/keycloak-flow/observation.ts';
import type { FlowReadBack } from '../../domain/keycloak-flow/read-back.ts';
import { openSession, type KeycloakFlowDependencies, type Session } from './dependencies.ts';
import type { FlowInput } from './port.ts';
import { readSwitch } from './read-switch.ts';

/**
 * One pass's readings. As declared it is five requests and one for each configuration of the bound flow, beside the
 * token; what more there is to know is asked only where it is decided by.
 */
export async function observeRealm(
  dependencies: KeycloakFlowDependencies,
  input: FlowInput,
  signal: AbortSignal,
): Promise<FlowObservation> {
  const { desired, name } = input;
  const session = openSession(dependencies, input, signal);
  const at = (dependencies.clock ?? Date.now)();
  const bindSwitch = await readSwitch(dependencies, input.bind, signal);
  if (isUnmeasured(session)) return observationOf(desired, name, nothing(session, bindSwitch), at);

  const first = await readAll(session, input, bindSwitch);
  const seen = observationOf(desired, name, first, at);
  if (!asksAuthenticators(seen)) return seen;
  return observationOf(desired, name, { ...first, authenticators: await session.reader.authenticators() }, at);
}

async function readAll(
  { reader }: Session,
  { desired, name }: FlowInput,
  bindSwitch: FlowReadings['bindSwitch'],
): Promise<FlowReadings> {
  const realm = await reader.realm();
  const requiredActions = await reader.requiredActions();
  const unregistered = asksUnregistered(requiredActions) ? await reader.unregisteredActions() : null;
  const flows = await reader.flows();
  const readBacks: Record<string, Reading<FlowReadBack>> = {};
  const readings = { bindSwitch, realm, requiredActions, unregistered, flows, readBacks, authenticators: null };
  if (realm.kind === 'unmeasured' || flows.kind === 'unmeasured') return readings;

  const readBackOf = async (alias: string) => {
    const flow = flows.value.find((other) => other.alias === alias);
    if (flow !== undefined) readBacks[alias] ??= await reader.readBack(flow);
  };
  await readBackOf(realm.value.browserFlow);
  // Nobody asks for candidates where the bound flow is as declared.
  if (observationOf(desired, name, readings, 0).candidates === null) return readings;
  for (const alias of candidatesToRead(desired, flows.value)) await readBackOf(alias);
  return readings;
}

function nothing(why: Unmeasured, bindSwitch: FlowReadings['bindSwitch']): FlowReadings {
  const unread = unmeasured('Keycloak', why.from, why.why, why.message);
  return {
    bindSwitch,
    realm: unread,
    requiredActions: unread,
    unregistered: null,
    flows: unread,
    readBacks: {},
    authenticators: null,
  };
}
