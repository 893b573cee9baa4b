import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createKeycloakClient, type KeycloakClient } from '../../../src/activities/keycloak/client.ts';
import type { KeycloakConfig } from '../../../src/activities/keycloak/config.ts';
import { createRealmReader } from '../../../src/activities/keycloak/reads.ts';
import { read } from '../../../src/domain/core/verdict.ts';
import { readingScope } from '../../../src/domain/keycloak-flow/screen-scope.ts';

const scope = readingScope('shop', 'shop', 'Enforce');
const PATH = '/admin/realms/shop/authentication/required-actions';
const TOKEN_PATH = '/realms/shop/protocol/openid-connect/token';

interface Seen {
  readonly line: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

type Answering = (response: ServerResponse, seen: Seen) => void;

let cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

/** A server that gives tokens, and answers everything else as it is told. */
async function serve(answering: Answering, tokens: Answering = giveToken()): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(listener(seen, answering, tokens));
  return { url: `http://127.0.0.1:${await listen(server)}`, seen };
}

function listener(seen: Seen[], answering: Answering, tokens: Answering): RequestListener {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const line = `${request.method ?? ''} ${request.url ?? ''}`;
    const entry = { line, authorization: request.headers.authorization, body: Buffer.concat(chunks).toString() };
    seen.push(entry);
    (line === `POST ${TOKEN_PATH}` ? tokens : answering)(response, entry);
  };
  return (request, response) => void handle(request, response);
}

async function listen(server: Server & { closeAllConnections(): void }): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

/** Tokens `t1`, `t2` and so on. */
function giveToken(expiresIn = 300): Answering {
  let count = 0;
  return (response) => {
    count += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ access_token: `t${count}`, expires_in: expiresIn }));
  };
}

function json(status: number, body: unknown): Answering {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}

function html(status: number): Answering {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end('<html><body>Service unavailable</body></html>');
  };
}

function clientOf(url: string, overrides: Partial<KeycloakConfig> = {}): KeycloakClient {
  const client = createKeycloakClient({
    url,
    plainHttp: true,
    tokenRealm: 'shop',
    timeoutMs: 2_000,
    credentials: () => Promise.resolve(read({ clientId: 'holdfast', clientSecret: 's3cret-of-ours' })),
    ...overrides,
  });
  cleanups.push(() => client.close());
  return client;
}

function get(client: KeycloakClient) {
  return client.send({ method: 'GET', path: PATH }, scope);
}

describe('an answer', () => {
  test.each<[string, Answering, string]>([
    ['401 twice', json(401, { error: 'HTTP 401 Unauthorized' }), 'denied'],
    ['403', json(403, { error: 'HTTP 403 Forbidden' }), 'denied'],
    ['404 of Keycloak', json(404, { error: 'Flow not found' }), 'missing'],
    ['404 with a page of HTML', html(404), 'unparsed'],
    ['200 with a page of HTML', html(200), 'unparsed'],
    ['502 with a page of HTML', html(502), 'unreachable'],
    ['500 of Keycloak', json(500, { error: 'unknown_error' }), 'error'],
    ['429', json(429, {}), 'throttled'],
    ['nothing', (response) => response.end(), 'empty'],
    ['half of a list', (response) => response.end('[{"alias":"a","ena'), 'truncated'],
    [
      'a connection that breaks',
      (response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('[', () => response.destroy());
      },
      'truncated',
    ],
    ['a connection that closes', (response) => response.destroy(), 'unreachable'],
    [
      'a redirect',
      (response) => {
        response.writeHead(302, { location: 'http://127.0.0.1:1/' });
        response.end();
      },
      'unparsed',
    ],
  ])('of %s is its own kind of not measured', async (_, answering, why) => {
    const { url, seen } = await serve(answering);
    const sent = await get(clientOf(url));
    expect(sent).toMatchObject({ kind: 'failed', reading: { kind: 'unmeasured', why } });
    // Redirects are not followed, and nothing but a token that was not accepted is tried again.
    expect(seen.filter(({ line }) => line === `GET ${PATH}`)).toHaveLength(
      why === 'denied' && _ === '401 twice' ? 2 : 1,
    );
  });

  test('that comes byte by byte is given up when the time is over, however long it goes on', async () => {
    const { url } = await serve((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
    });
    const sent = await get(clientOf(url, { timeoutMs: 300 }));
    expect(sent).toMatchObject({ kind: 'failed', reading: { why: 'timeout' } });
  });

  test('that is too long is cut off instead of filling the memory', async () => {
    const { url } = await serve((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const megabyte = Buffer.alloc(1 << 20, 32);
      const more = () => {
        while (!response.destroyed && response.write(megabyte));
      };
      response.on('drain', more);
      more();
    });
    const sent = await get(clientOf(url, { timeoutMs: 20_000 }));
    expect(sent).toMatchObject({ kind: 'failed', reading: { why: 'truncated' } });
  });

  test('of a server that is not there says so, and that nothing was written', async () => {
    const sent = await get(clientOf('http://127.0.0.1:1'));
    expect(sent).toMatchObject({ kind: 'failed', effect: 'none', reading: { why: 'unreachable' } });
  });
});

