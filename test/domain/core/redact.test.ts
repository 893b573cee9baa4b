import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redact, redactJson, redactMessages } from '../../../src/domain/core/redact.ts';

const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl';

describe('secrets that go', () => {
  test.each([
    ['Authorization: Bearer abc123def', 'Authorization: [redacted]'],
    ['authorization=Basic dXNlcjpwYXNz', 'authorization=[redacted]'],
    ['{"authorization":"Bearer abc123def","x":1}', '{"authorization":"[redacted]","x":1}'],
    [
      String.raw`{\"authorization\":\"Bearer abc123def\",\"x\":1}`,
      String.raw`{\"authorization\":\"[redacted]\",\"x\":1}`,
    ],
    ["{ authorization: 'Bearer abc123def', x: 1 }", "{ authorization: '[redacted]', x: 1 }"],
    ["{ 'set-cookie': [ 'KEYCLOAK_SESSION=abc' ], x: 1 }", "{ 'set-cookie': [ '[redacted]' ], x: 1 }"],
    ['Cookie: a=b; c=d\nHost: x', 'Cookie: [redacted]\nHost: x'],
    ['X-Vault-Token: hello', 'X-Vault-Token: [redacted]'],
    ['sent Bearer s3cretvalue to x', 'sent Bearer [redacted] to x'],
    ['sent basic dXNlcjpwYXNz to x', 'sent basic [redacted] to x'],
    [`got ${jwt} from x`, 'got [redacted] from x'],
    ['https://user:pa55@host/path', 'https://[redacted]@host/path'],
    ['https://token@host:5000/v2/', 'https://[redacted]@host:5000/v2/'],
    ['postgres://u:p@ss@db/x', 'postgres://[redacted]@db/x'],
    [
      'GET https://r/token?service=r&access_token=abc&scope=x',
      'GET https://r/token?service=r&access_token=[redacted]&scope=x',
    ],
    ['?sig=1&signature=abc', '?sig=1&signature=[redacted]'],
    [
      'POST https://hooks.slack.com/services/T0/B0/xyz failed',
      'POST https://hooks.slack.com/services/[redacted] failed',
    ],
    ['https://discord.com/api/webhooks/1/abc', 'https://discord.com/api/webhooks/[redacted]'],
    ['password=hunter2', 'password=[redacted]'],
    ['password: hunter2', 'password: [redacted]'],
    ['PASSWORD = "two words"', 'PASSWORD = [redacted]'],
    ['REGISTRY_PASSWORD=x y', 'REGISTRY_PASSWORD=[redacted] y'],
    ['--password hunter2 --user me', '--password [redacted] --user me'],
    ['--registry-token=abc --x', '--registry-token=[redacted] --x'],
    ['client_secret=abc&grant_type=x', 'client_secret=[redacted]&grant_type=x'],
    ['{"username":"me","password":"a,b c"}', '{"username":"me","password":"[redacted]"}'],
    [String.raw`{\"password\":\"a b\",\"x\":1}`, String.raw`{\"password\":\"[redacted]\",\"x\":1}`],
    ['{"password":"cut off', '{"password":"[redacted]'],
    ['{"password":12345}', '{"password":[redacted]}'],
    ['{"auths":{"reg":{"auth":"dXNlcjpwYXNz"}}}', '{"auths":{"reg":{"auth":"[redacted]"}}}'],
    ['{"token":"opaque","expires_in":300}', '{"token":"[redacted]","expires_in":300}'],
    ['{"identitytoken":"opaque"}', '{"identitytoken":"[redacted]"}'],
    ['{"smtp.password":"opaque"}', '{"smtp.password":"[redacted]"}'],
    ['token=opaque', 'token=[redacted]'],
    ['token: a1b2c3', 'token: [redacted]'],
    ['token: aVeryOpaque', 'token: [redacted]'],
    ['ghp_0123456789abcdef0123', '[redacted]'],
    ['use glpat-abcdefgh12 here', 'use [redacted] here'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['sha256~abcdefghijklmnop', '[redacted]'],
    [
      '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter',
      '-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nafter',
    ],
    ['-----BEGIN PRIVATE KEY-----\nMIIE', '-----BEGIN PRIVATE KEY-----[redacted]-----END PRIVATE KEY-----'],
    [
      '-----BEGIN A-----\nx\n-----END A----- and -----BEGIN B-----\ny\n-----END B-----',
      '-----BEGIN A-----[redacted]-----END A----- and -----BEGIN B-----[redacted]-----END B-----',
    ],
  ])('%s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  test('what the caller knows to be secret goes wherever it stands, the longest first', () => {
    expect(redact('login of me with correct horse failed', ['correct horse'])).toBe(
      'login of me with [redacted] failed',
    );
    expect(redact('swordfish2', ['swordfish', 'swordfish2'])).toBe('[redacted]');
    expect(redact('the end', ['end', ''])).toBe('the end');
    expect(redact('the rest', ['rest'])).toBe('the [redacted]');
  });
});

