import { read, type Reading } from '../../../src/domain/core/verdict.ts';
import { matchEndpoint } from '../../../src/domain/keycloak-flow/endpoints.ts';
import { flowsInUse, protectedSets, type ProtectedSets } from '../../../src/domain/keycloak-flow/protect.ts';
import type { FlowReadBack } from '../../../src/domain/keycloak-flow/read-back.ts';
import type {
  AuthenticatorConfig,
  ClientRepresentation,
  ExecutionRow,
  FlowRepresentation,
  RealmRepresentation,
  RequiredAction,
} from '../../../src/domain/keycloak-flow/representation.ts';
import { parsePath } from '../../../src/domain/keycloak-flow/request-path.ts';
import type { ScreenedRequest } from '../../../src/domain/keycloak-flow/screen.ts';
import type { ConfigReadings } from '../../../src/domain/keycloak-flow/tree.ts';

/*
 * What Keycloak 26 does with the requests of a build, in memory: enough to ask of the rules what no server can be made
 * to show at each of its steps. The real server is asked elsewhere.
 */

interface Flow {
  id: string;
  alias: string;
  description: string;
  topLevel: boolean;
  builtIn: boolean;
  executions: Execution[];
}

interface Execution {
  id: string;
  provider: string | null;
  flowId: string | null;
  requirement: string;
  choices: readonly string[];
  priority: number;
  config: string | null;
}

/** Authenticators that offer nothing but REQUIRED, and are it as soon as they exist. */
const onlyRequired = ['auth-username-form', 'auth-username-password-form'];

export interface Answer {
  readonly status: number;
}

export class FakeKeycloak {
  readonly flows: Flow[] = [];
  readonly configs = new Map<string, { alias: string; config: Record<string, string> }>();
  realm: RealmRepresentation;
  requiredActions: RequiredAction[] = [];
  clients: ClientRepresentation[] = [
    { id: 'u1', clientId: 'account' },
    { id: 'u2', clientId: 'realm-management' },
  ];
  /** Every write that was sent, in order. */
  readonly writes: ScreenedRequest[] = [];
  #ids = 0;

  constructor(realm: RealmRepresentation) {
    this.realm = realm;
    const bindings = [
      'browserFlow',
      'directGrantFlow',
      'resetCredentialsFlow',
      'registrationFlow',
      'clientAuthenticationFlow',
      'dockerAuthenticationFlow',
      'firstBrokerLoginFlow',
    ] as const;
    for (const binding of bindings) {
      const flow = this.#addFlow(realm[binding] ?? '', '', true, true);
      this.#addExecution(flow, 'auth-cookie');
    }
  }

