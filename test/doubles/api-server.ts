import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyPatch } from './api-patch.ts';
import { createStore, Refusal } from './api-store.ts';
import type { Change, Store, Stored } from './api-store.ts';

/**
 * An API server in this process, for faults that a real one cannot be made to show. It speaks enough of the protocol
 * that the real adapter passes the same contract tests on it as on a real API server (test/contract/kubernetes.ts).
 */

export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** What to do instead of (or around) the normal answer. */
export type Fault =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body: string;
    }
  /** The connection breaks before anything happened. */
  | { readonly kind: 'reset' }
  /** The request takes effect; its answer never arrives. */
  | { readonly kind: 'drop-reply' }
  /** The request takes effect; nothing is answered and the connection stays. */
  | { readonly kind: 'hang' }
  /** The normal answer, cut after so many characters although more was announced. */
  | { readonly kind: 'cut'; readonly after: number }
  /** The normal answer ends in the middle, well-formed for HTTP. */
  | { readonly kind: 'truncate'; readonly after: number }
  /** The normal answer, one character each so many milliseconds. */
  | { readonly kind: 'trickle'; readonly everyMs: number };

export interface ApiServerOptions {
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Asked for each request before anything else. */
  readonly fault?: (request: SeenRequest) => Fault | undefined;
  /** Handles `pods/NAME:PORT/proxy/…`; undefined is the API server's "error trying to reach service". */
  readonly pod?: (
    request: SeenRequest & { readonly podPath: string },
  ) => { status: number; body: string; contentType?: string } | undefined;
  /** Handles an upgrade to a WebSocket (exec). */
  readonly upgrade?: (request: IncomingMessage, socket: Socket) => void;
  /** Whether a SelfSubjectAccessReview is allowed [true]. */
  readonly allow?: (attributes: Record<string, unknown>) => boolean | 'evaluation-error';
  readonly pageLimit?: number;
}

export interface ApiServerDouble {
  readonly url: string;
  readonly store: Store;
  readonly requests: SeenRequest[];
  /** May be set any time. */
  fault: ApiServerOptions['fault'];
  /** Requests whose answer is not complete and whose client is still there. */
  unanswered(): number;
  /** Sockets open now, idle ones included. */
  connections(): number;
  /** Ends all watches as a server does whose time is up. */
  endWatches(): void;
  /** Breaks all connections. */
  breakConnections(): void;
  /** Sends a raw line into all watches. */
  writeToWatches(line: string): void;
  /** Forgets the history before now: older versions are 410. */
  compact(): void;
  /** A kubeconfig file for it, removed by stop(). */
  kubeconfig(user?: Record<string, unknown>): string;
  stop(): Promise<void>;
}

const kinds: Record<string, { kind: string; namespaced: boolean }> = {
  'apps/v1/deployments': { kind: 'Deployment', namespaced: true },
  'apps/v1/replicasets': { kind: 'ReplicaSet', namespaced: true },
  'v1/configmaps': { kind: 'ConfigMap', namespaced: true },
  'v1/secrets': { kind: 'Secret', namespaced: true },
  'v1/pods': { kind: 'Pod', namespaced: true },
  'v1/nodes': { kind: 'Node', namespaced: false },
  'v1/namespaces': { kind: 'Namespace', namespaced: false },
  'events.k8s.io/v1/events': { kind: 'Event', namespaced: true },
  'example.dev/v1/widgets': { kind: 'Widget', namespaced: true },
};

