import { requirements } from './desired.ts';
import type { Operation } from './endpoints.ts';
import { isObject, keyFault, type JsonObject } from './json-body.ts';
import type { ProtectedSets } from './protect.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { BuildScope, Scope } from './screen-scope.ts';

type FlowWrite = Extract<Operation, 'createFlow' | 'addExecution' | 'addSubFlow' | 'setRequirement' | 'addConfig'>;

interface Screening {
  readonly body: JsonObject;
  readonly parameters: Readonly<Record<string, string>>;
  readonly inUse: ProtectedSets;
  readonly build: BuildScope;
}

/**
 * A write into a flow: into the candidate that is being built and nowhere else. What is in use is known, or nothing is
 * written; an empty set is not what is not known.
 */
export function screenFlowWrite(
  operation: FlowWrite,
  body: unknown,
  parameters: Readonly<Record<string, string>>,
  scope: Scope,
): Refusal | null {
  if (scope.protected === null) {
    return refuse('Undetermined', `${operation}: what is in use was not read, so that no flow is written to`);
  }
  if (scope.protected.kind === 'unmeasured') {
    return refuse('Undetermined', `${operation}: what is in use is not known: ${scope.protected.message}`);
  }
  if (scope.build === null) return refuse('OutsideBuild', `${operation}: no candidate is being built`);
  if (!isObject(body)) return refuse('Body', `${operation}: the body is no object`);
  const screening = { body, parameters, inUse: scope.protected.value, build: scope.build };
  if (screening.inUse.flows.has(screening.build.candidate.alias)) {
    return refuse('Protected', `"${screening.build.candidate.alias}" is in use, so that it is not built on`);
  }
  return rules[operation](screening);
}

const rules: Readonly<Record<FlowWrite, (screening: Screening) => Refusal | null>> = {
  createFlow,
  addExecution,
  addSubFlow,
  setRequirement,
  addConfig,
};

function createFlow({ body, inUse, build }: Screening): Refusal | null {
  const fault = keyFault(body, ['alias', 'description', 'providerId', 'topLevel', 'builtIn']);
  if (fault !== null) return refuse('Body', `a new flow: ${fault}`);
  const { alias } = body;
  if (typeof alias === 'string' && inUse.flows.has(alias)) return refuse('Protected', `flow "${alias}" is in use`);
  if (alias !== build.candidate.alias) {
    return refuse('OutsideBuild', `flow ${shown(alias)} is not the candidate, which is "${build.candidate.alias}"`);
  }
  if (build.exists) return refuse('Body', `candidate "${build.candidate.alias}" is there already`);
  if (body['description'] !== build.description) {
    return refuse('Body', 'a new flow is described as built by this workflow, or it could not be told from others');
  }
  const plain = body['providerId'] === 'basic-flow' && body['topLevel'] === true && body['builtIn'] === false;
  return plain ? null : refuse('Body', 'a candidate is a basic-flow, top level and not built in');
}

function addExecution(screening: Screening): Refusal | null {
  const outside = flowOutside(screening);
  if (outside !== null) return outside;
  const fault = keyFault(screening.body, ['provider']);
  if (fault !== null) return refuse('Body', `a new execution: ${fault}`);
  return isText(screening.body['provider']) ? null : refuse('Body', 'a new execution names its provider');
}

function addSubFlow(screening: Screening): Refusal | null {
  const outside = flowOutside(screening);
  if (outside !== null) return outside;
  const { body, inUse, build } = screening;
  const fault = keyFault(body, ['alias', 'description', 'type']);
  if (fault !== null) return refuse('Body', `a new sub-flow: ${fault}`);
  const { alias, type, description } = body;
  if (typeof alias === 'string' && inUse.flows.has(alias)) return refuse('Protected', `flow "${alias}" is in use`);
  if (!isText(alias) || !hasSuffix(alias, build)) {
    return refuse('OutsideBuild', `sub-flow ${shown(alias)} does not end with "${build.candidate.suffix}"`);
  }
  if (build.flows.has(alias)) return refuse('Body', `sub-flow "${alias}" is there already`);
  if (type !== 'basic-flow') return refuse('Body', `a sub-flow is a basic-flow, not ${shown(type)}`);
  return typeof description === 'string' ? null : refuse('Body', 'a sub-flow has a description');
}

/**
 * Keycloak finds the execution by the id in the body, anywhere in the realm, whatever the path says; it reorders without
 * the row's own priority, and renames flows by other fields (26.x, `AuthenticationManagementResource.updateExecutions`).
 */
function setRequirement(screening: Screening): Refusal | null {
  const { body, inUse, build, parameters } = screening;
  const { id, requirement, priority } = body;
  if (typeof id === 'string' && inUse.executions.has(id)) return refuse('Protected', `execution ${id} is in use`);
  const outside = flowOutside(screening);
  if (outside !== null) return outside;
  if (parameters['flow'] !== build.candidate.alias) {
    return refuse('OutsideBuild', `requirements are written through the candidate "${build.candidate.alias}"`);
  }
  const fault = keyFault(body, ['id', 'requirement', 'priority']);
  if (fault !== null) return refuse('Body', `a requirement: ${fault}`);
  const execution = typeof id === 'string' ? build.executions.get(id) : undefined;
  if (execution === undefined) {
    return refuse('OutsideBuild', `execution ${shown(id)} was not read back from "${build.candidate.alias}"`);
  }
  if (!requirements.some((known) => known === requirement)) {
    return refuse('Body', `${shown(requirement)} is no requirement`);
  }
  if (execution.priority === null || priority !== execution.priority) {
    return refuse('Body', `a requirement goes with the priority that the row has (${String(execution.priority)})`);
  }
  return null;
}

function addConfig({ body, parameters, inUse, build }: Screening): Refusal | null {
  const id = parameters['id'] ?? '';
  if (inUse.executions.has(id)) return refuse('Protected', `execution ${id} is in use`);
  const execution = build.executions.get(id);
  if (execution === undefined) {
    return refuse('OutsideBuild', `execution ${id} was not read back from "${build.candidate.alias}"`);
  }
  // Later versions delete the configuration that was there, and keep none where the alias is taken.
  if (execution.hasConfig) return refuse('Body', `execution ${id} has a configuration already`);
  const fault = keyFault(body, ['alias', 'config']);
  if (fault !== null) return refuse('Body', `a configuration: ${fault}`);
  const { alias, config } = body;
  if (!isText(alias) || !hasSuffix(alias, build)) {
    return refuse('OutsideBuild', `configuration ${shown(alias)} does not end with "${build.candidate.suffix}"`);
  }
  const texts = isObject(config) && Object.values(config).every((value) => typeof value === 'string');
  return texts ? null : refuse('Body', 'a configuration holds texts by key');
}

/** The flow in the path: read back as part of the candidate, and not in use. */
function flowOutside({ parameters, inUse, build }: Screening): Refusal | null {
  const flow = parameters['flow'] ?? '';
  if (inUse.flows.has(flow)) return refuse('Protected', `flow "${flow}" is in use`);
  if (build.flows.has(flow)) return null;
  return refuse('OutsideBuild', `flow "${flow}" was not read back as part of "${build.candidate.alias}"`);
}

function hasSuffix(alias: string, { candidate }: BuildScope): boolean {
  return alias.endsWith(candidate.suffix) && alias.length > candidate.suffix.length;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `"${value.slice(0, 80)}"` : `of another type (${typeof value})`;
}
