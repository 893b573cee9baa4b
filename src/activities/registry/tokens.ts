import { z } from 'zod';
import type { Credentials } from './credentials.ts';
import { faultOfStatus, RegistryFault } from './errors.ts';
import type { ExchangeAnswer } from './exchange.ts';
import { retryAfterMs } from './retry-after.ts';
import type { Challenge } from './www-authenticate.ts';

/** A bearer token and when it is no longer used. */
export interface Token {
  readonly value: string;
  /** Epoch milliseconds. */
  readonly until: number;
}

/** Sends a request to the token service. */
export type AskTokenService = (request: {
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
}) => Promise<ExchangeAnswer>;

/** By the token specification of Distribution, a token without a term is good for a minute. */
const defaultSeconds = 60;
/** A token is given up a little early, so that it does not end under way. */
const earlyMs = 10_000;
const longestMs = 60 * 60_000;

const text = z.string().optional();
const answerSchema = z.object({ token: text, access_token: text, expires_in: z.number().optional() });

/**
 * Gets a token for a bearer challenge (Distribution's token authentication): GET with basic credentials or none, POST
 * with a refresh token.
 *
 * @param challenge its `realm` must be https unless the registry itself is reached over plain http
 * @param now epoch milliseconds
 * @throws RegistryFault
 */
export async function requestToken(
  ask: AskTokenService,
  challenge: Challenge,
  scope: string,
  credentials: Credentials,
  registryUrl: URL,
  now: number,
): Promise<Token> {
  const realm = realmOf(challenge, registryUrl);
  const service = challenge.params['service'];
  const fields = { ...(service === undefined ? {} : { service }), scope };
  const answer = await ask(
    credentials.kind === 'identity-token'
      ? refresh(realm, fields, credentials.token)
      : get(realm, fields, credentials.kind === 'basic' ? credentials : undefined),
  );
  if (answer.status !== 200) {
    const fault = faultOfStatus(answer.status, answer.body, retryAfterMs(answer.headers.get('retry-after'), now));
    // A 404 here says nothing of the image.
    const why = fault.why === 'missing' ? 'unparsed' : fault.why;
    const wait = fault.retryAfterMs === undefined ? {} : { retryAfterMs: fault.retryAfterMs };
    throw new RegistryFault(why, `token service ${realm.host}: ${fault.message}`, {
      retryable: fault.retryable,
      ...wait,
    });
  }
  return readToken(answer.body, realm, now);
}

function realmOf(challenge: Challenge, registryUrl: URL): URL {
  const realm = URL.parse(challenge.params['realm'] ?? '', registryUrl.href);
  if (realm === null || !challenge.params['realm']) {
    throw new RegistryFault('unparsed', 'the registry asks for a token but names no token service');
  }
  if (realm.protocol !== 'https:' && realm.protocol !== registryUrl.protocol) {
    throw new RegistryFault(
      'denied',
      `the token service ${realm.host} is not reached over https: no credentials are sent`,
    );
  }
  return realm;
}

function get(realm: URL, fields: Record<string, string>, basic?: { username: string; password: string }) {
  const url = new URL(realm);
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  return { url, method: 'GET' as const, headers: basic === undefined ? {} : { authorization: basicHeader(basic) } };
}

function refresh(realm: URL, fields: Record<string, string>, token: string) {
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: 'holdfast',
    refresh_token: token,
    ...fields,
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return { url: realm, method: 'POST' as const, headers, body: body.toString() };
}

/** The value of an `Authorization` header (RFC 7617). */
export function basicHeader(credentials: { readonly username: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
}

function readToken(body: Buffer, realm: URL, now: number): Token {
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch {
    throw new RegistryFault('unparsed', `token service ${realm.host} answered no JSON`);
  }
  const parsed = answerSchema.safeParse(json);
  const value = parsed.data?.token || parsed.data?.access_token;
  if (!value || /[^\x21-\x7e]/.test(value)) {
    throw new RegistryFault('unparsed', `token service ${realm.host} answered without a token`);
  }
  const lastsMs = Math.min((parsed.data?.expires_in ?? defaultSeconds) * 1_000, longestMs);
  return { value, until: now + Math.max(lastsMs - earlyMs, 0) };
}
