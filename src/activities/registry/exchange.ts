import { request as send } from 'undici';
import type { Dispatcher } from 'undici';
import { faultOfException, RegistryFault } from './errors.ts';

/** One request to a registry or its token service. */
export interface ExchangeRequest {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  /** Bytes of a body that are taken at most. */
  readonly maxBytes: number;
  readonly dispatcher: Dispatcher;
}

/** An answer, read to its end. */
export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  /** Where the answer came from, after redirects. */
  readonly url: URL;
}

const redirects = new Set([301, 302, 303, 307, 308]);
const mostRedirects = 5;

/**
 * Sends a request and reads the whole answer within `timeoutMs`. Redirects are followed here rather than by fetch:
 * `Authorization` is for the host that it was made for and goes to no other, and TLS is never left.
 *
 * @throws RegistryFault where there is no whole answer
 */
export async function exchange(request: ExchangeRequest): Promise<ExchangeAnswer> {
  const signal = AbortSignal.timeout(request.timeoutMs);
  let url = request.url;
  let headers = request.headers;
  for (let hops = 0; ; hops++) {
    const response = await open({ ...request, url, headers }, signal);
    const answered = headersOf(response);
    const location = answered.get('location');
    if (!redirects.has(response.statusCode) || location === null || request.method === 'POST') {
      return {
        status: response.statusCode,
        headers: answered,
        body: await readBody(response, request, signal),
        url,
      };
    }
    await response.body.dump().catch(() => undefined);
    if (hops === mostRedirects) throw new RegistryFault('error', `more than ${mostRedirects} redirects`);
    const next = follow(url, location);
    if (next.origin !== url.origin) headers = withoutAuthorization(headers);
    url = next;
  }
}

async function open(request: ExchangeRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const { method, headers, dispatcher, body = null } = request;
  try {
    // Unlike fetch, this leaves the bytes as they were sent and refuses no port.
    return await send(request.url, { method, headers, dispatcher, body, signal });
  } catch (error) {
    if (signal.aborted) throw new RegistryFault('timeout', 'no answer in time', { retryable: true });
    throw faultOfException(error);
  }
}

function headersOf(response: Dispatcher.ResponseData): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    for (const one of typeof value === 'string' ? [value] : (value ?? [])) headers.append(name, one);
  }
  return headers;
}

async function readBody(
  response: Dispatcher.ResponseData,
  request: ExchangeRequest,
  signal: AbortSignal,
): Promise<Buffer> {
  const body: AsyncIterable<Uint8Array> = response.body;
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of body) {
      length += part.length;
      if (length > request.maxBytes) {
        throw new RegistryFault('truncated', `the answer is longer than ${request.maxBytes} bytes`);
      }
      parts.push(part);
    }
  } catch (error) {
    if (error instanceof RegistryFault) throw error;
    if (signal.aborted) throw new RegistryFault('timeout', 'the answer did not end in time', { retryable: true });
    throw new RegistryFault('truncated', `the answer broke off after ${length} bytes`, { retryable: true });
  }
  return Buffer.concat(parts);
}

function follow(from: URL, location: string): URL {
  const next = URL.parse(location, from.href);
  if (next === null) throw new RegistryFault('unparsed', 'a redirect leads to no address');
  if (next.protocol !== 'https:' && next.protocol !== from.protocol) {
    throw new RegistryFault('error', 'a redirect leads from https to plain http, which is not followed');
  }
  // Credentials in an address would be sent on as a header.
  next.username = '';
  next.password = '';
  return next;
}

function withoutAuthorization(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization'));
}
