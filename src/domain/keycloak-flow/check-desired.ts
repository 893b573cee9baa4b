import type { Path } from '../core/finding.ts';
import type { DesiredExecution, DesiredState } from './desired.ts';

/** What is wrong with a desired state as a whole, and where. */
export interface DesiredFault {
  readonly path: (string | number)[];
  readonly message: string;
}

type Tree = Pick<DesiredState, 'browserFlow' | 'flows' | 'authenticatorConfig' | 'requiredAction'>;

/** Keycloak would take a deeper one, and nobody could say what it asks for. */
const deepest = 20;

/** Each costs requests at every build, and the whole travels with the state of the workflow. */
const mostExecutions = 300;

/** Of all configurations: it travels with each activity, and Temporal takes 2 MB. */
const mostConfigText = 200_000;

/** The rules that no single field can break: what names what, and that it is one tree. */
export function checkDesired(desired: Tree): DesiredFault[] {
  const total = executionsOf(desired.flows).length;
  if (total > mostExecutions) {
    return [{ path: ['flows'], message: `expected at most ${mostExecutions} executions in all, got ${total}` }];
  }
  const text = JSON.stringify(desired.authenticatorConfig).length;
  if (text > mostConfigText) {
    const message = `expected configurations of at most ${mostConfigText} characters in all, got ${text}`;
    return [{ path: ['authenticatorConfig'], message }];
  }
  const root = checkRoot(desired);
  if (root !== null) return [root, ...checkReferences(desired)];
  const walked = walk(desired);
  return [
    ...checkReferences(desired),
    ...walked.faults,
    ...unreachableFlows(desired, walked.reached),
    ...unusedConfigs(desired),
    ...rolelessConditions(desired),
    ...checkEnrolment(desired, walked),
  ];
}

function checkRoot({ browserFlow, flows }: Tree): DesiredFault | null {
  const flow = flowOf(flows, browserFlow);
  if (flow === undefined) {
    const declared = Object.keys(flows).join(', ');
    return {
      path: ['browserFlow'],
      message: `"${browserFlow}" is not declared under flows; declared: ${declared === '' ? 'none' : declared}`,
    };
  }
  if (flow.topLevel) return null;
  return {
    path: ['flows', browserFlow, 'topLevel'],
    message: 'the browser flow is bound to the realm, so it is a top level flow: write topLevel: true',
  };
}

/** What each execution names: declared, of the right kind, and named once, since aliases are unique in a realm. */
function checkReferences({ browserFlow, flows, authenticatorConfig }: Tree): DesiredFault[] {
  const faults: DesiredFault[] = [];
  const flowUsers = new Map<string, Path>();
  const configUsers = new Map<string, Path>();
  for (const { path, execution } of executionsOf(flows)) {
    if (execution.kind === 'flow') {
      const fault = subFlowFault(execution.name, flows, browserFlow, flowUsers.get(execution.name));
      if (fault !== null) faults.push({ path: [...path, 'name'], message: fault });
      flowUsers.set(execution.name, path);
    }
    if (execution.configAlias !== undefined) {
      const fault = configFault(execution.configAlias, authenticatorConfig, configUsers.get(execution.configAlias));
      if (fault !== null) faults.push({ path: [...path, 'configAlias'], message: fault });
      configUsers.set(execution.configAlias, path);
    }
  }
  return faults;
}

function subFlowFault(
  name: string,
  flows: Tree['flows'],
  browserFlow: string,
  earlier: Path | undefined,
): string | null {
  const flow = flowOf(flows, name);
  if (flow === undefined) return `sub-flow "${name}" is not declared under flows`;
  if (name === browserFlow) return `"${name}" is the browser flow, so that this is a cycle`;
  if (flow.topLevel) return `"${name}" is a top level flow; a sub-flow says topLevel: false`;
  if (earlier === undefined) return null;
  return `sub-flow "${name}" is already part of flows.${earlier.slice(1, 2).join('')}; aliases are unique in a realm, so give this one a flow of its own`;
}

