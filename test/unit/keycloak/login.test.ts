import { describe, expect, test } from 'vitest';
import type { Browsed, LoginRequest } from '../../../src/activities/keycloak/client.ts';
import { createCookieJar } from '../../../src/activities/keycloak/cookie-jar.ts';
import { logIn, type LoginAttempt } from '../../../src/activities/keycloak/login.ts';
import { readDestination } from '../../../src/activities/keycloak/login-place.ts';
import { totp } from '../../../src/activities/keycloak/totp.ts';
import { unmeasured } from '../../../src/domain/core/verdict.ts';
import { screenLogin } from '../../../src/domain/keycloak-flow/screen-login.ts';
import { executionOf, recordedPage, type RecordedPage } from './recorded-pages.ts';

const redirectUri = 'https://probe.invalid/callback';
const START = 1_700_000_000_000;
const policy = { algorithm: 'sha1', digits: 6, periodMs: 30_000 } as const;
const key = new TextEncoder().encode('12345678901234567890');
const action = 'https://login.example.com/realms/shop/login-actions/required-action?execution=CONFIGURE_TOTP&tab_id=t';

const attempt: LoginAttempt = {
  realm: 'shop',
  clientId: 'holdfast-probe',
  redirectUri,
  executions: new Set((['both', 'username', 'password', 'otp', 'passkey'] as const).map(executionOf)),
  username: 'someone',
  password: 'own password',
  otp: null,
};

type Answer =
  RecordedPage | 'code' | { readonly status?: number; readonly text?: string; readonly to?: string } | Browsed;

/** A login that is answered in order; each request goes through the choke point first. */
function script(answers: readonly Answer[], attemptOf: Partial<LoginAttempt> = {}) {
  const asked: LoginRequest[] = [];
  let state = '';
  let now = START;
  const signal = new AbortController().signal;
  const browse = (request: LoginRequest, realm: string): Promise<Browsed> => {
    const screened = screenLogin(request, realm);
    if (screened.kind === 'refuse') return Promise.resolve({ kind: 'refused', refusal: screened });
    asked.push(request);
    state = new URL(request.path, 'https://x').searchParams.get('state') ?? state;
    const answer = answers[asked.length - 1];
    if (answer === undefined) throw new Error('nobody expected this request');
    const base = {
      kind: 'answered',
      operation: screened.operation,
      setCookies: [`c${asked.length}=v; Path=/`],
    } as const;
    if (typeof answer === 'object' && 'kind' in answer) return Promise.resolve(answer);
    if (answer === 'code') return Promise.resolve({ ...base, status: 302, text: '', location: back({ code: 'abc' }) });
    if (typeof answer === 'string') {
      const text = recordedPage(answer);
      return Promise.resolve({ ...base, status: answer === 'error' ? 400 : 200, text, location: null });
    }
    const { to } = answer;
    const location = to === undefined ? null : to.replace('STATE', state);
    return Promise.resolve({ ...base, status: answer.status ?? 302, text: answer.text ?? '', location });
  };
  const back = (fields: Record<string, string>) =>
    `${redirectUri}?${new URLSearchParams({ ...fields, state }).toString()}`;
  // Each look at the clock is half a second later, so that a wait for the next code is none.
  const clock = () => (now += asked.length > 3 ? 29_999 : 500);
  const end = logIn({ browse, signal, clock }, { ...attempt, ...attemptOf });
  return { end, asked };
}

