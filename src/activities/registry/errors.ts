import { redact } from '../../domain/core/redact.ts';
import { unmeasured } from '../../domain/core/verdict.ts';
import type { Unmeasured, UnmeasuredCause } from '../../domain/core/verdict.ts';
import { workerRemedies, type RegistryRemedies } from './config.ts';
import { own } from '../../domain/core/own.ts';

/**
 * The one place where what a registry answers, or fails to answer, is judged: by status code and by the error codes of
 * the Distribution specification, or by the error codes of Node and undici; never by message text.
 */

/** Why a reading of a registry failed. Its message never holds a header, a token or a credential. */
export class RegistryFault extends Error {
  override readonly name = 'RegistryFault';
  readonly why: UnmeasuredCause;
  /** Whether the same request may succeed a moment later, without anybody doing something. */
  readonly retryable: boolean;
  /** How long the registry asks to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** What is to be set about it; undefined where nothing is. */
  readonly remedy: keyof RegistryRemedies | undefined;

  constructor(
    why: UnmeasuredCause,
    message: string,
    options: { retryable?: boolean; retryAfterMs?: number; remedy?: keyof RegistryRemedies } = {},
  ) {
    super(message);
    this.why = why;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.remedy = options.remedy;
  }
}

/** A fault as a reading. What is no fault of a registry, such as a mistake in the program, becomes `error`. */
export function unmeasuredBy(
  what: string,
  registry: string,
  cause: unknown,
  remedies: RegistryRemedies = workerRemedies(registry),
): Unmeasured {
  const fault = cause instanceof RegistryFault ? cause : faultOfException(cause);
  const message = redact(`cannot read ${what}: ${fault.message}`);
  // What is to be set is our own text, and names no value.
  const remedy = fault.remedy === undefined ? '' : `; set ${remedies[fault.remedy]}`;
  return unmeasured(what, `registry ${registry}`, fault.why, `${message}${remedy}`);
}

/** Judges an answer that is no success. */
export function faultOfStatus(status: number, body: Buffer, retryAfterMs?: number): RegistryFault {
  const codes = errorCodes(body);
  const said = `HTTP ${status}${codes.length > 0 ? ` ${codes.join(', ')}` : ''}`;
  if (status === 401 || status === 403) {
    const hint = 'the registry has no such repository for these credentials, or they are wrong';
    return new RegistryFault('denied', `${hint} (${said})`, { remedy: 'credentials' });
  }
  if (status === 404 && codes.includes('NAME_UNKNOWN')) {
    return new RegistryFault('missing', `the registry has no such repository (${said})`);
  }
  if (status === 404 && codes.length > 0)
    return new RegistryFault('missing', `the registry does not have it (${said})`);
  if (status === 404) {
    // Some other server, or a proxy's page: no proof that the image is absent.
    return new RegistryFault('unparsed', `the answer is no registry's: is this the right host? (${said})`);
  }
  if (status === 408 || status === 504) {
    return new RegistryFault('timeout', `the registry timed out (${said})`, { retryable: true });
  }
  if (status === 429 || (status === 503 && retryAfterMs !== undefined)) {
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    return new RegistryFault('throttled', `the registry asks for fewer requests (${said})`, {
      retryable: true,
      ...wait,
    });
  }
  if (status === 502 || status === 503) {
    return new RegistryFault('unreachable', `the registry is not available (${said})`, { retryable: true });
  }
  if (status >= 500) return new RegistryFault('error', `the registry failed (${said})`, { retryable: true });
  if (status >= 400) return new RegistryFault('error', `the registry refused the request (${said})`);
  return new RegistryFault('unparsed', `no answer that a registry gives (${said})`);
}

/** Judges an exchange that gave no answer at all, by the code of the error or of one of its causes. */
export function faultOfException(thrown: unknown): RegistryFault {
  if (thrown instanceof RegistryFault) return thrown;
  const code = codeOf(thrown);
  if (timeouts.has(code)) return new RegistryFault('timeout', 'no answer in time', { retryable: true });
  const known = own(unreachable, code);
  if (known !== undefined) {
    return new RegistryFault('unreachable', `${known} (${code})`, { retryable: transient.has(code) });
  }
  if (certificate.test(code)) {
    return new RegistryFault('unreachable', `its certificate is not trusted (${code})`, { remedy: 'caFile' });
  }
  if (plainHttp.has(code)) {
    return new RegistryFault('unreachable', `it does not speak TLS (${code})`, { remedy: 'plainHttp' });
  }
  return new RegistryFault('error', code === '' ? 'the request failed' : `the request failed (${code})`);
}

const timeouts = new Set([
  'TimeoutError',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
};

const transient = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'EAI_AGAIN']);

/** OpenSSL's verification results as Node names them, and Node's own check of the host name. */
const certificate =
  /^(?:UNABLE_TO_(?:VERIFY|GET_ISSUER|DECRYPT)|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|CERT_|ERR_TLS_CERT_ALTNAME|INVALID_CA|HOSTNAME_MISMATCH)/;

/** What TLS stumbles over when the other side answers in plain text. */
const plainHttp = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO']);

/** The code of an error, or of what caused it: fetch wraps every failure in a TypeError without one. */
function codeOf(thrown: unknown): string {
  for (let error: unknown = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    if (error.name === 'TimeoutError') return 'TimeoutError';
    if ('code' in error && typeof error.code === 'string') return error.code;
    if (error instanceof AggregateError && error.errors[0] instanceof Error) return codeOf(error.errors[0]);
  }
  return '';
}

/** Error codes of a Distribution error body, `{"errors":[{"code":"MANIFEST_UNKNOWN"}]}`; none from anything else. */
function errorCodes(body: Buffer): readonly string[] {
  if (body.length === 0 || body.length > 100_000) return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return [];
  }
  if (typeof parsed !== 'object' || parsed === null || !('errors' in parsed) || !Array.isArray(parsed.errors))
    return [];
  return parsed.errors.flatMap((error: unknown) => {
    if (typeof error !== 'object' || error === null || !('code' in error)) return [];
    // A code is a word in capitals; anything else is foreign text that has no place in a message.
    return typeof error.code === 'string' && /^[A-Z][A-Z0-9_]{0,40}$/.test(error.code) ? [error.code] : [];
  });
}
