import type { Dispatcher } from 'undici';
import { unmeasured, type Unmeasured } from '../../domain/core/verdict.ts';
import { isWrite, type Operation } from '../../domain/keycloak-flow/endpoints.ts';
import type { Refusal } from '../../domain/keycloak-flow/refusal.ts';
import { formatPath } from '../../domain/keycloak-flow/request-path.ts';
import { readingScope, type Scope } from '../../domain/keycloak-flow/screen-scope.ts';
import { screenLogin, type LoginOperation } from '../../domain/keycloak-flow/screen-login.ts';
import { screen, type ScreenedRequest } from '../../domain/keycloak-flow/screen.ts';
import type { ClientCredentials, KeycloakConfig } from './config.ts';
import { exchange, openDispatcher, type Exchanged } from './exchange.ts';
import { judgeAnswer, type Judged } from './judge-answer.ts';
import { createTokenKeeper } from './token.ts';

/** What came of a request. */
export type Sent =
  | { readonly kind: 'answered'; readonly operation: Operation; readonly body: unknown }
  /** The choke point let it not through: it was never sent. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | {
      readonly kind: 'failed';
      /** Null where there was no answer. */
      readonly status: number | null;
      /** Of a write: `none` where it is certain that nothing was changed, else only reading back tells. */
      readonly effect: 'none' | 'unknown';
      readonly reading: Unmeasured;
    };

/** One step of a login, as a browser would ask for it. */
export interface LoginRequest {
  readonly method: 'GET' | 'POST';
  /** From the server's base URL on, with its query. */
  readonly path: string;
  /** What is submitted; undefined where nothing is. */
  readonly form?: Readonly<Record<string, string>>;
  /** The header; empty where there is no cookie. */
  readonly cookie: string;
}

/** What came of a step of a login. A redirect is an answer like any other. */
export type Browsed =
  | {
      readonly kind: 'answered';
      readonly operation: LoginOperation;
      readonly status: number;
      readonly text: string;
      readonly location: string | null;
      readonly setCookies: readonly string[];
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'failed'; readonly reading: Unmeasured };

/** The one way to Keycloak. */
export interface KeycloakClient {
  /** Where the server is, without a slash at its end. */
  readonly url: string;
  readonly tokenRealm: string;
  /**
   * Sends a request if `screen` allows it, once; a token that is not accepted is renewed and the request sent a second
   * time, since nothing was done. What goes wrong is a value; only the caller's own cancellation is thrown.
   * A write that was sent is awaited all the same: cut off, it could still take effect after what is done next.
   */
  send(request: ScreenedRequest, scope: Scope, signal?: AbortSignal): Promise<Sent>;
  /**
   * Sends one step of a login if `screenLogin` allows it, once and without a token. It always goes to the server of this
   * client, whatever host a page named.
   */
  browse(request: LoginRequest, realm: string, signal?: AbortSignal): Promise<Browsed>;
  /** Whom admin events name as us; null before the first token, and where tokens do not say. */
  userId(): string | null;
  /**
   * The roles that the token has for managing a realm; null before the first token, and where tokens do not say.
   */
  roles(realm: string): readonly string[] | null;
  close(): Promise<void>;
}

const defaultTimeoutMs = 15_000;
const formType = { 'content-type': 'application/x-www-form-urlencoded' } as const;

/**
 * The client of one Keycloak server, through which every request goes. Nothing is sent yet.
 *
 * @throws Error where the url cannot be one
 */
