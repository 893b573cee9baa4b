import { own } from '../../domain/core/own.ts';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import type { RegistryConfig, SecretReference } from './config.ts';
import { askCredentialHelper } from './credential-helper.ts';
import type { DockerConfig, DockerEntry } from './docker-config.ts';
import { findDockerEntry, parseDockerConfig } from './docker-config.ts';
import { RegistryFault } from './errors.ts';

/** Who asks. */
export type Credentials = { readonly kind: 'anonymous' } | Exclude<DockerEntry, { kind: 'helper' }>;

/** Gives credentials; they are read anew each time they are asked for, so that a rotated file is honoured. */
export interface CredentialSource {
  /** @throws RegistryFault where credentials were configured and cannot be read: that is not the same as having none */
  find(registry: string, imagePath: string): Promise<Credentials>;
}

const anonymous: Credentials = { kind: 'anonymous' };

/** In this order: the registry's own user, the Secret's text, docker's configuration, nobody. */
export function createCredentialSource(config: RegistryConfig): CredentialSource {
  return {
    async find(registry, imagePath) {
      const settings = own(config.registries ?? {}, registry);
      if (settings?.username !== undefined) {
        if (settings.password === undefined) {
          throw new RegistryFault('denied', `registry ${registry} has a username but no password in the configuration`);
        }
        return { kind: 'basic', username: settings.username, password: await readSecret(settings.password) };
      }
      for (const docker of await readDockerConfigs(config)) {
        const found = await ask(findDockerEntry(docker, registry, imagePath));
        if (found !== null) return found;
      }
      return anonymous;
    },
  };
}

async function ask(entry: DockerEntry | null): Promise<Credentials | null> {
  if (entry?.kind !== 'helper') return entry;
  const answer = await askCredentialHelper(entry.helper, entry.server);
  return answer?.kind === 'helper' ? null : answer;
}

async function readDockerConfigs(config: RegistryConfig): Promise<readonly DockerConfig[]> {
  const configs: DockerConfig[] = [];
  if (config.dockerConfigJson !== undefined) {
    configs.push(parseDockerConfig(await readSecretText(config.dockerConfigJson), 'the registry Secret'));
  }
  const named = config.dockerConfig;
  const file = named ?? path.join(process.env['DOCKER_CONFIG'] ?? path.join(homedir(), '.docker'), 'config.json');
  const content = await readOptional(file, named !== undefined);
  if (content !== null) configs.push(parseDockerConfig(content, `docker configuration ${file}`));
  return configs;
}

async function readSecretText(readText: () => Promise<string>): Promise<string> {
  try {
    return await readText();
  } catch (error) {
    if (error instanceof RegistryFault) throw error;
    throw new RegistryFault('error', 'the registry Secret could not be read');
  }
}

async function readOptional(file: string, required: boolean): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (!required && (code === 'ENOENT' || code === 'ENOTDIR')) return null;
    throw new RegistryFault('error', `docker configuration ${file} cannot be read (${code})`);
  }
}

async function readSecret(reference: SecretReference): Promise<string> {
  if ('env' in reference) {
    const value = process.env[reference.env];
    if (value) return value;
    throw new RegistryFault('denied', `environment variable ${reference.env}, the registry's password, is not set`);
  }
  try {
    return (await readFile(reference.file, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    throw new RegistryFault(
      'denied',
      `the registry's password file ${reference.file} cannot be read (${errorCode(error)})`,
    );
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
}
