import type { RequestPath } from './request-path.ts';

/** What may be asked of Keycloak, all of it. */
export type Operation =
  | 'token'
  | 'readServerInfo'
  | 'readRealm'
  | 'writeRealm'
  | 'listFlows'
  | 'createFlow'
  | 'listExecutions'
  | 'addExecution'
  | 'addSubFlow'
  | 'setRequirement'
  | 'addConfig'
  | 'readConfig'
  | 'listAuthenticators'
  | 'listRequiredActions'
  | 'listUnregisteredActions'
  | 'writeRequiredAction'
  | 'listClients'
  | 'readClient'
  | 'writeProbeClient'
  | 'listIdentityProviders'
  | 'listAdminEvents';

/** One entry of the list. `{…}` stands for one segment. */
interface Endpoint {
  readonly operation: Operation;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly query?: Readonly<Record<string, RegExp>>;
}

const number = /^(0|[1-9][0-9]{0,9})$/;
const page = { first: number, max: number };
const realm = '/admin/realms/{realm}';
const authentication = `${realm}/authentication`;

/**
 * The whole list. No DELETE, no execution by id, no raising or lowering, no copying of flows, no registering of
 * required actions, nothing under users, groups or roles; of clients the overrides are read.
 */
export const endpoints: readonly Endpoint[] = [
  { operation: 'token', method: 'POST', path: '/realms/{tokenRealm}/protocol/openid-connect/token' },
  { operation: 'readServerInfo', method: 'GET', path: '/admin/serverinfo' },
  { operation: 'readRealm', method: 'GET', path: realm },
  { operation: 'writeRealm', method: 'PUT', path: realm },
  { operation: 'listFlows', method: 'GET', path: `${authentication}/flows` },
  { operation: 'createFlow', method: 'POST', path: `${authentication}/flows` },
  { operation: 'listExecutions', method: 'GET', path: `${authentication}/flows/{flow}/executions` },
  { operation: 'setRequirement', method: 'PUT', path: `${authentication}/flows/{flow}/executions` },
  { operation: 'addExecution', method: 'POST', path: `${authentication}/flows/{flow}/executions/execution` },
  { operation: 'addSubFlow', method: 'POST', path: `${authentication}/flows/{flow}/executions/flow` },
  { operation: 'addConfig', method: 'POST', path: `${authentication}/executions/{id}/config` },
  { operation: 'readConfig', method: 'GET', path: `${authentication}/config/{id}` },
  { operation: 'listAuthenticators', method: 'GET', path: `${authentication}/authenticator-providers` },
  { operation: 'listRequiredActions', method: 'GET', path: `${authentication}/required-actions` },
  {
    operation: 'listUnregisteredActions',
    method: 'GET',
    path: `${authentication}/unregistered-required-actions`,
  },
  {
    operation: 'writeRequiredAction',
    method: 'PUT',
    path: `${authentication}/required-actions/webauthn-register-passwordless`,
  },
  {
    operation: 'listClients',
    method: 'GET',
    path: `${realm}/clients`,
    query: { ...page, clientId: /^.{1,255}$/ },
  },
  { operation: 'readClient', method: 'GET', path: `${realm}/clients/{id}` },
  { operation: 'writeProbeClient', method: 'PUT', path: `${realm}/clients/{id}` },
  {
    operation: 'listIdentityProviders',
    method: 'GET',
    path: `${realm}/identity-provider/instances`,
    query: { ...page, briefRepresentation: /^(true|false)$/ },
  },
  {
    operation: 'listAdminEvents',
    method: 'GET',
    path: `${realm}/admin-events`,
    query: {
      ...page,
      operationTypes: /^(CREATE|UPDATE|DELETE|ACTION)$/,
      resourceTypes: /^[A-Z_]{1,40}$/,
      resourcePath: /^[\w/*. -]{1,400}$/,
      dateFrom: /^[0-9]{4}-[0-9]{2}-[0-9]{2}$|^[0-9]{10,16}$/,
      dateTo: /^[0-9]{4}-[0-9]{2}-[0-9]{2}$|^[0-9]{10,16}$/,
      direction: /^(asc|desc)$/,
    },
  },
];

/** Operations that change nothing in the realm. */
export function isWrite(operation: Operation): boolean {
  return endpoints.some((e) => e.operation === operation && e.method !== 'GET' && e.operation !== 'token');
}

/** An entry that a request is one of, with what stands for its braces. */
export interface Matched {
  readonly endpoint: Endpoint;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Ids of Keycloak: UUIDs, and what an import gave in their place. */
const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** The entry of the list that a method and path are; null where they are none of it. Case counts. */
export function matchEndpoint(method: string, { segments }: RequestPath): Matched | null {
  for (const endpoint of endpoints) {
    const parameters = endpoint.method === method ? matchSegments(endpoint.path, segments) : null;
    if (parameters !== null) return { endpoint, parameters };
  }
  return null;
}

/** The field of a query that an entry does not take; null where there is none. */
export function unlistedQuery({ endpoint }: Matched, query: RequestPath['query']): string | null {
  const listed = endpoint.query ?? {};
  const field = Object.entries(query).find(
    ([key, value]) => !Object.hasOwn(listed, key) || listed[key]?.test(value) !== true,
  );
  return field === undefined ? null : `${field[0]}=${field[1].slice(0, 60)}`;
}

function matchSegments(template: string, segments: readonly string[]): Record<string, string> | null {
  const wanted = template.slice(1).split('/');
  if (wanted.length !== segments.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, step] of wanted.entries()) {
    const segment = segments[index] ?? '';
    const parameter = /^\{(\w+)\}$/.exec(step)?.[1];
    if (parameter === undefined && step !== segment) return null;
    if (parameter === 'id' && !idPattern.test(segment)) return null;
    if (parameter !== undefined) parameters[parameter] = segment;
  }
  return parameters;
}
