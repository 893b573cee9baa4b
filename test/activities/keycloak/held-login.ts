import { createHash, randomBytes } from 'node:crypto';
import { request } from 'undici';
import { createCookieJar } from '../../../src/activities/keycloak/cookie-jar.ts';
import type { HtmlForm } from '../../../src/activities/keycloak/html-forms.ts';
import { has, readLoginPage, type LoginPage } from '../../../src/activities/keycloak/login-page.ts';
import { decodeBase32, totp } from '../../../src/activities/keycloak/totp.ts';
import type { SoftwarePasskey } from '../../lab/software-passkey.ts';
import { otpPolicy } from './probe-users.ts';

/** The pages that a person can be on when a flow changes. */
export const heldPages = ['username', 'password', 'otp', 'passkey'] as const;
export type HeldPage = (typeof heldPages)[number];

/**
 * How it goes on for whoever was on a page: as if nothing had happened; by giving once more what was given before; or with
 * an error page. `elsewhere` is what none of that is, such as a login that leads to no end.
 */
export type HeldEnd = 'completed' | 'askedAgain' | 'errorPage' | 'elsewhere';

export interface HeldUser {
  readonly id: string;
  readonly username: string;
  readonly password: string;
  /** Base32; null where the user has none. */
  readonly totp: string | null;
  readonly passkey: SoftwarePasskey | null;
}

export interface HeldPlace {
  /** Of the server: `http://127.0.0.1:port`. Browsers know it as `localhost`. */
  readonly url: string;
  readonly realm: string;
  readonly clientId: string;
  readonly redirectUri: string;
}

/** Somebody on a page of a login, who has not gone on yet. */
export interface HeldLogin {
  readonly page: LoginPage['page'] | 'code';
  /** Fills in what is asked for, page after page, until there is a code or an error. */
  goOn(): Promise<HeldEnd>;
}

type Place = { readonly kind: 'code' } | { readonly kind: 'page'; readonly page: LoginPage; readonly html: string };

const mostSteps = 12;

/** Opens a login and goes on until a page. @throws Error where it does not come to that page */
export async function holdLogin(place: HeldPlace, user: HeldUser, until: HeldPage): Promise<HeldLogin> {
  const login = openHeldLogin(place, user);
  let at = await login.open();
  for (let step = 0; step < mostSteps && at.kind === 'page' && at.page.page !== until; step++) {
    at = await login.submit(at);
  }
  if (at.kind === 'code' || at.page.page !== until) {
    throw new Error(`no ${until} page for ${user.username}: ${at.kind === 'code' ? 'a code' : at.page.page}`);
  }
  const held = at;
  return { page: held.page.page, goOn: () => login.goOn(held) };
}

/**
 * One login from its beginning, as far as it goes without giving anything twice.
 *
 * @returns the pages in their order, and `code` where it comes to one
 */
export async function walkLogin(place: HeldPlace, user: HeldUser): Promise<string[]> {
  const login = openHeldLogin(place, user);
  const seen: string[] = [];
  let at = await login.open();
  while (at.kind === 'page') {
    const again = seen.includes(at.page.page);
    seen.push(at.page.page);
    if (again || !login.canAnswer(at)) return seen;
    at = await login.submit(at);
  }
  return [...seen, 'code'];
}

function openHeldLogin({ url, realm, clientId, redirectUri }: HeldPlace, user: HeldUser) {
  const jar = createCookieJar(Date.now);
  const origin = url.replace('127.0.0.1', 'localhost');
  const given = new Set<string>();
  let again = false;

  async function go(method: 'GET' | 'POST', path: string, form?: Readonly<Record<string, string>>): Promise<Place> {
    const answer = await request(url + path, {
      method,
      headers: {
        host: new URL(origin).host,
        cookie: jar.header(),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', origin }),
      },
      body: form === undefined ? null : new URLSearchParams(form).toString(),
      headersTimeout: 120_000,
      bodyTimeout: 120_000,
    });
    const cookies = answer.headers['set-cookie'];
    jar.keep(cookies === undefined ? [] : [cookies].flat());
    const html = await answer.body.text();
    const { location } = answer.headers;
    if (typeof location === 'string') {
      if (location.startsWith(redirectUri)) {
        if (new URL(location).searchParams.has('code')) return { kind: 'code' };
        return { kind: 'page', page: { page: 'error', form: null }, html: location };
      }
      const to = new URL(location);
      return go('GET', to.pathname + to.search);
    }
    const page = readLoginPage(html);
    // Whatever cannot be read as a page of a login is what a person would call an error.
    return { kind: 'page', page: page ?? { page: 'error', form: null }, html };
  }

  /** Null where nothing can be given. */
  function answersTo({ page, form }: LoginPage, html: string): Record<string, string> | null {
    if (form === null) return null;
    const once = (what: string) => {
      again ||= given.has(what);
      given.add(what);
    };
    switch (page) {
      case 'username':
        once('username');
        if (!has(form, 'password')) return { username: user.username };
        once('password');
        return { username: user.username, password: user.password };
      case 'password':
        once('password');
        return { password: user.password };
      case 'otp': {
        const key = decodeBase32(user.totp ?? '');
        if (key === null) return null;
        once('otp');
        const policy = { algorithm: 'sha1', digits: 6, periodMs: otpPolicy.otpPolicyPeriod * 1000 } as const;
        return { otp: totp(key, policy, Date.now()) };
      }
      case 'passkey': {
        const challenge = /challenge\s*:\s*"([^"]+)"/.exec(html)?.[1];
        if (user.passkey === null || challenge === undefined) return null;
        once('passkey');
        return { ...user.passkey.answer(challenge, origin, user.id) };
      }
      default:
        return null;
    }
  }

  function post(form: HtmlForm, answers: Readonly<Record<string, string>>): Promise<Place> {
    const hidden = form.fields.filter(({ name, type }) => name !== '' && type === 'hidden');
    const to = new URL(form.action);
    const fields = { ...Object.fromEntries(hidden.map(({ name, value }) => [name, value])), ...answers };
    return go('POST', to.pathname + to.search, fields);
  }

  async function submit(at: Extract<Place, { kind: 'page' }>): Promise<Place> {
    const answers = answersTo(at.page, at.html);
    if (answers === null || at.page.form === null) {
      throw new Error(`nothing to give to the ${at.page.page} page: ${at.html.slice(0, 300)}`);
    }
    return post(at.page.form, answers);
  }

  return {
    open: () => {
      const challenge = createHash('sha256').update(randomBytes(32)).digest('base64url');
      const query = new URLSearchParams({
        response_type: 'code',
        scope: 'openid',
        client_id: clientId,
        redirect_uri: redirectUri,
        state: randomBytes(8).toString('hex'),
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
      return go('GET', `/realms/${realm}/protocol/openid-connect/auth?${query.toString()}`);
    },
    submit,
    /** Whether there is something to give to a page; an enrolment is never given anything. */
    canAnswer: ({ page }: Extract<Place, { kind: 'page' }>) =>
      page.page === 'otp' ? user.totp !== null : (heldPages as readonly string[]).includes(page.page),
    async goOn(held: Extract<Place, { kind: 'page' }>): Promise<HeldEnd> {
      let at: Place = held;
      for (let step = 0; step < mostSteps && at.kind === 'page'; step++) {
        if (at.page.page === 'error') return 'errorPage';
        const answers = answersTo(at.page, at.html);
        if (answers === null || at.page.form === null) return 'elsewhere';
        at = await post(at.page.form, answers);
      }
      if (at.kind === 'page') return 'elsewhere';
      return again ? 'askedAgain' : 'completed';
    },
  };
}
