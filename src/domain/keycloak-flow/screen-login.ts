import { refuse, type Refusal } from './refusal.ts';
import { parsePath } from './request-path.ts';
import type { ScreenedRequest } from './screen.ts';

/** What a login may ask for. */
export type LoginOperation = 'openLogin' | 'followPage' | 'submitPage' | 'openAction' | 'exchangeCode' | 'endSession';

const steps: readonly (readonly [LoginOperation, string, string])[] = [
  ['openLogin', 'GET', '/protocol/openid-connect/auth'],
  ['followPage', 'GET', '/login-actions/authenticate'],
  ['submitPage', 'POST', '/login-actions/authenticate'],
  // Looked at and never submitted: submitting it would enrol something for the probe user.
  ['openAction', 'GET', '/login-actions/required-action'],
  ['exchangeCode', 'POST', '/protocol/openid-connect/token'],
  ['endSession', 'POST', '/protocol/openid-connect/logout'],
];

/**
 * The choke point for what a proof asks of Keycloak, as a browser would: one login in one realm. No registration, no
 * reset of credentials, no account console, no broker, and no required action is submitted.
 *
 * @param realm the realm in which the probe logs in
 */
export function screenLogin(
  { method, path }: ScreenedRequest,
  realm: string,
): { readonly kind: 'allow'; readonly operation: LoginOperation } | Refusal {
  const parsed = parsePath(path);
  if (!parsed.ok) return refuse('MalformedPath', `the path of a login is refused: ${parsed.why}`);
  const [root, ofRealm, ...rest] = parsed.path.segments;
  if (root !== 'realms') return refuse('NotListed', 'a login asks for nothing outside of /realms');
  if (ofRealm !== realm) return refuse('OtherRealm', `a login of realm "${realm}" asks for nothing of another realm`);
  const step = steps.find(([, wanted, end]) => wanted === method && end === `/${rest.join('/')}`);
  if (step === undefined) {
    return refuse('NotListed', `${method.slice(0, 20)} /${rest.join('/').slice(0, 200)} is no step of a login`);
  }
  if (method === 'POST' && !step[2].startsWith('/login-actions') && Object.keys(parsed.path.query).length > 0) {
    return refuse('Query', 'the token endpoint takes no query');
  }
  return { kind: 'allow', operation: step[0] };
}
