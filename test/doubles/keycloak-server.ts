import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { matchEndpoint, type Matched } from '../../src/domain/keycloak-flow/endpoints.ts';
import type {
  AdminEvent,
  IdentityProvider,
  UnregisteredAction,
} from '../../src/domain/keycloak-flow/representation.ts';
import { parsePath } from '../../src/domain/keycloak-flow/request-path.ts';
import { desired, realm } from '../domain/keycloak-flow/world.ts';
import { FakeKeycloak } from '../domain/keycloak-flow/fake-keycloak.ts';
import { LoginPages } from './keycloak-login.ts';

/** Accounts that the double knows. `holdfast` may do everything, `nobody` nothing. */
const secrets: Readonly<Record<string, string>> = { holdfast: 'the secret', nobody: 'another secret' };

const providers = [
  'auth-cookie',
  'identity-provider-redirector',
  'auth-username-form',
  'webauthn-authenticator-passwordless',
  'auth-password-form',
  'conditional-user-role',
  'auth-otp-form',
];

/** Those that Keycloak 26.7.3 makes with every realm: alias, enabled, priority. */
const defaultActions: readonly (readonly [string, boolean, number])[] = [
  ['TERMS_AND_CONDITIONS', false, 20],
  ['UPDATE_PROFILE', true, 40],
  ['VERIFY_EMAIL', true, 50],
  ['CONFIGURE_TOTP', true, 54],
  ['UPDATE_PASSWORD', true, 57],
  ['delete_account', false, 60],
  ['webauthn-register', true, 80],
  ['webauthn-register-passwordless', true, 90],
  ['VERIFY_PROFILE', true, 100],
  ['delete_credential', true, 110],
  ['update_user_locale', true, 1000],
];

/** A Keycloak over HTTP, in memory: what the admin API does with the requests that Holdfast sends, and nothing else. */
export interface KeycloakServer {
  readonly url: string;
  readonly realm: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly nobody: { readonly clientId: string; readonly clientSecret: string };
  readonly fake: FakeKeycloak;
  readonly logins: LoginPages;
  readonly unregistered: UnregisteredAction[];
  readonly identityProviders: IdentityProvider[];
  /** As the administrator, below the realm. */
  ask<T = unknown>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<T>;
  /** Tokens that were given out are no longer accepted. */
  revokeTokens(): void;
  delete(): Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly body?: unknown;
}

