import { connect, constants, createServer, type ClientHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A call of the worker to Temporal, such as `RespondActivityTaskCompleted`, with its message as it went over the wire. */
export interface TemporalCall {
  readonly method: string;
  readonly request: Uint8Array;
}

/**
 * Sees each call twice: before it reaches the server (`reply` is null), and once the server has done it. With `true` the
 * call ends there: it never reaches the server, or its reply never comes back.
 */
export type TemporalTap = (call: TemporalCall, reply: Uint8Array | null) => boolean;

export interface TemporalProxy {
  /** `host:port`, for a worker's TEMPORAL_ADDRESS. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Stands between a worker and a Temporal server and passes every call on, except those that the tap keeps. When the
 * worker's connection ends, so do its calls to the server: a killed worker polls no more.
 *
 * @param upstream `host:port` of the server, without TLS
 */
export async function startTemporalProxy(upstream: string, tap: TemporalTap): Promise<TemporalProxy> {
  const server = createServer();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    sessions.add(session);
    const out = connect(`http://${upstream}`);
    sessions.add(out);
    out.on('error', () => session.destroy());
    session.on('error', () => out.destroy());
    out.once('close', () => {
      session.destroy();
      sessions.delete(out);
    });
    session.once('close', () => {
      out.destroy();
      sessions.delete(session);
    });
    session.on('stream', (stream, headers) => {
      passOn(stream, headers, out, tap);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    async close() {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

type Headers = Readonly<Record<string, string | string[] | number | undefined>>;

/** One unary call: its message is read whole, passed on, and its reply likewise. */
function passOn(stream: ServerHttp2Stream, headers: Headers, out: ClientHttp2Session, tap: TemporalTap): void {
  const sent: Buffer[] = [];
  stream.on('error', () => undefined);
  stream.on('data', (chunk: Buffer) => sent.push(chunk));
  stream.on('end', () => {
    const body = Buffer.concat(sent);
    const call = { method: String(headers[':path']).split('/').pop() ?? '', request: messageOf(body) };
    if (out.destroyed || tap(call, null)) return;
    const request = out.request({ ...headers, ':authority': undefined });
    stream.once('close', () => request.close(constants.NGHTTP2_CANCEL));
    request.on('error', () => {
      if (!stream.destroyed) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    });
    let answered: Headers = {};
    let trailers: Headers = {};
    const received: Buffer[] = [];
    request.on('response', (h) => {
      answered = h;
    });
    request.on('trailers', (t: Headers) => {
      trailers = t;
    });
    request.on('data', (chunk: Buffer) => received.push(chunk));
    request.on('end', () => {
      const reply = Buffer.concat(received);
      if (received.length > 0 && tap(call, messageOf(reply))) return;
      if (stream.destroyed) return;
      const bare = plain(answered);
      if (received.length === 0 && Object.keys(trailers).length === 0) {
        stream.respond(bare, { endStream: true });
        return;
      }
      stream.respond(bare, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers(plain(trailers)));
      stream.end(reply);
    });
    request.end(body);
  });
}

/** Headers without what HTTP/2 sets itself. */
function plain(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** The message of a body with one gRPC frame: a flag for compression, four bytes of length, the message. */
function messageOf(body: Buffer): Uint8Array {
  if (body.length < 5) return new Uint8Array();
  const message = body.subarray(5, 5 + body.readUInt32BE(1));
  return body[0] === 1 ? gunzipSync(message) : message;
}
