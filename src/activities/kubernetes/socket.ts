import type { Duplex } from 'node:stream';
import { WebSocket } from 'undici';
import type { Dispatcher } from 'undici';
import { noAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import type { Access } from './credentials.ts';
import { lost } from './transport.ts';
import type { Transport } from './transport.ts';

/** An open WebSocket to the API server. Messages are binary. */
export interface Socket {
  readonly kind: 'open';
  readonly protocol: string;
  onMessage(listener: (message: Buffer) => void): void;
  /** Called once, also when the socket is closed already. */
  onClose(listener: () => void): void;
  send(message: Buffer): void;
  /** Begins the closing handshake. */
  close(): void;
  /** Lets go of the connection at once. */
  destroy(): void;
}

export interface SocketOptions {
  readonly protocols: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Opens a WebSocket with the same connections, TLS and credentials as every other request.
 * @returns the socket, or the API server's refusal, or that there was no answer.
 */
export async function connectSocket(
  transport: Transport,
  path: string,
  query: readonly (readonly [string, string])[],
  options: SocketOptions,
): Promise<Socket | Answer> {
  const first = await transport.socketAccess(path, query);
  if (first.kind === 'none') return first;
  const socket = await open(first.url, first.access, options);
  if (socket.kind !== 'answer' || socket.status !== 401 || !(await transport.renew(first.access))) return socket;
  const second = await transport.socketAccess(path, query);
  return second.kind === 'none' ? second : open(second.url, second.access, options);
}

function open(url: string, access: Access, { protocols, timeoutMs, signal }: SocketOptions): Promise<Socket | Answer> {
  return new Promise((resolve) => {
    const handshake = watchHandshake(access);
    const socket = new WebSocket(url, { protocols: [...protocols], dispatcher: handshake.dispatcher });
    socket.binaryType = 'arraybuffer';
    // The server speaks first sometimes: listen before anybody asks.
    const early: Buffer[] = [];
    let listener: (message: Buffer) => void = (message) => early.push(message);
    let closed = false;
    let onClosed: () => void = () => undefined;

    const timer = setTimeout(
      () => giveUp(noAnswer('timeout', `no connection after ${timeoutMs} ms`, { sent: true, retryable: false })),
      timeoutMs,
    );
    const onAbort = () =>
      giveUp(noAnswer('error', 'stopped before the connection was open', { sent: true, retryable: false }));
    signal?.addEventListener('abort', onAbort, { once: true });

    function settle(result: Socket | Answer): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(result);
    }

    function giveUp(answer: Answer): void {
      settle(answer);
      socket.close();
      handshake.destroy();
    }

    socket.addEventListener('message', (event) => listener(Buffer.from(event.data as ArrayBuffer)));
    // What went wrong is known from the handshake and the close event; without a listener it would be thrown.
    socket.addEventListener('error', () => undefined);
    socket.addEventListener('close', () => {
      closed = true;
      settle(handshake.answer());
      onClosed();
    });
    socket.addEventListener('open', () => {
      settle({
        kind: 'open',
        protocol: socket.protocol,
        onMessage(given) {
          listener = given;
          for (const message of early.splice(0)) given(message);
        },
        onClose(given) {
          onClosed = given;
          if (closed) given();
        },
        send: (message) => {
          if (!closed) socket.send(new Uint8Array(message));
        },
        close: () => socket.close(),
        destroy: () => handshake.destroy(),
      });
    });
    if (signal?.aborted === true) onAbort();
  });
}

/** A refusal is a Status; more than this is none. */
const maxRefusalBytes = 64 * 1024;

/**
 * A WebSocket tells neither the answer that refused its handshake nor gives its connection away; the dispatcher beneath
 * it sees both. A refusal is read here, to its end, and the WebSocket only hears that it failed.
 */
function watchHandshake({ dispatcher, headers: accessHeaders }: Access) {
  let connection: Duplex | undefined;
  let abort: (() => void) | undefined;
  let refusal: { readonly status: number; readonly contentType: string; readonly chunks: Buffer[] } | undefined;
  let error: unknown;
  let destroyed = false;
  const watched = dispatcher.compose((dispatch) => (options, handler) => {
    const inner: Dispatcher.DispatchHandler = {
      onRequestStart(controller, context) {
        abort = () => controller.abort(new Error('given up'));
        if (destroyed) return abort();
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade(controller, status, headers, socket) {
        connection = socket;
        if (destroyed) return void socket.destroy();
        handler.onRequestUpgrade?.(controller, status, headers, socket);
      },
      onResponseStart(_, status, headers) {
        refusal = { status, contentType: String(headers['content-type'] ?? ''), chunks: [] };
      },
      onResponseData(controller, chunk) {
        refusal?.chunks.push(chunk);
        const size = refusal?.chunks.reduce((sum, part) => sum + part.length, 0) ?? 0;
        if (size > maxRefusalBytes) controller.abort(new Error('no refusal is that long'));
      },
      onResponseEnd(controller) {
        handler.onResponseError?.(controller, new Error('the handshake was refused'));
      },
      onResponseError(controller, reason) {
        error = reason;
        handler.onResponseError?.(controller, reason);
      },
    };
    // Added here and not to the WebSocket, which would join several impersonated groups into one.
    return dispatch(
      { ...options, headers: { ...(options.headers as Record<string, string>), ...accessHeaders } },
      inner,
    );
  });
  return {
    dispatcher: watched,
    /** Why there is no socket. */
    answer(): Answer {
      if (refusal === undefined) return lost(error, true, false);
      const { status, contentType, chunks } = refusal;
      return { kind: 'answer', status, contentType, body: Buffer.concat(chunks).toString('utf8') };
    },
    destroy(): void {
      destroyed = true;
      if (connection === undefined) abort?.();
      else connection.destroy();
    },
  };
}
