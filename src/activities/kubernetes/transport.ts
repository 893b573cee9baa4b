import type { Dispatcher } from 'undici';
import { noAnswer, retryAfterMs } from './answer.ts';
import type { Answer, NoAnswer } from './answer.ts';
import type { Access, Credentials } from './credentials.ts';

/** One HTTP request to the API server, below its address. */
export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path without query; every part of it already checked and encoded (kinds.ts). */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** Bound from the call to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** An answer of 200 whose body keeps coming. */
export interface Stream {
  readonly kind: 'stream';
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Lets go of the connection at once. */
  destroy(): void;
}

/**
 * The one way to the API server, for requests, watches and sockets alike, so that all of them have the same CA,
 * client certificate, proxy and credentials. Nothing here retries, except that a 401 (nothing was done) is asked once
 * more when the credentials turn out to have been renewed.
 */
export interface Transport {
  /** Scheme, host and port, for messages. */
  readonly server: string;
  send(request: KubeRequest): Promise<Answer>;
  /** `timeoutMs` bounds the wait for the first byte only. Anything but a 200 is read whole, as an answer. */
  open(request: KubeRequest): Promise<Stream | Answer>;
  /** Where and how to open a WebSocket. */
  socketAccess(path: string, query: readonly (readonly [string, string])[]): Promise<SocketAccess | NoAnswer>;
  /** After a socket was answered 401: whether it is worth another try. */
  renew(refused: Access): Promise<boolean>;
  close(): Promise<void>;
}

export interface SocketAccess {
  readonly kind: 'socket';
  readonly url: string;
  readonly access: Access;
}

/** More than any list page that the API server sends; what is longer is no answer to our question. */
const maxBodyBytes = 64 * 1024 * 1024;

export function createTransport(credentials: Credentials, userAgent: string): Transport {
  const base = new URL(credentials.server);
  const origin = base.origin;
  const prefix = base.pathname.replace(/\/$/, '');

  async function withAccess<T extends { readonly kind: string }>(
    attempt: (access: Access) => Promise<T | Answer>,
  ): Promise<T | Answer> {
    const first = await credentials.access();
    if (first.kind === 'refused') return refused(first.message);
    const answer = await attempt(first.access);
    if (!isUnauthorized(answer) || !(await credentials.renew(first.access))) return answer;
    const second = await credentials.access();
    return second.kind === 'refused' ? refused(second.message) : attempt(second.access);
  }

  function options(request: KubeRequest, access: Access): Dispatcher.DispatchOptions {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    return {
      origin,
      path: `${prefix}${request.path}${queryString(request.query ?? {})}`,
      method: request.method,
      headers: {
        ...access.headers,
        accept: request.accept ?? 'application/json',
        'user-agent': userAgent,
        ...(body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      // The bound of the whole exchange is ours; undici's own would cut watches and long answers.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
  }

  return {
    server: origin,
    send: (request) => withAccess((access) => exchange(access.dispatcher, options(request, access), request)),
    open: (request) => withAccess<Stream>((access) => openStream(access.dispatcher, options(request, access), request)),
    async socketAccess(path, query) {
      const access = await credentials.access();
      if (access.kind === 'refused') return refused(access.message);
      const url = new URL(`${origin.replace(/^http/, 'ws')}${prefix}${path}`);
      for (const [key, value] of query) url.searchParams.append(key, value);
      return {
        kind: 'socket',
        url: url.href,
        access: { ...access.access, headers: { ...access.access.headers, 'user-agent': userAgent } },
      };
    },
    renew: (access) => credentials.renew(access),
    close: () => credentials.close(),
  };
}

function refused(message: string): NoAnswer {
  return noAnswer('denied', message, { sent: false, retryable: false });
}

function isUnauthorized(answer: { readonly kind: string }): boolean {
  return answer.kind === 'answer' && 'status' in answer && answer.status === 401;
}

/** `?a=1&b=2`, or nothing; undefined values are left out. */
export function queryString(query: Readonly<Record<string, string | undefined>>): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) params.set(key, value);
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

interface Bounds {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Why an exchange was given up by us, as the error that undici hands back. */
class GivenUp extends Error {
  readonly answer: NoAnswer;

  constructor(answer: NoAnswer) {
    super(answer.message);
    this.answer = answer;
  }
}

/** Sends one request and reads its answer whole, within the time. Resolves always. */
function exchange(dispatcher: Dispatcher, options: Dispatcher.DispatchOptions, bounds: Bounds): Promise<Answer> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let sent = false;
    let done = false;
    let givenUp: GivenUp | undefined;
    let head: { status: number; headers: Record<string, string | string[] | undefined> } | undefined;
    const chunks: Buffer[] = [];
    let size = 0;

    const timer = setTimeout(() => giveUp(timedOut(bounds.timeoutMs, sent, head !== undefined)), bounds.timeoutMs);
    const onAbort = () => giveUp(noAnswer('error', 'stopped before an answer came', { sent, retryable: false }));
    bounds.signal?.addEventListener('abort', onAbort, { once: true });

    function finish(answer: Answer): void {
      if (done) return;
      done = true;
      clearTimeout(timer);
      bounds.signal?.removeEventListener('abort', onAbort);
      resolve(answer);
    }

    function giveUp(answer: NoAnswer): void {
      givenUp = new GivenUp(answer);
      controller?.abort(givenUp);
      finish(answer);
    }

    if (bounds.signal?.aborted === true) return onAbort();
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        // Given up while still connecting: with this abort it is never sent.
        if (givenUp !== undefined) return started.abort(givenUp);
        sent = true;
      },
      onResponseStart(_, status, headers) {
        head = { status, headers };
      },
      onResponseData(running, chunk) {
        size += chunk.length;
        if (size <= maxBodyBytes) return void chunks.push(chunk);
        giveUp(noAnswer('truncated', `the answer is larger than ${maxBodyBytes} bytes`, { sent, retryable: false }));
        running.abort(givenUp ?? new Error('too large'));
      },
      onResponseEnd() {
        if (head === undefined) return;
        const wait = retryAfterMs(single(head.headers['retry-after']), Date.now());
        finish({
          kind: 'answer',
          status: head.status,
          contentType: single(head.headers['content-type']) ?? '',
          body: Buffer.concat(chunks).toString('utf8'),
          ...(wait === undefined ? {} : { retryAfterMs: wait }),
        });
      },
      onResponseError(_, error) {
        finish(lost(error, sent, head !== undefined));
      },
    };
    try {
      dispatcher.dispatch(options, handler);
    } catch (error) {
      // Such as a header that cannot be sent: the request never left.
      const code = errorCode(error);
      finish(
        noAnswer('error', `the request cannot be sent${code === undefined ? '' : ` (${code})`}`, {
          sent,
          retryable: false,
        }),
      );
    }
  });
}

