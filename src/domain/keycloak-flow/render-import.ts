import type { z } from 'zod';
import type { Path } from '../core/finding.ts';
import { canonicalJson } from '../core/plan-hash.ts';
import { desiredStateSchema, enrolmentAction, passkeyAuthenticator, type DesiredState } from './desired.ts';
import { realmImportSchema, type ImportExecution, type ImportFlow, type RealmImport } from './import-representation.ts';
import { isObject } from './json-body.ts';
import { policyKeys, realmField } from './policy-keys.ts';
import { diffTrees } from './tree-diff.ts';
import { desiredTree } from './tree.ts';

/** What keeps an import from being rendered, and where in it. */
export interface ImportFault {
  readonly path: Path;
  readonly message: string;
}

/** A desired state that was rendered, or every reason why not. */
export type Rendered =
  | { readonly ok: true; readonly desired: DesiredState }
  | { readonly ok: false; readonly faults: readonly ImportFault[] };

/** A wrapper of the Keycloak operator around the realm itself. */
const operatorKinds: readonly string[] = ['KeycloakRealmImport'];

/**
 * Renders the desired state that a realm import declares: its passwordless policy, its browser flow with what can be
 * reached from it, and the enrolment of passkeys where the flow accepts them.
 *
 * @param document a realm as Keycloak imports it, or a KeycloakRealmImport of its operator
 */
export function renderImport(document: unknown): Rendered {
  const { realm, path } = realmOf(document);
  const parsed = realmImportSchema.safeParse(realm, { error: inWords });
  if (!parsed.success) {
    return {
      ok: false,
      faults: parsed.error.issues.map((issue) => ({
        path: [...path, ...(issue.path as Path)],
        message: issue.path[0] === 'realm' ? `${issue.message}: a realm as Keycloak imports it has it` : issue.message,
      })),
    };
  }
  const faults = importFaults(parsed.data);
  const declared = declaredOf(parsed.data, faults);
  if (faults.length > 0)
    return { ok: false, faults: faults.map((fault) => ({ ...fault, path: [...path, ...fault.path] })) };
  const checked = desiredStateSchema.safeParse(declared, { error: inWords });
  if (checked.success) return { ok: true, desired: checked.data };
  const issues = checked.error.issues.map((issue) => ({
    path: issue.path as Path,
    message: `what the import declares is refused: ${issue.message}`,
  }));
  return { ok: false, faults: issues };
}

/** What a schema says where it says nothing of its own. */
function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  return issue.input === undefined ? 'required field is missing' : `expected ${issue.expected}`;
}

/**
 * How a committed desired state differs from what an import renders to; empty where it is current.
 *
 * @param committed as it was read from its file
 */
export function checkRendered(committed: DesiredState, rendered: DesiredState): string[] {
  const differences: string[] = [];
  for (const key of ['realm', 'browserFlow', 'requiredAction'] as const) {
    if (!same(committed[key], rendered[key])) {
      differences.push(`${key} is ${shown(committed[key])}; the import says ${shown(rendered[key])}`);
    }
  }
  for (const key of policyKeys) {
    const [is, wanted] = [committed.webAuthnPolicyPasswordless[key], rendered.webAuthnPolicyPasswordless[key]];
    if (!same(is, wanted))
      differences.push(`webAuthnPolicyPasswordless.${key} is ${shown(is)}; the import says ${shown(wanted)}`);
  }
  differences.push(...diffTrees(desiredTree(rendered), desiredTree(committed)).map((difference) => difference.message));
  if (differences.length === 0 && !same(committed.flows, rendered.flows)) differences.push('a flow is named otherwise');
  if (differences.length === 0 && !same(committed.authenticatorConfig, rendered.authenticatorConfig)) {
    differences.push('a configuration is named otherwise');
  }
  return differences;
}

/** The realm in a document, and where in it. */
export function realmOf(document: unknown): { realm: unknown; path: Path } {
  if (!isObject(document) || typeof document['kind'] !== 'string' || !operatorKinds.includes(document['kind'])) {
    return { realm: document, path: [] };
  }
  const spec = isObject(document['spec']) ? document['spec'] : {};
  return { realm: spec['realm'], path: ['spec', 'realm'] };
}

/** What an import must not hold, or holds twice. */
function importFaults(realm: RealmImport): ImportFault[] {
  const faults: ImportFault[] = [];
  if (realm.requiredActions !== undefined && realm.requiredActions !== null) {
    faults.push({
      path: ['requiredActions'],
      message:
        'Keycloak takes this for all there are, and would delete every other required action of the realm; remove the block, the enrolment of passkeys is seen to from here',
    });
  }
  for (const list of ['authenticationFlows', 'authenticatorConfig'] as const) {
    const seen = new Map<string, number>();
    for (const [index, { alias }] of (realm[list] ?? []).entries()) {
      const earlier = seen.get(alias);
      if (earlier !== undefined) {
        faults.push({
          path: [list, index, 'alias'],
          message: `"${alias}" is already the alias of ${list}[${earlier}]`,
        });
      }
      seen.set(alias, index);
    }
  }
  return faults;
}

