import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { LabEnv } from '../lab/lab.ts';

/** A write that a worker sends to the API server. */
export interface ApiWrite {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly body: unknown;
}

/** A write that was stopped on its way to the API server. */
export interface HeldWrite {
  readonly write: ApiWrite;
  /** Sends it on after all, as a network does with a packet of a worker that is long dead. @returns the status code */
  letGo(): Promise<number>;
}

export interface ApiProxy {
  /** Plain http: what comes here is passed on as the lab's administrator. */
  readonly url: string;
  /** Lets the first write that `which` picks take effect and keeps its reply; `then` is called within the same tick. */
  holdReply(which: (write: ApiWrite) => boolean, then: (write: ApiWrite) => void): void;
  /** Keeps the first write that `which` picks from the API server. */
  holdRequest(which: (write: ApiWrite) => boolean, then: (held: HeldWrite) => void): void;
  /** Drops what was to be held and has not come. */
  forget(): void;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

type Hold =
  | { readonly on: 'reply'; readonly which: (write: ApiWrite) => boolean; readonly then: (write: ApiWrite) => void }
  | { readonly on: 'request'; readonly which: (write: ApiWrite) => boolean; readonly then: (held: HeldWrite) => void };

/** Stands between a worker and the lab's API server and passes everything on, except what it is told to hold. */
export async function startApiProxy(env: Pick<LabEnv, 'apiServer' | 'caFile' | 'adminToken'>): Promise<ApiProxy> {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(env.caFile) });
  const holds = new Set<Hold>();

  function forward(incoming: IncomingMessage, body: Buffer) {
    return request(env.apiServer + (incoming.url ?? '/'), {
      method: incoming.method,
      agent,
      headers: {
        ...incoming.headers,
        host: new URL(env.apiServer).host,
        authorization: `Bearer ${env.adminToken}`,
        ...(body.length === 0 ? {} : { 'content-length': String(body.length) }),
      },
    });
  }

  function stream(incoming: IncomingMessage, response: ServerResponse): void {
    const out = forward(incoming, Buffer.alloc(0));
    out.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    out.on('error', () => response.destroy());
    response.on('close', () => out.destroy());
    out.end();
  }

  async function whole(incoming: IncomingMessage, body: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const out = forward(incoming, body);
      out.on('error', reject);
      out.on('response', (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: Buffer.concat(chunks) }),
        );
      });
      out.end(body);
    });
  }

  async function write(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const seen: ApiWrite = {
      method: incoming.method ?? '',
      path: (incoming.url ?? '').split('?')[0] ?? '',
      body: parsed(body),
    };
    const hold = [...holds].find((h) => h.which(seen));
    if (hold !== undefined) holds.delete(hold);
    if (hold?.on === 'request') {
      hold.then({ write: seen, letGo: async () => (await whole(incoming, body)).status });
      return;
    }
    const answer = await whole(incoming, body);
    if (hold !== undefined) {
      hold.then(seen);
      return;
    }
    const { 'transfer-encoding': _chunked, ...headers } = answer.headers;
    response.writeHead(answer.status, { ...headers, 'content-length': String(answer.body.length) }).end(answer.body);
  }

  const server = createServer((incoming, response) => {
    if (incoming.method === 'GET') stream(incoming, response);
    else write(incoming, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    holdReply: (which, then) => holds.add({ on: 'reply', which, then }),
    holdRequest: (which, then) => holds.add({ on: 'request', which, then }),
    forget: () => holds.clear(),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      agent.destroy();
    },
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}