describe('what people need stays', () => {
  test.each([
    'failed to authorize: failed to fetch anonymous token: unexpected status from GET request',
    'secrets "registry-credentials" is forbidden: User "system:serviceaccount:holdfast:worker" cannot get resource',
    'basic authentication is required',
    'Bearer authentication is required',
    'image registry.example.com/team/app:v6@sha256:3f0812aa4cd1b3d1b3c2a1e0f9d8c7b6a594837261504f3e2d1c0b9a8f7e6d5c was not found',
    'pod shop/web-7d9f: CrashLoopBackOff',
    'GET http://127.0.0.1:5000/v2/app/tags/list?n=100 answered 503',
    'who@example.com approved the plan',
    'the secret is missing',
    'PATCH apps/v1 Deployment shop/web with resourceVersion 4711',
    'next attempt at 2026-06-01T12:00:00Z',
  ])('%s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('JSON', () => {
  test('is scrubbed in every place, and its secret fields are emptied', () => {
    expect(
      redactJson({
        url: 'https://u:p@h/',
        list: ['password=x', 1, true, null],
        nested: { clientSecret: 'x', client_secret: 'x', accessToken: 7, auth: { user: 'me' }, tokens: 3 },
      }),
    ).toEqual({
      url: 'https://[redacted]@h/',
      list: ['password=[redacted]', 1, true, null],
      nested: {
        clientSecret: '[redacted]',
        client_secret: '[redacted]',
        accessToken: '[redacted]',
        auth: { user: 'me' },
        tokens: 3,
      },
    });
    expect(redactJson(['open sesame'], ['open sesame'])).toEqual(['[redacted]']);
    expect(redactJson({ a: 'open sesame' }, ['open sesame'])).toEqual({ a: '[redacted]' });
  });
});

describe('whatever the text', () => {
  const secret = fc
    .string({ unit: fc.constantFrom(...'abcdefgXYZ0123456789-_.'.split('')), minLength: 12, maxLength: 40 })
    .map((s) => `q7Q${s}`);
  const carrier = fc.constantFrom(
    (s: string) => `Authorization: Bearer ${s}`,
    (s: string) => `https://user:${s}@host/path`,
    (s: string) => `password=${s}`,
    (s: string) => `{"password": "${s}"}`,
    (s: string) => `{"auths":{"r":{"auth":"${s}"}}}`,
    (s: string) => `token: ${s}`,
    (s: string) => JSON.stringify(JSON.stringify({ client_secret: s })),
    (s: string) => `-----BEGIN PRIVATE KEY-----\n${s}\n-----END PRIVATE KEY-----`,
  );

  test('a secret in a usual form never stays, and scrubbing twice is scrubbing once', () => {
    fc.assert(
      fc.property(
        secret,
        carrier,
        fc.string({ maxLength: 20 }),
        fc.string({ maxLength: 20 }),
        (s, carry, before, after) => {
          const clean = redact(`${before} ${carry(s)} ${after}`);
          expect(clean).not.toContain(s);
          expect(redact(clean)).toBe(clean);
        },
      ),
    );
  });

  test('a long text does not keep it busy', () => {
    const started = Date.now();
    for (const piece of [
      'password',
      'a',
      'https://',
      '"',
      '\\"',
      'token ',
      'Bearer ',
      '-----BEGIN A-----',
      'x=',
      '--a',
      'eyJaaaaa.',
      "'password",
      '\\',
    ])
      redact(piece.repeat(100_000 / piece.length));
    expect(Date.now() - started).toBeLessThan(20_000);
  });
});

describe('what was read of the outside, before it goes into Temporal', () => {
  test('says nothing secret in its sentences, and is the same to programs', () => {
    const reading = {
      kind: 'unmeasured',
      why: 'error',
      message: 'GET https://ada:hunter2@spoke/api/status failed',
      marks: { token: 'v6-latest', blocked: [{ image: `sha256:${'a1'.repeat(32)}`, message: 'Bearer s3cretvalue' }] },
      placements: null,
      restarts: { 'uid/auth': 3 },
    };
    expect(redactMessages(reading)).toEqual({
      ...reading,
      message: 'GET https://[redacted]@spoke/api/status failed',
      marks: { ...reading.marks, blocked: [{ ...reading.marks.blocked[0], message: 'Bearer [redacted]' }] },
    });
    expect(redactMessages(undefined)).toBeUndefined();
  });

  test.each([
    `digest sha256:${'a1'.repeat(32)} is blocked`,
    'container auth: CrashLoopBackOff',
    'Deployment shop/web-auth: ImagePullBackOff',
    `v6-latest@sha256:${'0f'.repeat(32)} passed gate and soak`,
  ])('%j stays as it is', (sentence) => {
    expect(redact(sentence)).toBe(sentence);
  });
});
