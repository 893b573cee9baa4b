import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';

/** A request as it came through. */
export interface Passed {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Parsed where it is JSON; undefined where there is none. */
  readonly body: unknown;
  /** What was answered to whoever asked; null where nothing was. */
  status: number | null;
}

/** What is done to a request in place of passing it on as it is. */
export type Sabotage =
  /** Answered here; the server never hears of it. */
  | { readonly answer: number; readonly body?: string; readonly type?: string }
  /** Passed on, and answered like this all the same. */
  | { readonly reply: number; readonly body?: string; readonly type?: string }
  /** Passed on twice, as by a gateway that tries again; the second answer comes. */
  | 'twice'
  /** The connection is closed before the server hears of it. */
  | 'dropBefore'
  /** Passed on, and the connection closed when the server has answered. */
  | 'dropReply'
  /** Passed on; of the answer only the first half of the text comes, as if it were all. */
  | 'halve'
  /** Passed on; the connection breaks in the middle of the answer. */
  | 'breakOff'
  /** Passed on; the answer comes one byte at a time, so that even two of them take longer than anybody waits. */
  | 'trickle'
  | { readonly changeBody: (body: unknown) => unknown }
  | { readonly changeAnswer: (answer: unknown) => unknown }
  /** Something that happens before it is passed on. */
  | { readonly first: () => Promise<void> }
  /** Something that happens after the server has answered, and before anybody hears of it. */
  | { readonly afterwards: () => Promise<void> };

export interface KeycloakProxy {
  readonly url: string;
  /** Everything but requests for tokens, in order. */
  readonly passed: readonly Passed[];
  readonly tokens: readonly Passed[];
  /** Those that are no GET. */
  writes(): readonly Passed[];
  /** Forgets what has passed. */
  clear(): void;
  /** From now on, for every request: undefined passes it on. */
  sabotage(decide: (passed: Passed) => Sabotage | undefined): void;
  close(): Promise<void>;
}

/** How long a trickle takes at least. */
const trickleMs = 3_000;

/** A proxy before a Keycloak server that notes what passes, and spoils what it is told to. */
export async function startKeycloakProxy(target: string): Promise<KeycloakProxy> {
  let passed: Passed[] = [];
  let tokens: Passed[] = [];
  let decide: (passed: Passed) => Sabotage | undefined = () => undefined;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const [method, path] = [incoming.method ?? 'GET', incoming.url ?? '/'];
    const entry: Passed = { method, path, body: parse(text), status: null };
    (path.includes('/protocol/openid-connect/token') ? tokens : passed).push(entry);
    const sabotage = decide(entry);

    if (typeof sabotage === 'object' && 'answer' in sabotage) {
      entry.status = sabotage.answer;
      outgoing.writeHead(sabotage.answer, { 'content-type': sabotage.type ?? 'application/json' });
      outgoing.end(sabotage.body ?? '');
      return;
    }
    if (sabotage === 'dropBefore') {
      outgoing.destroy();
      return;
    }
    if (typeof sabotage === 'object' && 'first' in sabotage) await sabotage.first();
    const sent =
      typeof sabotage === 'object' && 'changeBody' in sabotage
        ? JSON.stringify(sabotage.changeBody(parse(text)))
        : text;
    const { host, authorization, accept, cookie } = incoming.headers;
    const type = incoming.headers['content-type'];
    const passOn = () =>
      request(target + path, {
        method: method as 'GET',
        headers: {
          // Tokens are of the address by which they were asked for.
          ...(host === undefined ? {} : { host }),
          ...(authorization === undefined ? {} : { authorization }),
          ...(accept === undefined ? {} : { accept }),
          ...(cookie === undefined ? {} : { cookie }),
          ...(type === undefined ? {} : { 'content-type': type }),
        },
        body: sent === '' ? null : sent,
      });
    if (sabotage === 'twice') await (await passOn()).body.dump();
    const answer = await passOn();
    let body = await answer.body.text();
    if (typeof sabotage === 'object' && 'afterwards' in sabotage) await sabotage.afterwards();
    if (sabotage === 'dropReply') {
      outgoing.destroy();
      return;
    }
    if (typeof sabotage === 'object' && 'reply' in sabotage) {
      entry.status = sabotage.reply;
      outgoing.writeHead(sabotage.reply, { 'content-type': sabotage.type ?? 'application/json' });
      outgoing.end(sabotage.body ?? '');
      return;
    }
    entry.status = answer.statusCode;
    if (typeof sabotage === 'object' && 'changeAnswer' in sabotage) {
      body = JSON.stringify(sabotage.changeAnswer(parse(body)));
    }
    if (sabotage === 'halve') body = body.slice(0, Math.floor(body.length / 2));
    const { location, 'set-cookie': cookies } = answer.headers;
    const headers = {
      'content-type': String(answer.headers['content-type'] ?? 'application/json'),
      ...(typeof location === 'string' ? { location } : {}),
      ...(cookies === undefined ? {} : { 'set-cookie': cookies }),
    };
    if (sabotage === 'breakOff') {
      outgoing.writeHead(answer.statusCode, { ...headers, 'content-length': String(body.length) });
      outgoing.write(body.slice(0, Math.floor(body.length / 2)), () => outgoing.destroy());
      return;
    }
    if (sabotage === 'trickle') {
      outgoing.writeHead(answer.statusCode, headers);
      for (const letter of body) {
        if (outgoing.destroyed) return;
        outgoing.write(letter);
        await sleep(Math.max(20, trickleMs / body.length));
      }
      outgoing.end();
      return;
    }
    outgoing.writeHead(answer.statusCode, headers);
    outgoing.end(body);
  }

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get passed() {
      return passed;
    },
    get tokens() {
      return tokens;
    },
    writes: () => passed.filter(({ method }) => method !== 'GET'),
    clear() {
      passed = [];
      tokens = [];
    },
    sabotage(next) {
      decide = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