export function createKeycloakClient(config: KeycloakConfig): KeycloakClient {
  const base = baseUrl(config);
  const timeoutMs = config.timeoutMs ?? defaultTimeoutMs;
  let dispatcher: Promise<Dispatcher> | null = null;
  const tokens = createTokenKeeper(config, askForToken, config.clock ?? Date.now);

  function connection(): Promise<Dispatcher> {
    dispatcher ??= openDispatcher(config.caFile, timeoutMs).catch((error: unknown) => {
      // A CA file that is put right later is read then.
      dispatcher = null;
      throw error;
    });
    return dispatcher;
  }

  async function askForToken({ clientId, clientSecret }: ClientCredentials): Promise<Judged> {
    const { tokenRealm } = config;
    const path = formatPath(['realms', tokenRealm, 'protocol', 'openid-connect', 'token']);
    const body = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const request: ScreenedRequest = { method: 'POST', path, body };
    const screened = screen(request, readingScope(tokenRealm, tokenRealm, 'Observe'));
    if (screened.kind === 'refuse') {
      return { kind: 'failure', status: null, why: 'error', message: screened.message, effect: 'none' };
    }
    const form = new URLSearchParams(body).toString();
    return judgeAnswer(await transmit(request, form, formType, undefined), 'anything');
  }

  /** What was screened is what goes over the wire, to the character. */
  async function transmit(
    { method, path }: Pick<ScreenedRequest, 'method' | 'path'>,
    body: string | null,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<Exchanged> {
    const notSent = (message: string): Exchanged => ({ kind: 'none', why: 'error', message, effect: 'none' });
    const url = new URL(base + path);
    if (url.href !== base + path) return notSent('its path would be sent in another form than it was checked in');
    if (method !== 'GET' && method !== 'POST' && method !== 'PUT') return notSent(`${method} is never sent`);
    let open: Dispatcher;
    try {
      open = await connection();
    } catch (error) {
      return notSent(error instanceof Error ? error.message : String(error));
    }
    const all = { accept: 'application/json', 'user-agent': 'holdfast', ...headers };
    const exchanged = await exchange({ url, method, headers: all, body, timeoutMs, dispatcher: open, signal });
    return exchanged.kind === 'none' ? { ...exchanged, message: `${base}: ${exchanged.message}` } : exchanged;
  }

  async function send(request: ScreenedRequest, scope: Scope, signal?: AbortSignal): Promise<Sent> {
    const screened = screen(request, scope);
    if (screened.kind === 'refuse') return { kind: 'refused', refusal: screened };
    const what = `${request.method} ${request.path}`;
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    const json: Record<string, string> = body === null ? {} : { 'content-type': 'application/json' };

    const sentAlong = isWrite(screened.operation) ? undefined : signal;
    let judged: Judged = { kind: 'failure', status: null, why: 'error', message: 'not sent', effect: 'none' };
    for (const again of [true, false]) {
      const token = await tokens.token();
      signal?.throwIfAborted();
      if ('kind' in token) return { kind: 'failed', status: null, effect: 'none', reading: token };
      const headers = { ...json, authorization: `Bearer ${token.bearer}` };
      const expects = request.method === 'GET' ? 'json' : 'anything';
      judged = judgeAnswer(await transmit(request, body, headers, sentAlong), expects);
      if (judged.kind === 'success') return { kind: 'answered', operation: screened.operation, body: judged.body };
      if (judged.status !== 401) break;
      tokens.forget(token);
      if (!again) break;
    }
    const { status, effect, why, message } = judged;
    return { kind: 'failed', status, effect, reading: unmeasured(what, 'Keycloak', why, `${what}: ${message}`) };
  }

  async function browse({ method, path, form, cookie }: LoginRequest, realm: string, signal?: AbortSignal) {
    const screened = screenLogin({ method, path }, realm);
    if (screened.kind === 'refuse') return { kind: 'refused', refusal: screened } as const;
    const body = form === undefined ? null : new URLSearchParams(form).toString();
    const headers = {
      accept: 'text/html',
      ...(body === null ? {} : formType),
      ...(cookie === '' ? {} : { cookie }),
    };
    const exchanged = await transmit({ method, path }, body, headers, signal);
    if (exchanged.kind === 'answer') {
      return { ...exchanged, kind: 'answered', operation: screened.operation } as const;
    }
    // The query holds what a login is known by.
    const what = `${method} ${path.split('?')[0] ?? ''}`;
    const reading = unmeasured(what, 'Keycloak', exchanged.why, `${what}: ${exchanged.message}`);
    return { kind: 'failed', reading } as const;
  }

  return {
    url: base,
    tokenRealm: config.tokenRealm,
    send,
    browse,
    userId: () => tokens.last?.userId ?? null,
    roles(realm) {
      const { roles = null } = tokens.last ?? {};
      // A client of the realm `master` manages another realm by a client of that realm's name.
      const manages = realm === config.tokenRealm ? 'realm-management' : `${realm}-realm`;
      return roles === null ? null : Object.hasOwn(roles, manages) ? (roles[manages] ?? []) : [];
    },
    async close() {
      const open = await dispatcher?.catch(() => null);
      await open?.destroy();
      dispatcher = null;
    },
  };
}

/** Without a slash at its end, as paths begin with one. */
function baseUrl({ url: text, plainHttp = false }: KeycloakConfig): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Error(`Keycloak's url is to be one such as https://login.example.com, not "${text}"`);
  }
  if (url.protocol === 'http:' && !plainHttp) {
    throw new Error(
      `Keycloak's url ${url.origin} is without TLS: the secret and every token could be read on the way; use https, or say plainHttp: true where nobody is on the way`,
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new Error(`Keycloak's url is to be a host and a path alone: ${url.origin}${url.pathname}`);
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}