async function openStream(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  bounds: Bounds,
): Promise<Stream | Answer> {
  const stop = new AbortController();
  const onAbort = () => stop.abort(new GivenUp(noAnswer('error', 'stopped', { sent: true, retryable: false })));
  bounds.signal?.addEventListener('abort', onAbort, { once: true });
  if (bounds.signal?.aborted === true) onAbort();
  const release = () => bounds.signal?.removeEventListener('abort', onAbort);
  const timer = setTimeout(() => stop.abort(new GivenUp(timedOut(bounds.timeoutMs, true, false))), bounds.timeoutMs);
  try {
    const response = await dispatcher.request({ ...options, signal: stop.signal });
    if (response.statusCode !== 200) {
      const body = await response.body.text();
      release();
      const wait = retryAfterMs(single(response.headers['retry-after']), Date.now());
      return {
        kind: 'answer',
        status: response.statusCode,
        contentType: single(response.headers['content-type']) ?? '',
        body,
        ...(wait === undefined ? {} : { retryAfterMs: wait }),
      };
    }
    // A destroyed body may still report its end as an error; whoever iterates has seen it already.
    response.body.on('error', () => {});
    response.body.once('close', release);
    return {
      kind: 'stream',
      chunks: response.body,
      destroy: () => {
        response.body.destroy();
        release();
      },
    };
  } catch (error) {
    release();
    return lost(error, true, false);
  } finally {
    clearTimeout(timer);
  }
}

function timedOut(timeoutMs: number, sent: boolean, answering: boolean): NoAnswer {
  const phase = answering ? 'the answer was still coming' : sent ? 'no answer' : 'no connection';
  return noAnswer('timeout', `${phase} after ${timeoutMs} ms`, { sent, retryable: false });
}

const connectCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** A connection that failed, by the code of its error. */
export function lost(error: unknown, sent: boolean, answering: boolean): NoAnswer {
  if (error instanceof GivenUp) return error.answer;
  const code = errorCode(error);
  const suffix = code === undefined ? '' : ` (${code})`;
  if (!sent || connectCodes.has(code ?? ''))
    return noAnswer('unreachable', `cannot connect${suffix}`, { sent, retryable: true });
  if (answering)
    return noAnswer('truncated', `the connection ended before the answer did${suffix}`, { sent, retryable: true });
  return noAnswer('unreachable', `the connection ended before an answer came${suffix}`, { sent, retryable: true });
}

function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof AggregateError) return error.errors.map(errorCode).find((c) => c !== undefined);
  return error.cause === undefined ? undefined : errorCode(error.cause);
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
