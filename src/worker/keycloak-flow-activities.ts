import { readFile } from 'node:fs/promises';
import { createKeycloakClient, type KeycloakClient } from '../activities/keycloak/client.ts';
import { createKeycloakFlowActivities } from '../activities/keycloak/create.ts';
import { credentialsFrom, secretsFrom } from '../activities/keycloak/credentials.ts';
import type { KeycloakFlowDependencies } from '../activities/keycloak/dependencies.ts';
import type { KeycloakFlowActivities } from '../activities/keycloak/port.ts';
import type { KubernetesPort } from '../activities/kubernetes/port.ts';
import type { Reading } from '../domain/core/verdict.ts';
import type { WorkerConfig } from './config.ts';

/**
 * The activities of KeycloakFlows over the Keycloak servers of a configuration.
 *
 * @param kubernetes the cluster of that name; null where this worker has none
 */
export function keycloakFlowActivities(
  config: WorkerConfig,
  kubernetes: (cluster: string) => KubernetesPort | null,
): KeycloakFlowActivities {
  return createKeycloakFlowActivities(keycloakFlowDependencies(config, kubernetes));
}

/**
 * What KeycloakFlows reach the world through, as a configuration says.
 *
 * @param kubernetes the cluster of that name; null where this worker has none
 */
export function keycloakFlowDependencies(
  config: WorkerConfig,
  kubernetes: (cluster: string) => KubernetesPort | null,
): KeycloakFlowDependencies & { readonly secret: (name: string) => Promise<Reading<string>> } {
  const sources = {
    env: (variable: string) => process.env[variable],
    readFile: (path: string) => readFile(path, 'utf8'),
    kubernetes,
  };
  const servers = new Map<string, KeycloakClient>();
  for (const [name, { clientId, clientSecret, caFile, ...server }] of Object.entries(config.keycloak)) {
    const credentials = credentialsFrom(clientId, clientSecret, sources);
    servers.set(name, createKeycloakClient({ ...server, credentials, ...(caFile === undefined ? {} : { caFile }) }));
  }
  return {
    keycloak: (name) => servers.get(name) ?? null,
    kubernetes,
    readFile: sources.readFile,
    secret: secretsFrom(config.secrets, sources),
  };
}
