import { createHash, randomBytes } from 'node:crypto';
import { read, type Reading, type Unmeasured } from '../../domain/core/verdict.ts';
import type { LoginEnd } from '../../domain/keycloak-flow/proof.ts';
import { formatPath } from '../../domain/keycloak-flow/request-path.ts';
import { sleep } from '../wait-context.ts';
import type { Browsed, KeycloakClient, LoginRequest } from './client.ts';
import { createCookieJar } from './cookie-jar.ts';
import type { HtmlForm } from './html-forms.ts';
import { has, isAction, readLoginPage, type LoginPage } from './login-page.ts';
import { loginUnread, readDestination } from './login-place.ts';
import { totp, type TotpPolicy } from './totp.ts';

/** Which client logs in where, and what is tried. */
export interface LoginAttempt {
  readonly realm: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** Ids of the candidate's executions: a page of any other flow says nothing about it. */
  readonly executions: ReadonlySet<string>;
  readonly username: string;
  /** Null where only the username is given. */
  readonly password: string | null;
  /** Null where no one-time password is given. */
  readonly otp: { readonly key: Uint8Array; readonly policy: TotpPolicy } | null;
}

export interface LoginPorts {
  readonly browse: KeycloakClient['browse'];
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** Where a login stands. */
type Place = { readonly kind: 'code' } | { readonly kind: 'page'; readonly page: LoginPage } | Unmeasured;

/** More pages than any flow has. */
const mostPages = 12;
const mostRedirects = 6;

/**
 * One login with the authorization code flow (RFC 6749 4.1, RFC 7636), page by page as a browser would, until it comes to
 * a code or to a page that it has nothing for. Each factor is given once; a one-time password that was not taken a second
 * time with the next code, since one that was used moments ago is not taken again. An enrolment page is never submitted,
 * the redirect URI never opened, and the code neither kept nor exchanged.
 *
 * @throws what the signal aborts with
 */
export async function logIn(ports: LoginPorts, attempt: LoginAttempt): Promise<Reading<LoginEnd>> {
  const login = new Login(ports, attempt);
  return login.run();
}

class Login {
  readonly #ports: LoginPorts;
  readonly #attempt: LoginAttempt;
  readonly #jar: ReturnType<typeof createCookieJar>;
  readonly #state = randomBytes(16).toString('base64url');
  #given = { username: false, password: false, otp: 0 };
  /** When the last one-time password was made. */
  #otpAt = 0;

  constructor(ports: LoginPorts, attempt: LoginAttempt) {
    this.#ports = ports;
    this.#attempt = attempt;
    this.#jar = createCookieJar(ports.clock);
  }

  async run(): Promise<Reading<LoginEnd>> {
    let place = await this.#open();
    for (let count = 0; count < mostPages; count++) {
      if (place.kind === 'unmeasured') return place;
      if (place.kind === 'code') return read({ kind: 'code' });
      const { page, form } = place.page;
      const answers = form === null ? null : await this.#answersTo(page, form);
      if (form === null || answers === null) return read({ kind: 'page', page });
      place = await this.#submit(form, answers);
    }
    return loginUnread('error', `a login came to no end within ${mostPages} pages`);
  }

  async #open(): Promise<Place> {
    const { realm, clientId, redirectUri } = this.#attempt;
    // The verifier is for the exchange of the code, which never comes.
    const challenge = createHash('sha256').update(randomBytes(32).toString('base64url')).digest('base64url');
    const path = formatPath(['realms', realm, 'protocol', 'openid-connect', 'auth'], {
      response_type: 'code',
      scope: 'openid',
      client_id: clientId,
      redirect_uri: redirectUri,
      state: this.#state,
      nonce: randomBytes(16).toString('base64url'),
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    const place = await this.#go({ method: 'GET', path });
    if (place.kind !== 'page' || place.page.page !== 'error') return place;
    const advice = 'look at whether the probe client is on, has the standard flow and allows the redirect URI';
    return loginUnread('error', `a login was refused before it began; ${advice}`);
  }

  async #submit(form: HtmlForm, answers: Readonly<Record<string, string>>): Promise<Place> {
    const to = readDestination(form.action, this.#attempt.redirectUri);
    if (to.kind !== 'step' || form.method !== 'post') {
      return loginUnread('unparsed', 'a page of the login submits to what is no step of it');
    }
    return this.#go({ method: 'POST', path: to.path, form: { ...prefilled(form), ...answers } });
  }

  /** What is filled in; null where there is nothing left for a page. */
  async #answersTo(page: LoginPage['page'], form: HtmlForm): Promise<Record<string, string> | null> {
    const { username, password } = this.#attempt;
    const given = this.#given;
    switch (page) {
      case 'username': {
        if (given.username) return null;
        given.username = true;
        if (!has(form, 'password')) return { username };
        given.password = true;
        return { username, password: password ?? '' };
      }
      case 'password': {
        if (password === null || given.password) return null;
        given.password = true;
        return { password };
      }
      case 'otp': {
        const code = await this.#nextOtp();
        return code === null ? null : { otp: code };
      }
      default:
        return null;
    }
  }

