import { request } from 'undici';
import type { KeycloakAccess } from './parts/keycloak.ts';

/** An answer of Keycloak that is no success. */
export class KeycloakApiError extends Error {
  override readonly name = 'KeycloakApiError';
  readonly status: number;

  constructor(what: string, status: number, body: string) {
    super(`${what}: ${status} ${body.slice(0, 500)}`.trimEnd());
    this.status = status;
  }
}

/** The lab's own way to Keycloak, as its administrator: what tests prepare and look at, and nothing of the product's client. */
export interface KeycloakAdmin {
  readonly url: string;
  /**
   * @param path from `/admin/realms` on, such as `/shop/clients`; empty for the list of realms
   * @returns the parsed answer; null where it is empty
   * @throws KeycloakApiError on every answer that is no success
   */
  ask<T = unknown>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<T>;
}

/** Tokens live for a minute; one is renewed well before. */
const renewAfterMs = 30_000;
/** A realm that is made waits for another one that is being deleted, and both take long on a busy machine. */
const patienceMs = 150_000;

export function keycloakAdmin({ url, password }: KeycloakAccess): KeycloakAdmin {
  let token: { readonly value: string; readonly until: number } | null = null;

  async function bearer(): Promise<string> {
    if (token !== null && token.until > Date.now()) return token.value;
    const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password };
    const answer = await request(`${url}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new KeycloakApiError('the administrator logs in', answer.statusCode, text);
    const { access_token: value } = JSON.parse(text) as { access_token: string };
    token = { value, until: Date.now() + renewAfterMs };
    return value;
  }

  return {
    url,
    async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
      const answer = await request(`${url}/admin/realms${path}`, {
        method,
        headers: {
          authorization: `Bearer ${await bearer()}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        headersTimeout: patienceMs,
        bodyTimeout: patienceMs,
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw new KeycloakApiError(`${method} ${path}`, answer.statusCode, text);
      return (text === '' ? null : JSON.parse(text)) as T;
    },
  };
}