function configFault(alias: string, configs: Tree['authenticatorConfig'], earlier: Path | undefined): string | null {
  if (!Object.hasOwn(configs, alias)) return `"${alias}" is not declared under authenticatorConfig`;
  if (earlier === undefined) return null;
  return `"${alias}" is already the configuration of another execution; aliases are unique in a realm, so give this one its own`;
}

interface Walked {
  readonly faults: DesiredFault[];
  readonly reached: ReadonlySet<string>;
  /** Authenticators that can be come to: neither they nor a flow around them is DISABLED. */
  readonly enabled: ReadonlySet<string>;
}

/** From the browser flow down, each flow once, so that a cycle ends it. */
function walk({ browserFlow, flows }: Tree): Walked {
  const faults: DesiredFault[] = [];
  const reached = new Set<string>();
  const enabled = new Set<string>();
  const descend = (flow: string, above: readonly string[], usable: boolean): void => {
    reached.add(flow);
    for (const [index, execution] of (flowOf(flows, flow)?.executions ?? []).entries()) {
      const path = ['flows', flow, 'executions', index, 'name'];
      const on = usable && execution.requirement !== 'DISABLED';
      if (execution.kind === 'authenticator') {
        if (on) enabled.add(execution.name);
      } else if (execution.name === flow || above.includes(execution.name)) {
        const cycle = [...above, flow, execution.name].slice([...above, flow].indexOf(execution.name));
        if (execution.name !== browserFlow) faults.push({ path, message: `this is a cycle: ${cycle.join(' > ')}` });
      } else if (above.length >= deepest) {
        faults.push({ path, message: `expected at most ${deepest} levels of flows` });
      } else if (!reached.has(execution.name)) {
        descend(execution.name, [...above, flow], on);
      }
    }
  };
  descend(browserFlow, [], true);
  return { faults, reached, enabled };
}

function unreachableFlows({ flows, browserFlow }: Tree, reached: ReadonlySet<string>): DesiredFault[] {
  return Object.keys(flows)
    .filter((alias) => !reached.has(alias))
    .map((alias) => ({
      path: ['flows', alias],
      message: `cannot be reached from the browser flow "${browserFlow}"; use it there or remove it`,
    }));
}

function unusedConfigs({ flows, authenticatorConfig }: Tree): DesiredFault[] {
  const used = new Set(executionsOf(flows).map(({ execution }) => execution.configAlias));
  return Object.keys(authenticatorConfig)
    .filter((alias) => !used.has(alias))
    .map((alias) => ({
      path: ['authenticatorConfig', alias],
      message: 'is the configAlias of no execution; name it there or remove it',
    }));
}

/**
 * A role condition without a role denies everybody who comes to it, and Keycloak takes it: the known mistake is the key
 * `condition.evaluated.user.role`.
 */
function rolelessConditions({ flows, authenticatorConfig }: Tree): DesiredFault[] {
  return executionsOf(flows).flatMap(({ execution: { name, configAlias } }) => {
    if (name !== 'conditional-user-role' || configAlias === undefined) return [];
    const config = Object.hasOwn(authenticatorConfig, configAlias) ? authenticatorConfig[configAlias] : undefined;
    if (config === undefined || Object.keys(config).length === 0 || Object.hasOwn(config, 'condUserRole')) return [];
    const message = 'conditional-user-role takes its role from the key condUserRole; without it, it denies everybody';
    return [{ path: ['authenticatorConfig', configAlias], message }];
  });
}

function checkEnrolment({ requiredAction }: Tree, { enabled }: Walked): DesiredFault[] {
  if (requiredAction === null || enabled.has('webauthn-authenticator-passwordless')) return [];
  const message =
    'people are asked to enrol a passkey that no execution accepts: the browser flow has no webauthn-authenticator-passwordless that is not DISABLED';
  return [{ path: ['requiredAction'], message }];
}

function executionsOf(flows: Tree['flows']): { path: (string | number)[]; execution: DesiredExecution }[] {
  return Object.entries(flows).flatMap(([alias, flow]) =>
    flow.executions.map((execution, index) => ({ path: ['flows', alias, 'executions', index], execution })),
  );
}

function flowOf(flows: Tree['flows'], alias: string): Tree['flows'][string] | undefined {
  return Object.hasOwn(flows, alias) ? flows[alias] : undefined;
}
