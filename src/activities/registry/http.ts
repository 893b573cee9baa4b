import { own } from '../../domain/core/own.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCoalescer } from './coalesce.ts';
import type { RegistryConfig } from './config.ts';
import type { Connection } from './connection.ts';
import { connect } from './connection.ts';
import type { CredentialSource, Credentials } from './credentials.ts';
import { faultOfStatus, RegistryFault } from './errors.ts';
import type { ExchangeAnswer } from './exchange.ts';
import { exchange } from './exchange.ts';
import { createQuietTime } from './quiet-time.ts';
import { retryAfterMs } from './retry-after.ts';
import type { AskTokenService, Token } from './tokens.ts';
import { basicHeader, requestToken } from './tokens.ts';
import type { Challenge } from './www-authenticate.ts';
import { parseWwwAuthenticate } from './www-authenticate.ts';

/** A request below `/v2/<image path>/`. */
export interface RegistryRequest {
  readonly imagePath: string;
  /** Such as `manifests/v1`, with its query. */
  readonly resource: string;
  readonly method: 'GET' | 'HEAD';
  readonly accept?: string;
  readonly maxBytes: number;
}

/** One registry, asked with whatever credentials it wants. */
export interface RegistryHttp {
  readonly registry: string;
  /**
   * @returns the answer, whatever its status below 500, except 401, 408 and 429
   * @throws RegistryFault for those and where there is no answer
   */
  send(request: RegistryRequest): Promise<ExchangeAnswer>;
}

const defaultTimeoutMs = 15_000;
const tokenBytes = 1_000_000;
/** Credentials are used again for this long, so that a helper is not run for each request. */
const credentialsMs = 60_000;
const retryWaitMs = 250;

/** The client of one registry (`host` or `host:port` as in an image reference). Nothing is sent yet. */
export function createRegistryHttp(registry: string, config: RegistryConfig, source: CredentialSource): RegistryHttp {
  const clock = config.clock ?? Date.now;
  const timeoutMs = config.timeoutMs ?? defaultTimeoutMs;
  const userAgent = config.userAgent ?? 'holdfast';
  const quiet = createQuietTime(clock);
  const coalesce = createCoalescer();
  const credentials = new Map<string, { value: Credentials; until: number }>();
  const tokens = new Map<string, Token>();
  let connection: Promise<Connection> | undefined;
  /** What the registry asked for the last time that it answered 401. */
  let challenge: Challenge | undefined;

  return { registry, send: sendTwice };

  /** A connection that broke or a passing 5xx is tried a second time; everything else is the caller's to repeat. */
  async function sendTwice(request: RegistryRequest): Promise<ExchangeAnswer> {
    try {
      return await send(request);
    } catch (error) {
      if (!(error instanceof RegistryFault) || !error.retryable) throw error;
      if (error.why === 'throttled' || error.why === 'timeout') throw error;
      await sleep(retryWaitMs);
      return send(request);
    }
  }

  async function send(request: RegistryRequest): Promise<ExchangeAnswer> {
    const first = await sendOnce(request, await knownAuthorization(request.imagePath));
    if (first.status !== 401) return first;
    challenge = pickChallenge(first);
    forget(request.imagePath);
    const second = await sendOnce(request, await authorization(challenge, request.imagePath));
    if (second.status !== 401) return second;
    forget(request.imagePath);
    throw faultOfStatus(401, second.body);
  }

  async function sendOnce(request: RegistryRequest, authorization: string | undefined): Promise<ExchangeAnswer> {
    const { base } = await connected();
    return judged({
      url: new URL(`/v2/${request.imagePath}/${request.resource}`, base),
      method: request.method,
      maxBytes: request.maxBytes,
      headers: {
        ...(request.accept === undefined ? {} : { accept: request.accept }),
        ...(authorization === undefined ? {} : { authorization }),
      },
    });
  }

  /** Sends unless the registry is to be left alone, and notes whether it asks for that. */
  async function judged(request: {
    url: URL;
    method: 'GET' | 'HEAD' | 'POST';
    maxBytes: number;
    headers: Record<string, string>;
    body?: string;
  }): Promise<ExchangeAnswer> {
    quiet.check();
    const { dispatcher } = await connected();
    // The digest is over the bytes as stored, so nothing may be packed on the way.
    const headers = { 'user-agent': userAgent, 'accept-encoding': 'identity', ...request.headers };
    const answer = await exchange({ ...request, headers, timeoutMs, dispatcher });
    if (answer.status !== 408 && answer.status !== 429 && answer.status < 500) {
      quiet.note('answered');
      return answer;
    }
    const wait = retryAfterMs(answer.headers.get('retry-after'), clock());
    const fault = faultOfStatus(answer.status, answer.body, wait);
    quiet.note(fault);
    throw fault;
  }

  async function connected(): Promise<Connection> {
    connection ??= connect(registry, own(config.registries ?? {}, registry) ?? {}, timeoutMs).catch(
      (error: unknown) => {
        // A CA file that is put right later is read then.
        connection = undefined;
        throw error;
      },
    );
    return connection;
  }

  async function knownAuthorization(imagePath: string): Promise<string | undefined> {
    return challenge === undefined ? undefined : authorization(challenge, imagePath);
  }

  async function authorization(offered: Challenge, imagePath: string): Promise<string | undefined> {
    const who = await credentialsFor(imagePath);
    if (who.kind === 'registry-token') return `Bearer ${who.token}`;
    if (offered.scheme === 'bearer') return `Bearer ${await tokenFor(offered, imagePath, who)}`;
    if (who.kind === 'basic') return basicHeader(who);
    throw new RegistryFault('denied', 'the registry asks for a user and a password, and none is configured for it');
  }

  async function credentialsFor(imagePath: string): Promise<Credentials> {
    const known = credentials.get(imagePath);
    if (known !== undefined && known.until > clock()) return known.value;
    return coalesce(`credentials ${imagePath}`, async () => {
      const value = await source.find(registry, imagePath);
      credentials.set(imagePath, { value, until: clock() + credentialsMs });
      return value;
    });
  }

  async function tokenFor(offered: Challenge, imagePath: string, who: Credentials): Promise<string> {
    const known = tokens.get(imagePath);
    if (known !== undefined && known.until > clock()) return known.value;
    return coalesce(`token ${imagePath}`, async () => {
      const ask: AskTokenService = (request) => judged({ ...request, maxBytes: tokenBytes });
      const { base } = await connected();
      const token = await requestToken(ask, offered, `repository:${imagePath}:pull`, who, base, clock());
      tokens.set(imagePath, token);
      return token.value;
    });
  }

  function forget(imagePath: string): void {
    tokens.delete(imagePath);
    credentials.delete(imagePath);
  }
}

function pickChallenge(answer: ExchangeAnswer): Challenge {
  const offered = parseWwwAuthenticate(answer.headers.get('www-authenticate') ?? '');
  const picked = offered.find((c) => c.scheme === 'bearer') ?? offered.find((c) => c.scheme === 'basic');
  if (picked !== undefined) return picked;
  throw new RegistryFault(
    'denied',
    'the registry refuses the request and offers neither basic nor bearer authentication',
  );
}