export async function startKeycloakServer(name = 'shop'): Promise<KeycloakServer> {
  const of = desired((input) => {
    input.realm = name;
  });
  const fake = new FakeKeycloak(untouched(realm(of)));
  fake.requiredActions = defaultActions.map(([alias, enabled, priority]) => {
    return { alias, name: alias, providerId: alias, enabled, defaultAction: false, priority, config: {} };
  });
  const logins = new LoginPages(fake, name);
  const events: AdminEvent[] = [];
  const unregistered: UnregisteredAction[] = [];
  const identityProviders: IdentityProvider[] = [];
  const tokens = new Map<string, string>();
  let count = 0;

  function readList(matched: Matched, query: Readonly<Record<string, string>>): Reply {
    const page = <T>(all: readonly T[]) => {
      const first = Number(query['first'] ?? 0);
      return { status: 200, body: all.slice(first, first + Number(query['max'] ?? all.length)) };
    };
    const { flow = '', id = '' } = matched.parameters;
    switch (matched.endpoint.operation) {
      case 'readRealm':
        return { status: 200, body: fake.realm };
      case 'listFlows':
        return { status: 200, body: fake.listFlows() };
      case 'listExecutions': {
        const readBack = fake.readBack(flow);
        return readBack === null
          ? { status: 404, body: { error: 'Flow not found' } }
          : { status: 200, body: readBack.rows };
      }
      case 'readConfig': {
        const config = fake.configs.get(id);
        return config === undefined
          ? { status: 404, body: { error: 'Could not find authenticator config' } }
          : { status: 200, body: { id, ...config } };
      }
      case 'listAuthenticators':
        return { status: 200, body: providers.map((provider) => ({ id: provider })) };
      case 'listRequiredActions':
        return { status: 200, body: fake.requiredActions };
      case 'listUnregisteredActions':
        return { status: 200, body: unregistered };
      case 'listClients': {
        const { clientId } = query;
        return page(fake.clients.filter((client) => clientId === undefined || client.clientId === clientId));
      }
      case 'readClient': {
        const client = fake.clients.find((other) => other.id === id);
        return client === undefined
          ? { status: 404, body: { error: 'Could not find client' } }
          : { status: 200, body: client };
      }
      case 'listIdentityProviders':
        return page(identityProviders);
      case 'listAdminEvents':
        return page([...events].reverse());
      default:
        return { status: 405, body: { error: 'HTTP 405 Method Not Allowed' } };
    }
  }

  function serve(method: string, path: string, body: unknown, account: string): Reply {
    const parsed = parsePath(path);
    const matched = parsed.ok ? matchEndpoint(method, parsed.path) : null;
    if (!parsed.ok || matched === null)
      return { status: 404, body: { error: 'Unable to find matching target resource method' } };
    if (matched.parameters['realm'] !== name) return { status: 404, body: { error: 'Realm not found.' } };
    if (account === 'nobody') return { status: 403, body: { error: 'HTTP 403 Forbidden' } };
    if (method === 'GET') return readList(matched, parsed.path.query);
    const { status } = fake.send({ method, path, body });
    if (status >= 400) return { status, body: { errorMessage: `refused with ${status}` } };
    if (matched.endpoint.operation === 'writeRealm') {
      events.push({
        time: Date.now(),
        operationType: 'UPDATE',
        resourceType: 'REALM',
        resourcePath: null,
        representation: JSON.stringify(body),
        authDetails: { realmId: 'r1', clientId: `client of ${account}`, userId: account, ipAddress: '127.0.0.1' },
      });
    }
    return { status };
  }

  function token(form: URLSearchParams): Reply {
    const account = form.get('client_id') ?? '';
    if (secrets[account] === undefined || form.get('client_secret') !== secrets[account]) {
      const body = { error: 'invalid_client', error_description: 'Invalid client or Invalid client credentials' };
      return { status: 401, body };
    }
    count += 1;
    const payload = Buffer.from(JSON.stringify({ sub: account, jti: count })).toString('base64url');
    const value = `header.${payload}.signature`;
    tokens.set(value, account);
    return { status: 200, body: { access_token: value, expires_in: 300, token_type: 'Bearer' } };
  }

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const [method, path] = [incoming.method ?? 'GET', incoming.url ?? '/'];
    if (path === `/realms/${name}/protocol/openid-connect/token`) {
      answer(outgoing, token(new URLSearchParams(text)));
      return;
    }
    const login = logins.answer(method, path, new URLSearchParams(text), incoming.headers.cookie ?? '');
    if (login !== null) {
      outgoing.writeHead(login.status, login.headers);
      outgoing.end(login.text);
      return;
    }
    const account = tokens.get((incoming.headers.authorization ?? '').replace('Bearer ', ''));
    const reply: Reply =
      account === undefined
        ? { status: 401, body: { error: 'HTTP 401 Unauthorized' } }
        : serve(method, path, text === '' ? undefined : JSON.parse(text), account);
    answer(outgoing, reply);
  }

  function answer(outgoing: ServerResponse, { status, body }: Reply): void {
    outgoing.writeHead(status, body === undefined ? {} : { 'content-type': 'application/json' });
    outgoing.end(body === undefined ? '' : JSON.stringify(body));
  }

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => answer(outgoing, { status: 500, body: { error: 'unknown_error' } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    realm: name,
    clientId: 'holdfast',
    clientSecret: secrets['holdfast'] ?? '',
    nobody: { clientId: 'nobody', clientSecret: secrets['nobody'] ?? '' },
    fake,
    logins,
    unregistered,
    identityProviders,
    ask<T>(method: string, path: string, body?: unknown): Promise<T> {
      const reply = serve(method, `/admin/realms/${name}${path}`, body, 'administrator');
      if (reply.status >= 300) return Promise.reject(new Error(`${method} ${path}: ${reply.status}`));
      return Promise.resolve(structuredClone(reply.body ?? null) as T);
    },
    revokeTokens: () => tokens.clear(),
    async delete() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A realm nobody has declared anything for. */
function untouched(declared: ReturnType<typeof realm>): ReturnType<typeof realm> {
  return {
    ...declared,
    webAuthnPolicyPasswordlessRpEntityName: 'keycloak',
    webAuthnPolicyPasswordlessRpId: '',
    webAuthnPolicyPasswordlessRequireResidentKey: 'not specified',
    webAuthnPolicyPasswordlessResidentKey: 'required',
    webAuthnPolicyPasswordlessCreateTimeout: 0,
    webAuthnPolicyPasswordlessAvoidSameAuthenticatorRegister: false,
    webAuthnPolicyPasswordlessAttestationConveyancePreference: 'not specified',
  };
}