/** The declaration in its own form, still to be checked. Faults of the import are added to. */
function declaredOf(realm: RealmImport, faults: ImportFault[]): unknown {
  const flows = new Map((realm.authenticationFlows ?? []).map((flow, index) => [flow.alias, { flow, index }]));
  const reached = reachable(realm.browserFlow ?? '', flows);
  const declaredFlows = reached.flatMap((alias) => {
    const found = flows.get(alias);
    if (found === undefined) return [];
    const { flow, index } = found;
    faults.push(...formFaults(flow, index));
    const ordered = inOrder(flow, index, faults);
    return [[alias, { topLevel: flow.topLevel, executions: ordered.map(declaredExecution) }] as const];
  });
  const executions = declaredFlows.flatMap(([, { executions }]) => executions);
  const used = new Set(executions.map((execution) => execution.configAlias));
  const configs = (realm.authenticatorConfig ?? []).filter(({ alias }) => used.has(alias));
  const policy = policyKeys.flatMap((key) => {
    const value = realm[realmField(key)];
    return value === undefined || value === null ? [] : [[key, value] as const];
  });
  const enrols = executions.some((e) => e.name === passkeyAuthenticator && e.requirement !== 'DISABLED');
  return {
    realm: realm.realm,
    webAuthnPolicyPasswordless: Object.fromEntries(policy),
    requiredAction: enrols ? { alias: enrolmentAction, enabled: true, defaultAction: false } : null,
    ...(realm.browserFlow === null || realm.browserFlow === undefined ? {} : { browserFlow: realm.browserFlow }),
    flows: Object.fromEntries(declaredFlows),
    authenticatorConfig: Object.fromEntries(configs.map(({ alias, config }) => [alias, config])),
  };
}

/** Flows from the browser flow down, each once, so that a cycle ends (and is refused afterwards). */
function reachable(root: string, flows: ReadonlyMap<string, { flow: ImportFlow }>): string[] {
  const reached: string[] = [];
  const visit = (alias: string): void => {
    const found = flows.get(alias);
    if (found === undefined || reached.includes(alias)) return;
    reached.push(alias);
    for (const { flowAlias } of found.flow.authenticationExecutions ?? []) visit(flowAlias ?? '');
  };
  visit(root);
  return reached;
}

/** Keycloak orders by priority; where an import says none, it is the order of the list. */
function inOrder(flow: ImportFlow, index: number, faults: ImportFault[]): readonly ImportExecution[] {
  const executions = flow.authenticationExecutions ?? [];
  const priorities = executions.map((execution) => execution.priority ?? null);
  if (priorities.every((priority) => priority === null)) return executions;
  const decided = priorities.every((priority) => priority !== null) && new Set(priorities).size === priorities.length;
  if (!decided) {
    faults.push({
      path: ['authenticationFlows', index, 'authenticationExecutions'],
      message: `the order of flow "${flow.alias}" is not decided: give each execution a priority of its own, or none of them`,
    });
  }
  return [...executions].sort((a, b) => (a.priority ?? 0) - (b.priority ?? 0));
}

/** A form flow has a provider of its own, which no declared sub-flow can say. */
function formFaults(flow: ImportFlow, index: number): ImportFault[] {
  return (flow.authenticationExecutions ?? []).flatMap(({ authenticator, flowAlias }, at) =>
    (authenticator ?? '') !== '' && (flowAlias ?? '') !== ''
      ? [
          {
            path: ['authenticationFlows', index, 'authenticationExecutions', at],
            message: `"${flowAlias ?? ''}" is a form flow (${authenticator ?? ''}), which is no part of a login flow that is managed`,
          },
        ]
      : [],
  );
}

/** One execution in its own form. One that is neither flow nor authenticator has no name, and is refused for it. */
function declaredExecution({ authenticator, flowAlias, requirement, authenticatorConfig }: ImportExecution) {
  const isFlow = (flowAlias ?? '') !== '';
  const name = isFlow ? flowAlias : authenticator;
  return {
    kind: isFlow ? 'flow' : 'authenticator',
    name: name ?? '',
    requirement: requirement ?? '',
    ...(authenticatorConfig === null || authenticatorConfig === undefined ? {} : { configAlias: authenticatorConfig }),
  };
}

function same(a: unknown, b: unknown): boolean {
  return canonicalJson(a ?? null) === canonicalJson(b ?? null);
}

function shown(value: unknown): string {
  return value === undefined ? 'not declared' : JSON.stringify(value);
}
