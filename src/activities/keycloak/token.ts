import { z } from 'zod';
import { unmeasured, type Unmeasured } from '../../domain/core/verdict.ts';
import type { ClientCredentials, KeycloakConfig } from './config.ts';
import type { Judged } from './judge-answer.ts';

/** A token with which requests are sent. */
export interface Token {
  readonly bearer: string;
  /** Whom it is of, as admin events name it; null where it does not say. */
  readonly userId: string | null;
  /** Roles by the client that they are of; null where it does not say. */
  readonly roles: Readonly<Record<string, readonly string[]>> | null;
  /** Epoch milliseconds by our clock, a while before it expires. */
  readonly until: number;
}

/** Holds the token, and has a new one when it is due. */
export interface TokenKeeper {
  /** One request at a time, however many wait for it. */
  token(): Promise<Token | Unmeasured>;
  /** After a 401: another one is had next time, unless that has happened already. */
  forget(refused: Token): void;
  readonly last: Token | null;
}

/** A token is renewed this long before it expires, or at half of its life where that is short. */
const marginMs = 30_000;

const answerSchema = z.looseObject({ access_token: z.string().min(1), expires_in: z.number().min(1) });

/**
 * @param ask sends the request for a token, which holds the secret
 */
export function createTokenKeeper(
  config: Pick<KeycloakConfig, 'credentials' | 'tokenRealm'>,
  ask: (credentials: ClientCredentials) => Promise<Judged>,
  clock: () => number,
): TokenKeeper {
  let known: Token | null = null;
  let last: Token | null = null;
  let pending: Promise<Token | Unmeasured> | null = null;

  async function renew(): Promise<Token | Unmeasured> {
    const credentials = await config.credentials();
    if (credentials.kind === 'unmeasured') return credentials;
    const asked = clock();
    const answer = await ask(credentials.value);
    const token = tokenOf(answer, asked, config.tokenRealm, credentials.value.clientId);
    if ('kind' in token) return token;
    known = token;
    last = token;
    return token;
  }

  return {
    async token() {
      if (known !== null && known.until > clock()) return known;
      pending ??= renew().finally(() => {
        pending = null;
      });
      return pending;
    },
    forget(refused) {
      if (known === refused) known = null;
    },
    get last() {
      return last;
    },
  };
}

function tokenOf(answer: Judged, asked: number, realm: string, clientId: string): Token | Unmeasured {
  const what = `a token of realm ${realm}`;
  if (answer.kind === 'failure') {
    const { status, why, message } = answer;
    // RFC 6749 5.2: a client that is not known or whose secret is wrong is answered 400 or 401.
    const refused = (status === 400 || status === 401) && why !== 'unparsed';
    if (!refused) return unmeasured(what, 'Keycloak', why, `${what}: ${message}`);
    const advice = `${what}: Keycloak does not take the credentials of client "${clientId}": ${message}; look at the client's secret and that its service account is on`;
    return unmeasured(what, 'Keycloak', 'denied', advice);
  }
  const parsed = answerSchema.safeParse(answer.body);
  if (!parsed.success) return unmeasured(what, 'Keycloak', 'unparsed', `${what}: the answer holds none`);
  const { access_token: bearer, expires_in: seconds } = parsed.data;
  const lifeMs = seconds * 1_000;
  return { bearer, ...claimsOf(bearer), until: asked + Math.max(lifeMs - marginMs, lifeMs / 2) };
}

const claimsSchema = z.looseObject({
  sub: z.string().optional(),
  resource_access: z.record(z.string(), z.looseObject({ roles: z.array(z.string()) })).optional(),
});

/** Of a token, which is read only to know our own writes among the admin events, and to say what the account may do. */
function claimsOf(bearer: string): Pick<Token, 'userId' | 'roles'> {
  const none = { userId: null, roles: null };
  let payload: unknown;
  try {
    payload = JSON.parse(Buffer.from(bearer.split('.')[1] ?? '', 'base64url').toString('utf8'));
  } catch {
    return none;
  }
  const claims = claimsSchema.safeParse(payload);
  if (!claims.success) return none;
  const { sub = null, resource_access: access } = claims.data;
  const roles =
    access === undefined
      ? null
      : Object.fromEntries(Object.entries(access).map(([client, { roles: of }]) => [client, of]));
  return { userId: sub, roles };
}
