import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import type { KubeObject, KubernetesPort } from '../kubernetes/port.ts';
import { resolveReference, type Reference, type ReferenceSource } from '../notify/reference.ts';
import type { ClientCredentials } from './config.ts';

/** One key of a Kubernetes Secret. */
export interface SecretKey {
  readonly secret: {
    /** One of the worker's clusters. */
    readonly cluster: string;
    readonly namespace: string;
    readonly name: string;
    readonly key: string;
  };
}

/** Where a part of the credentials stands: the environment, a file, or a Secret. */
export type CredentialReference = Reference | SecretKey;

/** What references are looked up in. */
export interface CredentialSources extends ReferenceSource {
  /** The cluster of that name; null where this worker has none. */
  readonly kubernetes: (cluster: string) => KubernetesPort | null;
}

interface Secret extends KubeObject {
  /** Base64 by key. */
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * Reads client id and secret anew each time that it is called, which is at each renewal of the token. What cannot be read
 * is named by where it stands, never by what it is.
 */
export function credentialsFrom(
  clientId: CredentialReference,
  clientSecret: CredentialReference,
  sources: CredentialSources,
): () => Promise<Reading<ClientCredentials>> {
  return async () => {
    const id = await resolve(clientId, sources);
    if (id.kind === 'unmeasured') return id;
    const secret = await resolve(clientSecret, sources);
    if (secret.kind === 'unmeasured') return secret;
    return read({ clientId: id.value, clientSecret: secret.value });
  };
}

/**
 * Reads secrets by the names that the worker's configuration gives them, anew each time.
 *
 * @param references where each stands
 */
export function secretsFrom(
  references: Readonly<Record<string, CredentialReference>>,
  sources: CredentialSources,
): (name: string) => Promise<Reading<string>> {
  return async (name) => {
    const reference = Object.hasOwn(references, name) ? references[name] : undefined;
    if (reference !== undefined) return resolve(reference, sources);
    return missing(`there is no "${name}" under secrets: in the worker's configuration`);
  };
}

async function resolve(reference: CredentialReference, sources: CredentialSources): Promise<Reading<string>> {
  if ('secret' in reference) return resolveSecret(reference, sources);
  const resolved = await resolveReference(reference, sources);
  return resolved.ok ? read(resolved.value) : missing(resolved.message);
}

async function resolveSecret({ secret }: SecretKey, { kubernetes }: CredentialSources): Promise<Reading<string>> {
  const { cluster, namespace, name, key } = secret;
  const where = `key ${key} of Secret ${namespace}/${name}`;
  const port = kubernetes(cluster);
  if (port === null) return missing(`this worker has no cluster "${cluster}", in which ${where} is`);
  const found = await port.get<Secret>({ apiVersion: 'v1', kind: 'Secret', namespace, name });
  if (found.kind === 'unmeasured') return found;
  const { data = {} } = found.value;
  const encoded = Object.hasOwn(data, key) ? (data[key] ?? '') : '';
  const value = Buffer.from(encoded, 'base64').toString('utf8').trim();
  return value === '' ? missing(`${where} is not there or empty`) : read(value);
}

function missing(message: string): Reading<string> {
  return unmeasured('a secret', 'this worker', 'missing', message);
}
