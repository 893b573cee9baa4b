import { mayWrite } from '../core/mode.ts';
import { isWrite, matchEndpoint, unlistedQuery, type Matched, type Operation } from './endpoints.ts';
import { parsePath } from './request-path.ts';
import { isJson } from './json-body.ts';
import { refuse, type Refusal } from './refusal.ts';
import { screenFlowWrite } from './screen-flow-write.ts';
import { screenProbeWrite, screenRequiredActionWrite } from './screen-probe-write.ts';
import { screenRealmWrite } from './screen-realm-write.ts';
import type { Scope } from './screen-scope.ts';

/** A request as it would be sent. */
export interface ScreenedRequest {
  readonly method: string;
  /** From the server's base URL on, with its query. */
  readonly path: string;
  /** What is sent as JSON (for a token: as a form); undefined where nothing is. */
  readonly body?: unknown;
}

/** A request that may be sent, with what it is; or why it may not. */
export type Screened = { readonly kind: 'allow'; readonly operation: Operation } | Refusal;

/**
 * The choke point. Every request to the admin API goes through it, and what it does not allow is never sent.
 *
 * @param scope what was read for it in the same activity
 */
export function screen(request: ScreenedRequest, scope: Scope): Screened {
  const parsed = parsePath(request.path);
  if (!parsed.ok) return refuse('MalformedPath', `the path of ${describe(request)} is refused: ${parsed.why}`);
  const matched = matchEndpoint(request.method, parsed.path);
  if (matched === null)
    return refuse('NotListed', `${describe(request)} is not on the list of what may be asked of Keycloak`);
  const { operation, method } = matched.endpoint;
  const field = unlistedQuery(matched, parsed.path.query);
  if (field !== null) return refuse('Query', `${describe(request)}: the query ${field} is not on the list`);
  const elsewhere = otherRealm(matched, scope);
  if (elsewhere !== null) return elsewhere;
  if (method === 'GET' && request.body !== undefined) return refuse('Body', `${describe(request)} has a body`);
  if (!isJson(request.body)) return refuse('Body', `the body of ${describe(request)} is not what JSON holds`);
  const refusal = isWrite(operation) ? screenWrite(request.body, matched, scope) : screenRead(matched, scope);
  return refusal ?? { kind: 'allow', operation };
}

function otherRealm({ parameters }: Matched, scope: Scope): Refusal | null {
  const { realm, tokenRealm } = parameters;
  if (realm !== undefined && realm !== scope.realm) {
    return refuse('OtherRealm', `realm "${realm}" is not the one that is worked on, which is "${scope.realm}"`);
  }
  if (tokenRealm !== undefined && tokenRealm !== scope.tokenRealm) {
    return refuse('OtherRealm', `realm "${tokenRealm}" is not the one that the token is of, "${scope.tokenRealm}"`);
  }
  return null;
}

/** One client is read by its id: the probe client. The others are read in the list, for their overrides. */
function screenRead({ endpoint, parameters }: Matched, { probe }: Scope): Refusal | null {
  if (endpoint.operation !== 'readClient' || parameters['id'] === probe?.id) return null;
  return refuse('Protected', `client ${parameters['id'] ?? ''} is not the probe client`);
}

function screenWrite(body: unknown, { endpoint, parameters }: Matched, scope: Scope): Refusal | null {
  if (!mayWrite(scope.mode)) {
    return refuse('Mode', `mode ${scope.mode} writes nothing: ${endpoint.operation} is for Enforce`);
  }
  switch (endpoint.operation) {
    case 'writeRealm':
      return screenRealmWrite(body, scope);
    case 'writeRequiredAction':
      return screenRequiredActionWrite(body, scope);
    case 'writeProbeClient':
      return screenProbeWrite(body, parameters['id'] ?? '', scope);
    case 'createFlow':
    case 'addExecution':
    case 'addSubFlow':
    case 'setRequirement':
    case 'addConfig':
      return screenFlowWrite(endpoint.operation, body, parameters, scope);
    default:
      return refuse('NotListed', `${endpoint.operation} is not known as a write`);
  }
}

function describe({ method, path }: ScreenedRequest): string {
  return `${method.slice(0, 20)} ${path.slice(0, 200)}`;
}