/** Starts the double on a free port of the loopback. */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServerDouble> {
  const store = createStore();
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const watches = new Set<ServerResponse>();
  const unanswered = new Set<ServerResponse>();
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-api-double-'));
  let oldest = 0;
  let kubeconfigs = 0;

  const handler = (request: IncomingMessage, response: ServerResponse) => {
    unanswered.add(response);
    response.on('close', () => unanswered.delete(response));
    void readBody(request).then((body) => {
      const seen: SeenRequest = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body,
      };
      requests.push(seen);
      const fault = double.fault?.(seen);
      if (fault?.kind === 'answer') {
        response.writeHead(fault.status, fault.headers ?? {});
        return response.end(fault.body);
      }
      if (fault?.kind === 'reset') return request.socket.destroy();
      if (new URL(seen.url, 'http://double').searchParams.get('watch') === 'true') return startWatch(seen, response);
      const answer = respond(store, seen, options, oldest);
      send(response, answer, fault);
    });
  };

  function startWatch(seen: SeenRequest, response: ServerResponse): void {
    const url = new URL(seen.url, 'http://double');
    const address = parsePath(url.pathname);
    const from = Number(url.searchParams.get('resourceVersion') ?? 0);
    if (address === undefined) return send(response, status(404, 'NotFound', 'no such resource'), undefined);
    if (from < oldest)
      return send(response, status(410, 'Expired', `too old resource version: ${from} (${oldest})`), undefined);
    response.writeHead(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
    response.flushHeaders();
    const relevant = (change: Change) =>
      change.collection === address.collection &&
      (address.namespace === undefined || change.object.metadata.namespace === address.namespace);
    const write = (change: Change) =>
      relevant(change) &&
      !response.writableEnded &&
      response.write(`${JSON.stringify({ type: change.type, object: change.object })}\n`);
    for (const change of store.changesAfter(from)) write(change);
    const unlisten = store.listen(write);
    watches.add(response);
    response.on('close', () => {
      unlisten();
      watches.delete(response);
    });
  }

  const server: Server = options.tls === undefined ? createServer(handler) : createTlsServer(options.tls, handler);
  server.keepAliveTimeout = 30_000;
  server.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    requests.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body: '',
    });
    socket.on('end', () => socket.end());
    socket.resume();
    if (options.upgrade !== undefined) return options.upgrade(request, socket);
    const body = JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 });
    socket.end(
      `HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const double: ApiServerDouble = {
    url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    store,
    requests,
    fault: options.fault,
    unanswered: () => unanswered.size,
    connections: () => sockets.size,
    endWatches: () => {
      for (const watch of watches) watch.end();
    },
    breakConnections: () => {
      for (const socket of sockets) socket.destroy();
    },
    writeToWatches: (line) => {
      for (const watch of watches) watch.write(line);
    },
    compact: () => {
      oldest = store.tick();
    },
    kubeconfig(user = {}) {
      const file = join(dir, `kubeconfig-${kubeconfigs++}.yaml`);
      const ca =
        options.tls === undefined
          ? {}
          : { 'certificate-authority-data': Buffer.from(options.tls.cert).toString('base64') };
      const config = {
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'double',
        contexts: [{ name: 'double', context: { cluster: 'double', user: 'tester' } }],
        clusters: [{ name: 'double', cluster: { server: double.url, ...ca } }],
        users: [{ name: 'tester', user }],
      };
      writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
      return file;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return double;
}

interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

interface Address {
  readonly apiVersion: string;
  readonly plural: string;
  readonly collection: string;
  readonly namespace?: string;
  readonly name?: string;
}

function parsePath(pathname: string): Address | undefined {
  const match = /^\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?$/.exec(
    pathname,
  );
  if (match === null) return undefined;
  const [, core, group, namespace, plural = '', name] = match;
  const apiVersion = core ?? group ?? '';
  if (kinds[`${apiVersion}/${plural}`] === undefined) return undefined;
  return {
    apiVersion,
    plural,
    collection: `${apiVersion}/${plural}`,
    ...(namespace === undefined ? {} : { namespace: decodeURIComponent(namespace) }),
    ...(name === undefined ? {} : { name: decodeURIComponent(name) }),
  };
}

function respond(store: Store, seen: SeenRequest, options: ApiServerOptions, oldest: number): Reply {
  try {
    return route(store, seen, options, oldest);
  } catch (error) {
    if (error instanceof Refusal) return status(error.code, error.reason, error.message, error.causes);
    return status(500, 'InternalError', String(error));
  }
}

function route(store: Store, seen: SeenRequest, options: ApiServerOptions, oldest: number): Reply {
  const url = new URL(seen.url, 'http://double');
  const query = url.searchParams;
  const fixed = fixedAnswer(url.pathname, seen, options);
  if (fixed !== undefined) return fixed;
  const proxied = /^\/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+:\d+\/proxy(\/.*)$/.exec(url.pathname);
  if (proxied !== null) {
    const answer = options.pod?.({ ...seen, podPath: `${proxied[1]}${url.search}` });
    if (answer === undefined)
      return status(
        503,
        'ServiceUnavailable',
        'error trying to reach service: dial tcp 10.0.0.1:80: connect: connection refused',
      );
    return { status: answer.status, contentType: answer.contentType ?? 'application/json', body: answer.body };
  }
  const address = parsePath(url.pathname);
  if (address === undefined) return { status: 404, contentType: 'text/plain', body: '404 page not found\n' };
  const { collection, namespace, name } = address;
  if (name === undefined) {
    if (seen.method === 'GET') return listPage(store, address, query, options, oldest);
    const body = JSON.parse(seen.body) as Record<string, unknown>;
    return json(201, store.create(collection, namespace, body));
  }
  switch (seen.method) {
    case 'GET':
      return json(200, store.get(collection, namespace, name));
    case 'PATCH': {
      const patch: unknown = JSON.parse(seen.body);
      const type = seen.headers['content-type'] ?? '';
      const dryRun = query.get('dryRun') === 'All';
      return json(
        200,
        store.change(collection, namespace, name, (before) => applyPatch(type, before, patch), dryRun),
      );
    }
    case 'DELETE': {
      const body = (seen.body === '' ? {} : JSON.parse(seen.body)) as { preconditions?: { uid?: string } };
      const gone = store.remove(collection, namespace, name, body.preconditions ?? {});
      return json(200, {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name, uid: gone.metadata.uid },
      });
    }
    default:
      return status(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
  }
}

function fixedAnswer(path: string, seen: SeenRequest, options: ApiServerOptions): Reply | undefined {
  if (path === '/version') return json(200, { major: '1', minor: '34', gitVersion: 'v1.34.0-double' });
  if (path === '/apis') {
    const groups = [...new Set(Object.keys(kinds).map((k) => k.split('/').slice(0, -1).join('/')))].filter((v) =>
      v.includes('/'),
    );
    return json(200, {
      kind: 'APIGroupList',
      groups: groups.map((groupVersion) => ({ versions: [{ groupVersion }] })),
    });
  }
  const group = /^\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))$/.exec(path);
  if (group !== null) {
    const prefix = `${group[1] ?? group[2]}/`;
    const resources = Object.entries(kinds)
      .filter(([key]) => key.startsWith(prefix) && !key.slice(prefix.length).includes('/'))
      .map(([key, value]) => ({ name: key.slice(prefix.length), ...value }));
    if (resources.length > 0) return json(200, { kind: 'APIResourceList', resources });
  }
  if (path === '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews') {
    const review = JSON.parse(seen.body) as { spec: { resourceAttributes: Record<string, unknown> } };
    const allowed = options.allow?.(review.spec.resourceAttributes) ?? true;
    const verdict =
      allowed === 'evaluation-error' ? { allowed: false, evaluationError: 'webhook: timed out' } : { allowed };
    return json(201, { ...review, kind: 'SelfSubjectAccessReview', status: verdict });
  }
  return undefined;
}

function listPage(
  store: Store,
  address: Address,
  query: URLSearchParams,
  options: ApiServerOptions,
  oldest: number,
): Reply {
  const token = query.get('continue');
  const [tokenVersion, offset] = token === null ? [store.version(), 0] : token.split(':').map(Number);
  if ((tokenVersion ?? 0) < oldest) return status(410, 'Expired', 'The provided continue parameter is too old');
  const matching = store.list(address.collection, address.namespace).filter((object) => matches(object, query));
  const asked = Number(query.get('limit') ?? matching.length) || matching.length;
  const limit = Math.min(asked, query.get('limit') === null ? asked : (options.pageLimit ?? asked));
  const from = offset ?? 0;
  const items = matching
    .slice(from, from + limit)
    .map((object) => ({ ...object, apiVersion: undefined, kind: undefined }));
  const more = from + limit < matching.length;
  return json(200, {
    kind: `${kinds[address.collection]?.kind ?? ''}List`,
    apiVersion: address.apiVersion,
    metadata: {
      resourceVersion: String(tokenVersion),
      ...(more ? { continue: `${tokenVersion}:${from + limit}` } : {}),
    },
    items,
  });
}

function matches(object: Stored, query: URLSearchParams): boolean {
  const labels = (object.metadata.labels ?? {}) as Record<string, string>;
  const terms = (query.get('labelSelector') ?? '').split(',').filter((term) => term !== '');
  const byLabel = terms.every((term) => labels[term.split('=')[0] ?? ''] === term.split('=')[1]);
  const field = query.get('fieldSelector');
  return byLabel && (field === null || field === `metadata.name=${object.metadata.name}`);
}

function json(code: number, body: object): Reply {
  return { status: code, contentType: 'application/json', body: `${JSON.stringify(body)}\n` };
}

/** A `metav1.Status` as an API server answers it. */
export function status(code: number, reason: string, message: string, causes: readonly object[] = []): Reply {
  return json(code, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    code,
    details: { ...named(message), causes },
  });
}

/** A real API server names the object that it did not find; where it does not know the resource, it names nothing. */
function named(message: string): { name?: string } {
  const name = /"([^"]+)" not found$/.exec(message)?.[1];
  return name === undefined ? {} : { name };
}

function send(response: ServerResponse, reply: Reply, fault: Fault | undefined): void {
  const bytes = Buffer.from(reply.body);
  if (fault?.kind === 'drop-reply') return void response.socket?.destroy();
  if (fault?.kind === 'hang') return;
  if (fault?.kind === 'truncate') {
    response.writeHead(reply.status, { 'content-type': reply.contentType });
    return void response.end(bytes.subarray(0, fault.after));
  }
  response.writeHead(reply.status, { 'content-type': reply.contentType, 'content-length': bytes.length });
  if (fault?.kind === 'cut') {
    response.write(bytes.subarray(0, fault.after), () => response.socket?.destroy());
    return;
  }
  if (fault?.kind === 'trickle') return trickle(response, bytes, fault.everyMs);
  response.end(bytes);
}

function trickle(response: ServerResponse, bytes: Buffer, everyMs: number): void {
  let at = 0;
  const timer = setInterval(() => {
    if (at >= bytes.length || response.destroyed) {
      clearInterval(timer);
      return void response.end();
    }
    response.write(bytes.subarray(at, ++at));
  }, everyMs);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