describe('a login', () => {
  test('gives each factor once, and ends at the code, which nobody opens', async () => {
    const { end, asked } = script(['username', 'password', 'code']);
    expect(await end).toEqual({ kind: 'read', value: { kind: 'code' } });
    expect(asked.map(({ method }) => method)).toEqual(['GET', 'POST', 'POST']);
    expect(asked[1]?.form).toEqual({ username: 'someone' });
    expect(asked[2]?.form).toEqual({ password: 'own password' });
    const query = new URL(asked[0]?.path ?? '', 'https://x').searchParams;
    expect(query.get('code_challenge_method')).toBe('S256');
    expect(query.get('code_challenge')).toMatch(/^[\w-]{43}$/);
    expect(asked[2]?.cookie).toBe('c1=v; c2=v');
  });

  test('on one page for both gives both', async () => {
    const { end, asked } = script(['both', 'code']);
    expect(await end).toEqual({ kind: 'read', value: { kind: 'code' } });
    expect(asked[1]?.form).toMatchObject({ username: 'someone', password: 'own password' });
  });

  test('with a username alone ends at the page that asks for more', async () => {
    const { end, asked } = script(['username', 'password'], { password: null });
    expect(await end).toEqual({ kind: 'read', value: { kind: 'page', page: 'password' } });
    expect(asked).toHaveLength(2);
  });

  test('with a wrong password ends where it is asked again, and does not try it again', async () => {
    const { end, asked } = script(['username', 'password', 'wrong'], { password: 'wrong' });
    expect(await end).toEqual({ kind: 'read', value: { kind: 'page', page: 'password' } });
    expect(asked).toHaveLength(3);
  });

  test('without an OTP ends at its page', async () => {
    const { end } = script(['username', 'password', 'otp']);
    expect(await end).toEqual({ kind: 'read', value: { kind: 'page', page: 'otp' } });
  });

  test('gives the OTP of the moment, and once more the next one where that was used already', async () => {
    const { end, asked } = script(['username', 'password', 'otp', 'otp', 'code'], { otp: { key, policy } });
    expect(await end).toEqual({ kind: 'read', value: { kind: 'code' } });
    const codes = asked.slice(3).map(({ form }) => form?.['otp']);
    expect(new Set(codes).size).toBe(2);
    const near = [-1, 0, 1, 2, 3, 4].map((step) => totp(key, policy, START + step * 30_000));
    for (const code of codes) expect(near).toContain(code);
  });

  test('whose OTP is refused twice ends there', async () => {
    const { end, asked } = script(['username', 'password', 'otp', 'otp', 'otp'], { otp: { key, policy } });
    expect(await end).toEqual({ kind: 'read', value: { kind: 'page', page: 'otp' } });
    expect(asked).toHaveLength(5);
  });

  test('that comes to the enrolment page looks at it, and submits nothing', async () => {
    const { end, asked } = script(['username', 'password', { to: action }, 'enrolment']);
    expect(await end).toEqual({ kind: 'read', value: { kind: 'page', page: 'enrolment' } });
    expect(asked.at(-1)?.method).toBe('GET');
    expect(asked).toHaveLength(4);
  });

  test('that is denied ended at an error', async () => {
    const { end } = script(['username', 'password', 'error']);
    expect(await end).toEqual({ kind: 'read', value: { kind: 'page', page: 'error' } });
    const denied = script(['username', 'password', { to: `${redirectUri}?error=access_denied&state=STATE` }]);
    expect(await denied.end).toEqual({ kind: 'read', value: { kind: 'page', page: 'error' } });
  });

  const failed: Browsed = { kind: 'failed', reading: unmeasured('POST', 'Keycloak', 'timeout', 'late') };

  test.each<[string, readonly Answer[], string]>([
    [
      'goes through another flow',
      [{ status: 200, text: recordedPage('username').replace(/execution=[\w-]+/, 'execution=other') }],
      'not-ready',
    ],
    ['is refused before it began', ['error'], 'error'],
    ['is sent to an identity provider', [{ to: 'https://idp.example.com/login' }], 'unparsed'],
    ['is sent to a broker of the realm', [{ to: 'https://login.example.com/realms/shop/broker/x/login' }], 'error'],
    [
      'is sent to another realm',
      [{ to: 'https://login.example.com/realms/other/login-actions/authenticate?execution=e' }],
      'error',
    ],
    [
      'is sent round and round',
      Array<Answer>(8).fill({ to: 'https://login.example.com/realms/shop/login-actions/authenticate?execution=e' }),
      'error',
    ],
    [
      'comes back with the state of another',
      ['username', 'password', { to: `${redirectUri}?code=c&state=other` }],
      'unparsed',
    ],
    [
      'comes back with an error of the client',
      ['username', { to: `${redirectUri}?error=invalid_scope&state=STATE` }],
      'error',
    ],
    ['comes back with neither code nor error', ['username', { to: `${redirectUri}?state=STATE` }], 'unparsed'],
    ['redirects to nowhere', [{ status: 302 }], 'unparsed'],
    ['is answered with a page of something else', [{ status: 200, text: '<html><h1>nginx</h1></html>' }], 'unparsed'],
    [
      'is answered with half a page',
      ['username', { status: 200, text: recordedPage('password').slice(0, 5_000) }],
      'unparsed',
    ],
    ['meets a server that fails', ['username', { status: 503, text: '' }], 'unreachable'],
    ['is throttled', ['username', { status: 429, text: '' }], 'throttled'],
    ['is not answered', ['username', failed], 'timeout'],
    [
      'has a page that submits to a stranger',
      [
        'username',
        {
          status: 200,
          text: recordedPage('password').replaceAll('/realms/shop/login-actions/authenticate', '/collect'),
        },
      ],
      'not-ready',
    ],
  ])('that %s says nothing about the candidate', async (_, answers, why) => {
    const end = await script(answers).end;
    expect(end).toMatchObject({ kind: 'unmeasured', why });
    expect(JSON.stringify(end)).not.toContain('own password');
    expect(JSON.stringify(end)).not.toContain('someone');
  });
});

describe('where a login is sent', () => {
  test('is asked of the one server, whatever host the page names', () => {
    const to = readDestination(
      'https://public.example.com/auth/realms/shop/login-actions/authenticate?client_id=a%3Ab',
      redirectUri,
    );
    expect(to).toMatchObject({ kind: 'step', path: '/realms/shop/login-actions/authenticate?client_id=a%3Ab' });
  });

  test.each([
    'javascript:alert(1)',
    '/realms/shop/login-actions/authenticate',
    'https://u:p@login.example.com/realms/shop/login-actions/authenticate',
    'https://login.example.com/realms/shop/login-actions/authenticate?execution=a&execution=b',
    'https://probe.invalid/callback/other?code=a',
    'https://login.example.com/realms/%E0%A4%A/login-actions/authenticate',
  ])('%s is nowhere', (text) => {
    expect(readDestination(text, redirectUri)).toEqual({ kind: 'elsewhere' });
  });
});

describe('the cookies of a login', () => {
  test('are kept, replaced and taken back as the server says', () => {
    const jar = createCookieJar(() => START);
    jar.keep(['A=1; Path=/; HttpOnly', 'B=x=y; Max-Age=60', 'C=3', 'none', '=4']);
    expect(jar.header()).toBe('A=1; B=x=y; C=3');
    jar.keep([
      'A=2',
      'B=; Max-Age=0',
      'C=; Expires=Thu, 01 Jan 1970 00:00:10 GMT',
      'D=5; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:10 GMT',
    ]);
    expect(jar.header()).toBe('A=2; D=5');
  });
});
