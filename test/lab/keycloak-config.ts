import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestRealm } from './keycloak-realm.ts';

/** A secret in a file of its own, as a worker's configuration names it. */
export function secretFile(folder: string, name: string, value: string): { readonly file: string } {
  const file = join(folder, name);
  writeFileSync(file, value, { mode: 0o600 });
  return { file };
}

/**
 * What a worker's configuration says of the Keycloak of a realm, with the credentials in files of the folder.
 *
 * @param url where the worker reaches it [the realm's own server]
 */
export function keycloakConfig(
  folder: string,
  realm: Pick<TestRealm, 'url' | 'realm' | 'clientId' | 'clientSecret'>,
  url = realm.url,
): object {
  return {
    url,
    plainHttp: true,
    tokenRealm: realm.realm,
    clientId: secretFile(folder, 'client-id', realm.clientId),
    clientSecret: secretFile(folder, 'client-secret', realm.clientSecret),
  };
}
