import { own } from '../../domain/core/own.ts';
import { readFile } from 'node:fs/promises';
import { getCACertificates } from 'node:tls';
import { Agent, EnvHttpProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import type { RegistrySettings } from './config.ts';
import { RegistryFault } from './errors.ts';

/** Where a registry is, and the connections to it. */
export interface Connection {
  /** `https://host`, the API below it. */
  readonly base: URL;
  readonly dispatcher: Dispatcher;
}

/** More than these at once would look like an attack to a registry that a whole fleet shares. */
const connectionsPerHost = 8;

/** Docker Hub's API does not live under its name. */
const apiHosts: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' };

/**
 * Opens nothing yet; the proxy variables of the environment (`HTTPS_PROXY`, `NO_PROXY` …) are honoured.
 *
 * @throws RegistryFault where the CA file cannot be read
 */
export async function connect(registry: string, settings: RegistrySettings, timeoutMs: number): Promise<Connection> {
  const scheme = settings.plainHttp === true ? 'http' : 'https';
  const base = new URL(`${scheme}://${own(apiHosts, registry) ?? registry}`);
  const tls = settings.caFile === undefined ? {} : { ca: await authorities(settings.caFile) };
  const connector = { timeout: timeoutMs, ...tls };
  const options = { connections: connectionsPerHost, connect: connector };
  const dispatcher = behindProxy() ? new EnvHttpProxyAgent({ ...options, requestTls: tls }) : new Agent(options);
  return { base, dispatcher };
}

async function authorities(file: string): Promise<string[]> {
  let pem: string;
  try {
    pem = await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new RegistryFault('error', `the CA file ${file} cannot be read (${code})`);
  }
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    throw new RegistryFault('unparsed', `the CA file ${file} holds no PEM certificate`);
  }
  // Node takes `ca` in place of what it trusts otherwise.
  return [...getCACertificates('default'), pem];
}

function behindProxy(): boolean {
  return ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].some((name) => process.env[name]);
}
