import type { Passed } from '../doubles/keycloak-proxy.ts';

/** A write of a KeycloakFlow, named so that it has the same name in each run of the same declaration. */
export type WriteName = string;

/**
 * Names the writes of one realm as they come: `addExecution 3` is the third execution that is added. A write that is sent
 * once more has the name that it had before.
 */
export function writeNames(realm: string, candidate: string): (write: Passed) => WriteName {
  const seen = new Map<string, string[]>();
  return (write) => {
    const kind = kindOf(write, realm, candidate);
    if (!numbered.includes(kind)) return kind;
    const known = seen.get(kind) ?? [];
    seen.set(kind, known);
    const key = JSON.stringify([write.path, write.body]);
    if (!known.includes(key)) known.push(key);
    return `${kind} ${known.indexOf(key) + 1}`;
  };
}

const numbered: readonly string[] = ['addExecution', 'addSubFlow', 'setRequirement', 'addConfig', 'createFlow'];

function kindOf({ method, path, body }: Passed, realm: string, candidate: string): string {
  const below = path.replace(`/admin/realms/${realm}`, '');
  if (below === '' && method === 'PUT') return realmWrite(body, candidate);
  if (below.startsWith('/clients/') && method === 'PUT') return aimOf(body) === '' ? 'release' : 'aim';
  if (below.startsWith('/authentication/required-actions/')) return 'requiredAction';
  if (below === '/authentication/flows') return 'createFlow';
  if (below.endsWith('/executions/execution')) return 'addExecution';
  if (below.endsWith('/executions/flow')) return 'addSubFlow';
  if (below.endsWith('/executions')) return 'setRequirement';
  if (below.endsWith('/config')) return 'addConfig';
  throw new Error(`an unknown write: ${method} ${path}`);
}

/** By what it makes of the binding and of the hold. */
function realmWrite(body: unknown, candidate: string): string {
  const { browserFlow, attributes } = body as { browserFlow: string; attributes?: Record<string, unknown> };
  const held = Object.hasOwn(attributes ?? {}, 'holdfast.browserFlow.hold');
  if (held) return 'rollBack';
  if (Object.hasOwn(attributes ?? {}, 'holdfast.browserFlow.bound')) {
    return browserFlow === candidate ? 'bind' : 'liftHold';
  }
  return 'policy';
}

function aimOf(body: unknown): string {
  const { authenticationFlowBindingOverrides: overrides } = body as {
    authenticationFlowBindingOverrides?: Record<string, string>;
  };
  return overrides?.['browser'] ?? '';
}
