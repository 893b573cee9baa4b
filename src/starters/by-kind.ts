import { own } from '../domain/core/own.ts';
import type { KeycloakFlowStatus } from '../domain/keycloak-flow/status.ts';
import type { NodeRebootStatus } from '../domain/node-reboot/status.ts';
import type { ReleaseStatus } from '../domain/release/status.ts';
import { KEYCLOAK_FLOW_ACTIONS, keycloakFlowId } from '../workflows/keycloak-flow/messages.ts';
import { NODE_REBOOT_ACTIONS, nodeRebootId } from '../workflows/node-reboot/messages.ts';
import { ACTIONS, releaseId } from '../workflows/release/messages.ts';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import { applyFlow, askFlowStatus, sendFlowAction, type FlowActionName } from './keycloak-flow/flow-client.ts';
import { kindNames, type KindName } from './kind-names.ts';
import { applyReboot, askRebootStatus, sendRebootAction, type RebootActionName } from './node-reboot/reboot-client.ts';
import { formatObjectName, type ObjectName } from './object-name.ts';
import { applyRelease, askStatus, sendAction, type ActionName } from './release/release-client.ts';
import type { Spec } from './spec-files.ts';
import type { Applied } from './temporal/apply-entity.ts';
import type { Temporal } from './temporal/connect.ts';
import type { Decider } from './who.ts';

/** What commands do alike for every kind, each through the client of the kind. */

/** How an object is now. */
export type Status = ReleaseStatus | KeycloakFlowStatus | NodeRebootStatus;

/** What people may ask for, of any kind. */
export type AnyActionName = ActionName | FlowActionName | RebootActionName;

/** The id of its workflow. */
export function workflowIdOf({ kind, name }: ObjectName): string {
  switch (kind) {
    case 'Release':
      return releaseId(name);
    case 'KeycloakFlow':
      return keycloakFlowId(name);
    case 'NodeReboot':
      return nodeRebootId(name);
  }
}

export function askStatusOf(temporal: Temporal, { kind, name }: ObjectName): Promise<Status> {
  switch (kind) {
    case 'Release':
      return askStatus(temporal, name);
    case 'KeycloakFlow':
      return askFlowStatus(temporal, name);
    case 'NodeReboot':
      return askRebootStatus(temporal, name);
  }
}

/** Starts what a spec describes, or gives what runs already its new spec. */
export function applySpec(temporal: Temporal, spec: Spec, decider: Decider): Promise<Applied> {
  switch (spec.kind) {
    case 'Release':
      return applyRelease(temporal, spec.name, spec.spec, decider);
    case 'KeycloakFlow':
      return applyFlow(temporal, spec.name, spec.spec, decider);
    case 'NodeReboot':
      return applyReboot(temporal, spec.name, spec.spec, decider);
  }
}

/**
 * Asks an object to do something, and waits until it was accepted.
 *
 * @throws CliError where its kind knows no such action
 */
export function sendActionTo(
  temporal: Temporal,
  object: ObjectName,
  action: AnyActionName,
  payload: Decider & Readonly<Record<string, unknown>>,
): Promise<{ readonly by: string; readonly message: string }> {
  switch (object.kind) {
    case 'Release':
      return sendAction(temporal, object.name, known(ACTIONS, action, object), payload);
    case 'KeycloakFlow':
      return sendFlowAction(temporal, object.name, known(KEYCLOAK_FLOW_ACTIONS, action, object), payload);
    case 'NodeReboot':
      return sendRebootAction(temporal, object.name, known(NODE_REBOOT_ACTIONS, action, object), payload);
  }
}

/**
 * Refuses a decision that the kind does not know, before anything is asked.
 *
 * @throws CliError
 */
export function requireAction(object: ObjectName, action: AnyActionName): void {
  known(actionsOf[object.kind], action, object);
}

const actionsOf: Readonly<Record<KindName, readonly AnyActionName[]>> = {
  Release: ACTIONS,
  KeycloakFlow: KEYCLOAK_FLOW_ACTIONS,
  NodeReboot: NODE_REBOOT_ACTIONS,
};

function known<Name extends string>(names: readonly Name[], action: string, object: ObjectName): Name {
  const name = names.find((other) => other === action);
  if (name !== undefined) return name;
  const verb = action.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const knowing = kindNames.filter((kind) => actionsOf[kind].some((other) => other === action));
  const instead =
    own(insteadOf[object.kind], action) ?? 'what it waits for, and which command lifts that: holdfast status KIND/NAME';
  throw new CliError(
    exitCodes.invalid,
    `${formatObjectName(object)}: this is nothing that a ${object.kind} knows, ${verb} is of ${knowing.join(' and ')}; ${instead.replace('KIND/NAME', formatObjectName(object))}`,
  );
}

/** What a person most likely wants who asks a kind for what another one knows. */
const insteadOf: Readonly<Record<KindName, Readonly<Record<string, string>>>> = {
  Release: {
    cancel: 'to end a rollout: holdfast abort KIND/NAME --stop, or --roll-back',
    rollback: 'to bring targets back: holdfast abort KIND/NAME --roll-back',
  },
  KeycloakFlow: { abort: 'to go back to the flow that was bound before: holdfast rollback KIND/NAME' },
  NodeReboot: {
    abort: 'to end it, after the node in its turn is given back or finished: holdfast cancel KIND/NAME',
    reject: 'a node that nobody approves just waits; to begin no further one: holdfast pause KIND/NAME',
    releaseOwnership: 'to end it: holdfast cancel KIND/NAME',
    rollback: 'a reboot cannot be taken back; to end it: holdfast cancel KIND/NAME',
  },
};
