import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The server's side of one WebSocket, as far as exec needs it: binary messages on channels. */
export interface ExecSocket {
  readonly protocol: string;
  /** Called with channel and data of each message of the client. */
  onMessage(listener: (channel: number, data: Buffer) => void): void;
  send(channel: number, data: string | Buffer): void;
  /** With the closing handshake. */
  close(): void;
  /** Without a word. */
  drop(): void;
}

export interface AcceptOptions {
  /** What the server speaks, in its order of preference. */
  readonly protocols?: readonly string[];
}

/** Accepts a WebSocket handshake (RFC 6455) on a raw connection. */
export function acceptExec(request: IncomingMessage, socket: Socket, options: AcceptOptions = {}): ExecSocket {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((p) => p.trim());
  const protocol = (options.protocols ?? ['v5.channel.k8s.io']).find((p) => offered.includes(p)) ?? '';
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
  );
  let listener: (channel: number, data: Buffer) => void = () => undefined;
  let pending = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (let frame = readFrame(pending); frame !== undefined; frame = readFrame(pending)) {
      pending = pending.subarray(frame.length);
      if (frame.opcode === 8) socket.end(Buffer.concat([Buffer.from([0x88, frame.data.length]), frame.data]));
      else if (frame.data.length > 0) listener(frame.data[0] ?? 0, frame.data.subarray(1));
    }
  });
  return {
    protocol,
    onMessage: (given) => {
      listener = given;
    },
    send: (channel, data) => void socket.write(frameOf(Buffer.concat([Buffer.from([channel]), Buffer.from(data)]))),
    close: () => void socket.end(Buffer.from([0x88, 2, 0x03, 0xe8])),
    drop: () => void socket.destroy(),
  };
}

function frameOf(payload: Buffer): Buffer {
  if (payload.length < 126) return Buffer.concat([Buffer.from([0x82, payload.length]), payload]);
  const head = Buffer.alloc(10);
  head[0] = 0x82;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

function readFrame(buffer: Buffer): { opcode: number; data: Buffer; length: number } | undefined {
  if (buffer.length < 6) return undefined;
  let size = (buffer[1] ?? 0) & 0x7f;
  let at = 2;
  if (size === 126) {
    size = buffer.readUInt16BE(2);
    at = 4;
  } else if (size === 127) {
    if (buffer.length < 14) return undefined;
    size = Number(buffer.readBigUInt64BE(2));
    at = 10;
  }
  if (buffer.length < at + 4 + size) return undefined;
  const mask = buffer.subarray(at, at + 4);
  const data = Buffer.from(buffer.subarray(at + 4, at + 4 + size)).map((byte, i) => byte ^ (mask[i % 4] ?? 0));
  return { opcode: (buffer[0] ?? 0) & 0x0f, data: Buffer.from(data), length: at + 4 + size };
}