describe('what is sent', () => {
  test('R9 is only what the choke point allows: a refusal reaches no server, not even for a token', async () => {
    const { url, seen } = await serve(json(200, []));
    const client = clientOf(url);
    for (const [method, path] of [
      ['DELETE', '/admin/realms/shop'],
      ['GET', '/admin/realms/shop/users'],
      ['GET', '/admin/realms/other'],
      ['GET', '/admin/realms/shop/authentication/../users'],
      ['GET', '/admin/realms/shop//authentication/flows'],
      ['PUT', '/admin/realms/shop'],
      ['POST', '/admin/realms/shop/authentication/register-required-action'],
    ] as const) {
      expect(await client.send({ method, path }, scope)).toMatchObject({ kind: 'refused' });
    }
    expect(seen).toEqual([]);
  });

  test('is what was checked, to the character: what a URL would spell in another way is not sent', async () => {
    const { url, seen } = await serve(json(200, []));
    const path = `/admin/realms/shop/clients?clientId=a'b`;
    const sent = await clientOf(url).send({ method: 'GET', path }, scope);
    expect(sent).toMatchObject({ kind: 'failed', effect: 'none' });
    expect(seen.filter(({ line }) => line.startsWith('GET'))).toEqual([]);
  });

  test('goes below the path at which Keycloak serves', async () => {
    const { url, seen } = await serve(json(200, []));
    const client = clientOf(`${url}/auth/`, { tokenRealm: 'shop' });
    await get(client);
    expect(seen.at(-1)?.line).toBe(`POST /auth${TOKEN_PATH}`);
  });

  test('the secret is sent as a form to the token endpoint alone', async () => {
    const { url, seen } = await serve(json(200, []));
    await get(clientOf(url));
    expect(seen[0]?.body).toBe('grant_type=client_credentials&client_id=holdfast&client_secret=s3cret-of-ours');
    expect(JSON.stringify(seen.slice(1))).not.toContain('s3cret-of-ours');
  });
});

describe('the token', () => {
  test('is asked for once by however many requests, and used until it is nearly over', async () => {
    let now = 0;
    const { url, seen } = await serve(json(200, []), giveToken(60));
    const client = clientOf(url, { clock: () => now });
    await Promise.all([get(client), get(client), get(client)]);
    now = 29_000;
    await get(client);
    expect(seen.filter(({ line }) => line.startsWith('POST'))).toHaveLength(1);
    now = 31_000;
    await get(client);
    expect(seen.at(-1)?.authorization).toBe('Bearer t2');
  });

  test('that is not accepted is renewed once, with the credentials as they are by then', async () => {
    const { url, seen } = await serve((response, { authorization }) => {
      json(authorization === 'Bearer t1' ? 401 : 200, [])(response, { line: '', authorization, body: '' });
    });
    const secrets = ['old', 'new'];
    const credentials = () => Promise.resolve(read({ clientId: 'holdfast', clientSecret: secrets.shift() ?? '' }));
    expect(await get(clientOf(url, { credentials }))).toMatchObject({ kind: 'answered' });
    const asked = seen.filter(({ line }) => line.startsWith('POST')).map(({ body }) => body);
    expect(asked.map((body) => new URLSearchParams(body).get('client_secret'))).toEqual(['old', 'new']);
  });

  test.each<[string, Answering, string]>([
    ['a wrong secret', json(401, { error: 'invalid_client' }), 'denied'],
    ['a client without service account', json(400, { error: 'unauthorized_client' }), 'denied'],
    ['a realm that is not there', json(404, { error: 'Realm does not exist' }), 'missing'],
    ['a page of HTML', html(200), 'unparsed'],
    ['an answer without token', json(200, {}), 'unparsed'],
    ['a server that fails', json(500, {}), 'error'],
  ])('that is not had for %s says why, and sends nothing else', async (_, tokens, why) => {
    const { url, seen } = await serve(json(200, []), tokens);
    const sent = await get(clientOf(url));
    expect(sent).toMatchObject({ kind: 'failed', effect: 'none', reading: { why } });
    expect(JSON.stringify(sent)).not.toContain('s3cret-of-ours');
    expect(seen.every(({ line }) => line === `POST ${TOKEN_PATH}`)).toBe(true);
  });
});

