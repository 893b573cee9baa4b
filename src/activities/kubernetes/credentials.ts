import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import { Agent, ProxyAgent, Socks5ProxyAgent } from 'undici';
import type { buildConnector, Dispatcher } from 'undici';
import type { Loaded } from './kubeconfig.ts';

type BuildOptions = buildConnector.BuildOptions;

/** What one request needs to be let in: the connections to use (they hold TLS and client certificate) and headers. */
export interface Access {
  readonly dispatcher: Dispatcher;
  readonly headers: Readonly<Record<string, string | string[]>>;
}

export type AccessResult =
  { readonly kind: 'access'; readonly access: Access } | { readonly kind: 'refused'; readonly message: string };

export interface Credentials {
  readonly server: string;
  /** Never throws: a credential plugin that fails or hangs is an answer, too. */
  access(): Promise<AccessResult>;
  /**
   * Called after a 401: loads everything anew (files, plugins, tokens).
   * @returns whether there is now something else to try than `refused`.
   */
  renew(refused: Access): Promise<boolean>;
  close(): Promise<void>;
}

/** Files and plugin answers are looked at again after this long. A token that expires within it meets a 401 and renews. */
const freshMs = 10_000;
/** Refused credentials start a plugin at most this often. */
const renewEveryMs = 5_000;
const pluginTimeoutMs = 60_000;

/** Credentials of one cluster, kept fresh. Tests pass their own clock. */
export function createCredentials(
  first: Loaded,
  load: () => Promise<Loaded>,
  now: () => number = Date.now,
): Credentials {
  let loaded = first;
  let current: { readonly access: Access; readonly at: number } | undefined;
  let pending: Promise<AccessResult> | undefined;
  let renewedAt = Number.NEGATIVE_INFINITY;
  let connections: { readonly key: string; readonly dispatcher: Dispatcher } | undefined;

  function access(): Promise<AccessResult> {
    if (current !== undefined && now() - current.at < freshMs)
      return Promise.resolve({ kind: 'access', access: current.access });
    // One at a time: client-node would start a plugin once per waiting request.
    pending ??= obtain().finally(() => (pending = undefined));
    return pending;
  }

  async function obtain(): Promise<AccessResult> {
    try {
      const options = await withTimeout(authenticate(loaded));
      const dispatcher = dispatcherFor(options);
      const made: Access = { dispatcher, headers: { ...loaded.headers, ...headersOf(options) } };
      current = { access: made, at: now() };
      return { kind: 'access', access: made };
    } catch (error) {
      // Only the code: a plugin's own words may hold what it was given.
      const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
      const user = loaded.kubeConfig.getCurrentUser()?.name ?? 'nobody';
      return {
        kind: 'refused',
        message: `no credentials for the user "${user}" of the kubeconfig${code}; try them with kubectl`,
      };
    }
  }

  function dispatcherFor(options: RequestOptions): Dispatcher {
    const tls = tlsOf(options);
    const key = createHash('sha256')
      .update(JSON.stringify([loaded.cluster.proxyUrl, tls]))
      .digest('hex');
    if (connections?.key === key) return connections.dispatcher;
    // Rotated certificates: what is under way (watches) ends with the old ones, by itself.
    void connections?.dispatcher.close().catch(() => undefined);
    connections = { key, dispatcher: createDispatcher(tls, loaded.cluster.proxyUrl) };
    return connections.dispatcher;
  }

  return {
    server: first.cluster.server,
    access,
    async renew(refused) {
      if (current !== undefined && current.access !== refused && different(current.access, refused)) return true;
      if (now() - renewedAt < renewEveryMs) return false;
      renewedAt = now();
      try {
        loaded = await load();
      } catch {
        return false;
      }
      current = undefined;
      const renewed = await access();
      return renewed.kind === 'access' && different(renewed.access, refused);
    },
    async close() {
      await connections?.dispatcher.destroy();
      connections = undefined;
      current = undefined;
    },
  };
}

async function authenticate(loaded: Loaded): Promise<RequestOptions> {
  const options: RequestOptions = {};
  // Over plain HTTP everyone on the way reads along: no credentials, as with kubectl.
  if (loaded.cluster.server.startsWith('http:')) return options;
  await loaded.kubeConfig.applyToHTTPSOptions(options);
  return options;
}

function headersOf(options: RequestOptions): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [key, value] of Object.entries(options.headers ?? {})) {
    // A token file ends with a new line more often than not.
    if (typeof value === 'string') headers[key] = value.trim();
    else if (Array.isArray(value)) headers[key] = value.map(String);
  }
  if (typeof options.auth === 'string') headers.Authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return headers;
}

function different(a: Access, b: Access): boolean {
  return a.dispatcher !== b.dispatcher || JSON.stringify(a.headers) !== JSON.stringify(b.headers);
}

/**
 * HTTP/1.1 on purpose: a watch has a connection of its own, so that one dead connection is one interrupted watch. TCP
 * keep-alive finds a peer that vanished without a word in about half a minute.
 */
function createDispatcher(tls: BuildOptions, proxy: string | undefined): Dispatcher {
  const connect = { timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 15_000 };
  if (proxy === undefined) return new Agent({ allowH2: false, connect: { ...tls, ...connect } });
  if (proxy.startsWith('socks')) {
    return new Socks5ProxyAgent(proxy.replace(/^socks\w*:/, 'socks5:'), { allowH2: false, requestTls: tls });
  }
  return new ProxyAgent({ allowH2: false, uri: proxy, requestTls: tls, connect });
}

/** The TLS part of the options that client-node fills in. */
function tlsOf(options: RequestOptions): BuildOptions {
  const tls: BuildOptions = {};
  if (options.ca) tls.ca = options.ca;
  if (options.cert) tls.cert = options.cert;
  if (options.key) tls.key = options.key;
  if (options.pfx) tls.pfx = options.pfx;
  if (options.passphrase) tls.passphrase = options.passphrase;
  if (options.servername) tls.servername = options.servername;
  if (options.rejectUnauthorized === false) tls.rejectUnauthorized = false;
  return tls;
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('timed out'), { code: 'TIMEOUT' })), pluginTimeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
