import { randomUUID } from 'node:crypto';
import { isSubFlow } from '../../src/domain/keycloak-flow/tree.ts';
import type { ExecutionRow } from '../../src/domain/keycloak-flow/representation.ts';
import type { FakeKeycloak } from '../domain/keycloak-flow/fake-keycloak.ts';
import { recordedPage, type RecordedPage } from '../unit/keycloak/recorded-pages.ts';

/** Somebody who can log in. */
export interface LoginUser {
  readonly username: string;
  readonly password: string;
  readonly roles: readonly string[];
  /** Says whether a one-time password is taken; null for somebody who has none. */
  readonly otp: ((code: string) => boolean) | null;
}

export interface LoginReply {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface LoginSession {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
  user: LoginUser | undefined;
  username: boolean;
  password: boolean;
  otp: boolean;
  /** The factor that was given last was the wrong one. */
  wrong: boolean;
}

/**
 * The login pages of a realm, in memory: a username form, a password form and an OTP form that a role asks for, as far as
 * the rows of the flow that is bound or overridden have them. The pages are recorded ones.
 */
export class LoginPages {
  readonly users: LoginUser[] = [];
  readonly #fake: FakeKeycloak;
  readonly #realm: string;
  readonly #sessions = new Map<string, LoginSession>();

  constructor(fake: FakeKeycloak, realm: string) {
    this.#fake = fake;
    this.#realm = realm;
  }

  /** Null for what is no page of a login. */
  answer(method: string, path: string, form: URLSearchParams, cookie: string): LoginReply | null {
    const url = new URL(path, 'https://login.example.com');
    const under = `/realms/${this.#realm}`;
    if (method === 'GET' && url.pathname === `${under}/protocol/openid-connect/auth`) return this.#open(url);
    const id = /session=([\w-]+)/.exec(cookie)?.[1] ?? '';
    const session = this.#sessions.get(id);
    if (url.pathname === `${under}/login-actions/required-action` && method === 'GET') {
      return page('enrolment', 'CONFIGURE_TOTP');
    }
    if (url.pathname !== `${under}/login-actions/authenticate` || session === undefined) return null;
    if (method === 'POST') this.#take(session, form);
    return this.#next(session);
  }

  #open({ searchParams }: URL): LoginReply {
    const [clientId, redirectUri] = [searchParams.get('client_id') ?? '', searchParams.get('redirect_uri') ?? ''];
    const client = this.#fake.clients.find((other) => other.clientId === clientId);
    const allowed = (client?.['redirectUris'] ?? []) as readonly string[];
    if (!allowed.includes(redirectUri)) return { ...page('error', ''), status: 400 };
    const id = randomUUID();
    const state = searchParams.get('state') ?? '';
    const nothing = { user: undefined, username: false, password: false, otp: false, wrong: false };
    const session = { clientId, redirectUri, state, ...nothing };
    this.#sessions.set(id, session);
    const { status, text, headers } = this.#next(session);
    return { status, text, headers: { ...headers, 'set-cookie': `session=${id}; Path=/realms/${this.#realm}/` } };
  }

  #take(session: LoginSession, form: URLSearchParams): void {
    session.wrong = false;
    const [username, password, otp] = [form.get('username'), form.get('password'), form.get('otp')];
    if (username !== null) {
      session.user = this.users.find((user) => user.username === username);
      session.username = true;
    }
    if (password !== null) session.password = session.user?.password === password;
    if (otp !== null) session.otp = session.user?.otp?.(otp) ?? false;
    session.wrong = (password !== null && !session.password) || (otp !== null && !session.otp);
  }

  #next(session: LoginSession): LoginReply {
    const rows = this.#rows(session.clientId);
    const row = (provider: string) => rows.find(({ providerId }) => providerId === provider);
    const [username, password, otp] = ['auth-username-form', 'auth-password-form', 'auth-otp-form'].map(row);
    if (username !== undefined && !session.username) return page('username', username.id);
    if (password !== undefined && !session.password) return page(session.wrong ? 'wrong' : 'password', password.id);
    const config = this.#fake.configs.get(row('conditional-user-role')?.authenticationConfig ?? '')?.config ?? {};
    const asked = session.user?.roles.includes(config['condUserRole'] ?? '') === true;
    if (otp !== undefined && asked && !session.otp) {
      if (session.user?.otp !== null) return page('otp', otp.id);
      return redirect(
        `https://login.example.com/realms/${this.#realm}/login-actions/required-action?execution=CONFIGURE_TOTP`,
      );
    }
    const query = new URLSearchParams({ state: session.state, code: randomUUID() });
    return redirect(`${session.redirectUri}?${query.toString()}`);
  }

  /** Of the flow that the client is aimed at, or that is bound; without those that are off. */
  #rows(clientId: string): readonly ExecutionRow[] {
    const client = this.#fake.clients.find((other) => other.clientId === clientId);
    const aim = client?.authenticationFlowBindingOverrides?.['browser'] ?? '';
    const flow = this.#fake.flows.find((other) => other.id === aim);
    const rows = this.#fake.readBack(flow?.alias ?? this.#fake.realm.browserFlow)?.rows ?? [];
    return rows.filter((row) => !isSubFlow(row) && row.requirement !== 'DISABLED');
  }
}

function page(name: RecordedPage, execution: string): LoginReply {
  const text = recordedPage(name).replaceAll(/execution=[\w-]+/g, `execution=${execution}`);
  return { status: 200, text, headers: { 'content-type': 'text/html' } };
}

function redirect(location: string): LoginReply {
  return { status: 302, text: '', headers: { location } };
}