  /** Sends a request, whatever the choke point says of it. */
  send({ method, path, body }: ScreenedRequest): Answer {
    const parsed = parsePath(path);
    const matched = parsed.ok ? matchEndpoint(method, parsed.path) : null;
    if (matched === null) return { status: 404 };
    if (method !== 'GET') this.writes.push(body === undefined ? { method, path } : { method, path, body });
    const fields = body as Record<string, string & Record<string, string> & number>;
    const { flow = '', id = '' } = matched.parameters;
    switch (matched.endpoint.operation) {
      case 'createFlow':
        return this.#createFlow(fields);
      case 'addExecution':
        return this.#into(flow, (parent) => this.#addExecution(parent, fields['provider'] ?? ''));
      case 'addSubFlow':
        return this.#into(flow, (parent) => this.#addSubFlow(parent, fields));
      case 'setRequirement':
        return this.#setRequirement(fields);
      case 'addConfig':
        return this.#addConfig(id, fields);
      case 'writeRealm': {
        const sent = body as RealmRepresentation;
        if (this.#flowOf(sent.browserFlow) === undefined) return { status: 500 };
        this.realm = { ...sent, smtpServer: this.realm['smtpServer'] };
        return { status: 204 };
      }
      case 'writeRequiredAction': {
        const sent = body as RequiredAction;
        this.requiredActions = this.requiredActions.map((a) => (a.alias === sent.alias ? sent : a));
        return { status: 204 };
      }
      case 'writeProbeClient': {
        const sent = body as ClientRepresentation;
        this.clients = this.clients.map((c) => (c.id === id ? sent : c));
        return { status: 204 };
      }
      default:
        return { status: 200 };
    }
  }

  listFlows(): FlowRepresentation[] {
    return this.flows.filter((flow) => flow.topLevel).map((flow) => this.#represent(flow));
  }

  /** A flow as it reads back; null where there is no top level flow of that alias. */
  readBack(alias: string): FlowReadBack | null {
    const flow = this.flows.find((other) => other.alias === alias && other.topLevel);
    if (flow === undefined) return null;
    const rows = this.#rows(flow, 0);
    const configs: Record<string, ConfigReadings[string]> = {};
    for (const { authenticationConfig } of rows) {
      const found = this.configs.get(authenticationConfig ?? '');
      if (found === undefined || typeof authenticationConfig !== 'string') continue;
      const value: AuthenticatorConfig = { id: authenticationConfig, alias: found.alias, config: { ...found.config } };
      configs[authenticationConfig] = read(value);
    }
    return { flow: this.#represent(flow), rows, configs };
  }

  protectedSets(probeClient: string | null = null): Reading<ProtectedSets> {
    const flows = read(this.listFlows());
    const readings = { realm: read(this.realm), flows, clients: read(this.clients), identityProviders: read([]) };
    const inUse = flowsInUse(readings, probeClient);
    const aliases = inUse.kind === 'read' ? inUse.value : [];
    const rows = Object.fromEntries(aliases.map((alias) => [alias, read(this.readBack(alias)?.rows ?? [])]));
    return protectedSets(inUse, flows, rows);
  }

  #represent(flow: Flow): FlowRepresentation {
    const { id, alias, description, topLevel, builtIn, executions } = flow;
    return {
      id,
      alias,
      description,
      topLevel,
      builtIn,
      providerId: 'basic-flow',
      authenticationExecutions: executions.map(() => ({})),
    };
  }

  #rows(flow: Flow, level: number): ExecutionRow[] {
    const ordered = [...flow.executions].sort((a, b) => a.priority - b.priority);
    return ordered.flatMap((execution, index) => {
      const { id, requirement, priority } = execution;
      const row = { id, level, index, requirement, priority, requirementChoices: [...execution.choices] };
      const sub = this.flows.find((other) => other.id === execution.flowId);
      if (sub !== undefined) {
        const own = { ...row, displayName: sub.alias, flowId: sub.id, authenticationFlow: true };
        return [own, ...this.#rows(sub, level + 1)];
      }
      const config = execution.config === null ? undefined : this.configs.get(execution.config);
      const configured =
        execution.config === null ? {} : { authenticationConfig: execution.config, alias: config?.alias ?? null };
      return [{ ...row, providerId: execution.provider, displayName: 'What people call it', ...configured }];
    });
  }

  #createFlow(body: Record<string, string>): Answer {
    if (this.#flowOf(body['alias'] ?? '') !== undefined) return { status: 409 };
    this.#addFlow(body['alias'] ?? '', body['description'] ?? '', true, false);
    return { status: 201 };
  }

  #addFlow(alias: string, description: string, topLevel: boolean, builtIn: boolean): Flow {
    const flow = { id: this.#id('flow'), alias, description, topLevel, builtIn, executions: [] };
    this.flows.push(flow);
    return flow;
  }

  #into(alias: string, add: (flow: Flow) => Answer): Answer {
    const flow = this.#flowOf(alias);
    if (flow === undefined || flow.builtIn) return { status: 400 };
    return add(flow);
  }

  #addExecution(flow: Flow, provider: string): Answer {
    if (provider.startsWith('no-such')) return { status: 400 };
    const only = onlyRequired.includes(provider);
    const choices = only ? ['REQUIRED'] : ['REQUIRED', 'ALTERNATIVE', 'DISABLED'];
    this.#append(flow, { provider, flowId: null, requirement: only ? 'REQUIRED' : 'DISABLED', choices });
    return { status: 201 };
  }

  #addSubFlow(flow: Flow, body: Record<string, string>): Answer {
    if (this.#flowOf(body['alias'] ?? '') !== undefined) return { status: 409 };
    const sub = this.#addFlow(body['alias'] ?? '', body['description'] ?? '', false, false);
    const choices = ['REQUIRED', 'ALTERNATIVE', 'DISABLED', 'CONDITIONAL'];
    this.#append(flow, { provider: null, flowId: sub.id, requirement: 'DISABLED', choices });
    return { status: 201 };
  }

  #append(flow: Flow, execution: Pick<Execution, 'provider' | 'flowId' | 'requirement' | 'choices'>): void {
    const priority = Math.max(-1, ...flow.executions.map((other) => other.priority)) + 1;
    flow.executions.push({ id: this.#id('exec'), priority, config: null, ...execution });
  }

  /** Found by the id in the body, anywhere in the realm. */
  #setRequirement(body: { id?: string; requirement?: string; priority?: number }): Answer {
    const execution = this.execution(body.id ?? '');
    if (execution === undefined) return { status: 404 };
    execution.requirement = body.requirement ?? '';
    execution.priority = body.priority ?? 0;
    return { status: 202 };
  }

  #addConfig(execution: string, body: { alias?: string; config?: Record<string, string> }): Answer {
    const found = this.execution(execution);
    if (found === undefined) return { status: 404 };
    if (found.config !== null) this.configs.delete(found.config);
    found.config = null;
    if ([...this.configs.values()].some((config) => config.alias === body.alias)) return { status: 409 };
    const id = this.#id('config');
    this.configs.set(id, { alias: body.alias ?? '', config: { ...body.config } });
    found.config = id;
    return { status: 201 };
  }

  execution(id: string): Execution | undefined {
    return this.flows.flatMap((flow) => flow.executions).find((execution) => execution.id === id);
  }

  #flowOf(alias: string): Flow | undefined {
    return this.flows.find((flow) => flow.alias === alias);
  }

  #id(kind: string): string {
    this.#ids += 1;
    return `${kind}-${this.#ids}`;
  }
}