describe('TLS', () => {
  function certificate(): { cert: string; key: string; file: string } {
    const dir = mkdtempSync(join(tmpdir(), 'hf-tls-'));
    cleanups.push(() => rmSync(dir, { recursive: true }));
    const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    execFileSync('openssl', [...args, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8'), file: cert };
  }

  async function serveTls(): Promise<{ url: string; file: string; seen: Seen[] }> {
    const { key, cert, file } = certificate();
    const seen: Seen[] = [];
    const server = createTlsServer({ key, cert }, listener(seen, json(200, []), giveToken()));
    return { url: `https://127.0.0.1:${await listen(server)}`, file, seen };
  }

  test('a certificate of nobody known is refused before anything is sent', async () => {
    const { url, seen } = await serveTls();
    const sent = await get(clientOf(url));
    expect(sent).toMatchObject({ kind: 'failed', effect: 'none', reading: { why: 'unreachable' } });
    if (sent.kind === 'failed') expect(sent.reading.message).toContain('caFile');
    expect(seen).toEqual([]);
  });

  test('caFile names its authority', async () => {
    const { url, file } = await serveTls();
    expect(await get(clientOf(url, { caFile: file }))).toMatchObject({ kind: 'answered' });
  });

  test('a caFile that is not there is said, and nothing is sent', async () => {
    const { url, seen } = await serveTls();
    const sent = await get(clientOf(url, { caFile: '/no/such/ca.pem' }));
    if (sent.kind === 'failed') expect(sent.reading.message).toContain('/no/such/ca.pem cannot be read (ENOENT)');
    expect(sent.kind).toBe('failed');
    expect(seen).toEqual([]);
  });

  test.each(['http://login.example.com', 'login.example.com', 'ftp://x', 'https://user:pw@host', 'https://host/?a=b'])(
    'the url %s is refused when the client is made',
    (url) => {
      const config = { url, tokenRealm: 'shop', credentials: () => Promise.reject(new Error('not asked')) };
      expect(() => createKeycloakClient(config)).toThrow(/url/);
    },
  );
});

describe('the list of clients', () => {
  const entry = (index: number) => ({ id: `id-${index}`, clientId: `client-${String(index).padStart(4, '0')}` });

  /** Serves pages of a list, which may change between two of them. */
  function pages(list: () => readonly unknown[]): Answering {
    return (response, { line }) => {
      const query = new URL(line.slice(4), 'http://host').searchParams;
      const first = Number(query.get('first'));
      const body = list().slice(first, first + Number(query.get('max')));
      json(200, body)(response, { line, authorization: undefined, body: '' });
    };
  }

  test.each([0, 1, 199, 200, 201, 399, 400, 1_000])('of %i is read whole', async (count) => {
    const all = Array.from({ length: count }, (_, index) => entry(index));
    const { url } = await serve(pages(() => all));
    const clients = await createRealmReader(clientOf(url), scope).clients();
    expect(clients).toEqual({ kind: 'read', value: all });
  });

  test('that loses an entry while it is read is not the whole list', async () => {
    const all = Array.from({ length: 450 }, (_, index) => entry(index));
    let asked = 0;
    const { url } = await serve(
      pages(() => {
        asked += 1;
        return asked === 1 ? all : all.slice(1);
      }),
    );
    const clients = await createRealmReader(clientOf(url), scope).clients();
    expect(clients).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
  });

  test('of a server that gives more than was asked for is not trusted', async () => {
    const { url } = await serve(
      json(
        200,
        Array.from({ length: 201 }, (_, index) => entry(index)),
      ),
    );
    const clients = await createRealmReader(clientOf(url), scope).clients();
    expect(clients).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
  });
});
