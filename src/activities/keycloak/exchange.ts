import { readFile } from 'node:fs/promises';
import { getCACertificates } from 'node:tls';
import { Agent, request as send, type Dispatcher } from 'undici';
import type { UnmeasuredCause } from '../../domain/core/verdict.ts';
import { boundedBody } from '../bounded-body.ts';

/** One request over the wire. */
export interface ExchangeRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly timeoutMs: number;
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal | undefined;
}

/** An answer read to its end, or why there is none. */
export type Exchanged =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly text: string;
      /** Null where the answer sends nowhere. */
      readonly location: string | null;
      readonly setCookies: readonly string[];
    }
  | {
      readonly kind: 'none';
      readonly why: UnmeasuredCause;
      readonly message: string;
      /** `none` where it is certain that the server never got the request. */
      readonly effect: 'none' | 'unknown';
    };

/** A page of 200 clients is about 600 kB; nothing that is asked for comes near to this. */
const mostBytes = 16 * 1024 * 1024;

const connections = 4;

/**
 * Opens nothing yet.
 *
 * @throws Error where the CA file cannot be read or holds no certificate
 */
export async function openDispatcher(caFile: string | undefined, timeoutMs: number): Promise<Dispatcher> {
  if (caFile === undefined) return new Agent({ connections, connect: { timeout: timeoutMs } });
  const pem = await readFile(caFile, 'utf8').catch((error: unknown) => {
    throw new Error(`the CA file ${caFile} cannot be read (${codeOf(error)})`);
  });
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error(`the CA file ${caFile} holds no PEM certificate`);
  // Node takes `ca` in place of what it trusts otherwise.
  return new Agent({ connections, connect: { timeout: timeoutMs, ca: [...getCACertificates('default'), pem] } });
}

/**
 * Sends one request, once, and reads the whole answer within `timeoutMs`. Redirects are not followed: a token is for the
 * server that it was made for. What goes wrong is a value; only the caller's own cancellation is thrown.
 */
export async function exchange(request: ExchangeRequest): Promise<Exchanged> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal]);
  const { url, method, headers, body, dispatcher } = request;
  let response: Dispatcher.ResponseData;
  try {
    response = await send(url, { method, headers, body, dispatcher, signal });
  } catch (error) {
    request.signal?.throwIfAborted();
    return timeout.aborted ? late(request.timeoutMs) : noAnswer(error);
  }
  try {
    const text = await boundedBody(response.body, mostBytes);
    if (text !== null) return { kind: 'answer', status: response.statusCode, text, ...ofHeaders(response.headers) };
    return none('truncated', `the answer is longer than ${mostBytes} bytes`);
  } catch {
    request.signal?.throwIfAborted();
    return timeout.aborted ? late(request.timeoutMs) : none('truncated', 'the answer broke off before its end');
  }
}

function ofHeaders({ location, 'set-cookie': setCookie = [] }: Dispatcher.ResponseData['headers']) {
  return {
    location: typeof location === 'string' ? location : null,
    setCookies: typeof setCookie === 'string' ? [setCookie] : setCookie,
  };
}

function late(timeoutMs: number): Exchanged {
  return none('timeout', `no whole answer within ${timeoutMs} ms`);
}

function none(why: UnmeasuredCause, message: string, effect: 'none' | 'unknown' = 'unknown'): Exchanged {
  return { kind: 'none', why, message, effect };
}

/** No connection: nothing was sent on it. */
const neverConnected: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
};

/** OpenSSL's verification results as Node names them, and Node's own check of the host name. */
const certificate =
  /^(?:UNABLE_TO_(?:VERIFY|GET_ISSUER|DECRYPT)|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|CERT_|ERR_TLS_CERT_ALTNAME|INVALID_CA|HOSTNAME_MISMATCH)/;

/** What TLS stumbles over when the other side answers in plain text. */
const noTls = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO']);

const broken = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

function noAnswer(error: unknown): Exchanged {
  const code = codeOf(error);
  if (code in neverConnected) return none('unreachable', `${neverConnected[code] ?? ''} (${code})`, 'none');
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return none('timeout', 'no connection in time', 'none');
  if (certificate.test(code)) {
    return none('unreachable', `its certificate is not trusted: name its authority as caFile (${code})`, 'none');
  }
  if (noTls.has(code)) return none('unreachable', `it does not speak TLS (${code})`, 'none');
  if (broken.has(code)) return none('unreachable', `the connection was closed without an answer (${code})`);
  return none('error', code === '' ? 'the request failed' : `the request failed (${code})`);
}

/** The stable code of an error or of one of its causes: its message may hold an address or a header. */
function codeOf(thrown: unknown): string {
  for (let error: unknown = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    if ('code' in error && typeof error.code === 'string') return error.code;
    if (error instanceof AggregateError && error.errors[0] instanceof Error) return codeOf(error.errors[0]);
  }
  return '';
}