  async #nextOtp(): Promise<string | null> {
    const { otp } = this.#attempt;
    const { clock, signal } = this.#ports;
    if (otp === null || this.#given.otp >= 2) return null;
    const { periodMs } = otp.policy;
    if (this.#given.otp === 1) {
      const next = (Math.floor(this.#otpAt / periodMs) + 1) * periodMs;
      await sleep(next - clock(), signal);
    }
    this.#given.otp += 1;
    this.#otpAt = clock();
    return totp(otp.key, otp.policy, this.#otpAt);
  }

  /** Asks for a step, and follows redirects within the realm. */
  async #go(first: Omit<LoginRequest, 'cookie'>): Promise<Place> {
    let step = first;
    for (let count = 0; count <= mostRedirects; count++) {
      const { realm, redirectUri } = this.#attempt;
      const browsed = await this.#ports.browse({ ...step, cookie: this.#jar.header() }, realm, this.#ports.signal);
      if (browsed.kind === 'failed') return browsed.reading;
      if (browsed.kind === 'refused') {
        return loginUnread('error', `the login leaves what a proof may ask for: ${browsed.refusal.reason}`);
      }
      this.#jar.keep(browsed.setCookies);
      if (browsed.status < 300 || browsed.status >= 400) return this.#arrived(browsed);
      const to = readDestination(browsed.location ?? '', redirectUri);
      if (to.kind === 'elsewhere') {
        return loginUnread('unparsed', 'the login is sent out of the realm, such as to an identity provider');
      }
      if (to.kind === 'client') return this.#atClient(to);
      step = { method: 'GET', path: to.path };
    }
    return loginUnread('error', `a login was redirected more than ${mostRedirects} times`);
  }

  #atClient({ error, state }: { readonly error: string | null; readonly state: string | null }): Place {
    if (state !== this.#state) return loginUnread('unparsed', 'a login came back with a state that is not its own');
    if (error === null) return { kind: 'code' };
    // Denied is what an authenticator answers. The others say that the request itself was not taken.
    if (error === 'access_denied') return { kind: 'page', page: { page: 'error', form: null } };
    const name = /^[a-z_]{1,60}$/.test(error) ? error : 'an error';
    return loginUnread('error', `the login came back to the client with ${name} instead of a code`);
  }

  #arrived({ status, text }: Extract<Browsed, { kind: 'answered' }>): Place {
    if (status === 429) return loginUnread('throttled', 'a page of the login was answered with 429');
    if (status >= 500) return loginUnread('unreachable', `a page of the login was answered with ${status}`);
    const page = readLoginPage(text);
    if (page === null) {
      const advice = "a proof reads pages of Keycloak's own login themes and of themes that keep their forms";
      return loginUnread('unparsed', `a page of the login (${status}) is not known; ${advice}`);
    }
    const stray = page.form === null || isAction(page.form) ? null : this.#stray(page.form);
    return stray === null ? { kind: 'page', page } : loginUnread('not-ready', stray);
  }

  /** Why a page is none of the candidate's; null where it is. */
  #stray(form: HtmlForm): string | null {
    const to = readDestination(form.action, this.#attempt.redirectUri);
    const execution = to.kind === 'step' ? (to.query['execution'] ?? '') : '';
    if (this.#attempt.executions.has(execution)) return null;
    return 'the login goes through another flow than the candidate: the override of the probe client is not in force';
  }
}

/** What a browser would send of a form that nobody fills in. */
function prefilled({ fields }: HtmlForm): Record<string, string> {
  const kept = fields.filter(({ name, type, checked }) => {
    if (name === '') return false;
    return type === 'hidden' || ((type === 'radio' || type === 'checkbox') && checked);
  });
  return Object.fromEntries(kept.map(({ name, value }) => [name, value]));
}
