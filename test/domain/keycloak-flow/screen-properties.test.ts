import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { endpoints, isWrite, type Operation } from '../../../src/domain/keycloak-flow/endpoints.ts';
import { realmBody } from '../../../src/domain/keycloak-flow/realm-body.ts';
import type { Scope } from '../../../src/domain/keycloak-flow/screen-scope.ts';
import { screenLogin } from '../../../src/domain/keycloak-flow/screen-login.ts';
import { screen, type ScreenedRequest } from '../../../src/domain/keycloak-flow/screen.ts';
import { bound, building, candidate, description, of, scopeOfBuild } from './scopes.ts';
import { realm } from './world.ts';

/** What may be sent at all, said a second time and in another way than the list under test. */
const listed = [
  /^GET \/admin\/serverinfo$/,
  /^POST \/realms\/shop\/protocol\/openid-connect\/token$/,
  /^(GET|PUT) \/admin\/realms\/shop$/,
  /^(GET|POST) \/admin\/realms\/shop\/authentication\/flows$/,
  /^(GET|PUT) \/admin\/realms\/shop\/authentication\/flows\/[^/?;\\]+\/executions$/,
  /^POST \/admin\/realms\/shop\/authentication\/flows\/[^/?;\\]+\/executions\/(execution|flow)$/,
  /^POST \/admin\/realms\/shop\/authentication\/executions\/[\w-]+\/config$/,
  /^GET \/admin\/realms\/shop\/authentication\/config\/[\w-]+$/,
  /^GET \/admin\/realms\/shop\/authentication\/(authenticator-providers|required-actions|unregistered-required-actions)$/,
  /^PUT \/admin\/realms\/shop\/authentication\/required-actions\/webauthn-register-passwordless$/,
  /^GET \/admin\/realms\/shop\/(clients|identity-provider\/instances|admin-events)(\?[\w=&%.*+-]+)?$/,
  /^(GET|PUT) \/admin\/realms\/shop\/clients\/u9$/,
];

const before = realm(of);
const requiredAction = { alias: 'webauthn-register-passwordless', enabled: false, defaultAction: false };
const probe = { id: 'u9', clientId: 'probe', authenticationFlowBindingOverrides: {} };

/** A scope in which everything that ever is allowed could be. */
const widest: Scope = {
  ...scopeOfBuild(),
  realmWrite: { purpose: 'bind', before, to: candidate.alias },
  requiredAction,
  probe: { id: 'u9', before: probe, candidateIds: new Set(['f-cand']) },
};

const ids = fc.constantFrom(
  ...building.rows.map((r) => r.id),
  ...bound.rows.map((r) => r.id),
  'elsewhere',
  'u9',
  'u8',
  'c1',
);
const aliases = fc.constantFrom(
  candidate.alias,
  `browser-mfa-forms${candidate.suffix}`,
  `new${candidate.suffix}`,
  'browser-mfa',
  'browser-mfa-forms',
  'browser',
  'unrelated',
);

/** Something that stands in a path or a body. */
const words = fc.oneof(
  { weight: 4, arbitrary: aliases },
  { weight: 4, arbitrary: ids },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'shop',
      'master',
      'users',
      'groups',
      'roles',
      'clients',
      'authentication',
      'executions',
      'flows',
      'config',
      'copy',
      'raise-priority',
      '..',
      '.',
      '',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 8, unit: 'binary' }) },
);

function pathsOf(endpoint: (typeof endpoints)[number]): fc.Arbitrary<string> {
  return fc
    .tuple(ids, aliases, fc.constantFrom('shop', 'shop', 'shop', 'master'))
    .map(([id, flow, of]) =>
      endpoint.path
        .replace('{realm}', of)
        .replace('{tokenRealm}', of)
        .replace('{id}', id)
        .replace('{flow}', encodeURIComponent(flow)),
    );
}

/** What people, proxies and attackers do to a path. */
const tricks = fc.constantFrom<((path: string, at: number, word: string) => string)[]>(
  (path) => path,
  (path) => path,
  (path) => `${path}/`,
  (path, at) => splice(path, at, '/'),
  (path, at) => splice(path, at, '/..'),
  (path, at) => splice(path, at, '/.'),
  (path, at) => splice(path, at, '%2f'),
  (path, at) => splice(path, at, '%2F'),
  (path, at) => splice(path, at, '%252F'),
  (path, at) => splice(path, at, '%2e%2e'),
  (path, at) => splice(path, at, ';x=y'),
  (path, at) => splice(path, at, '\\'),
  (path, at) => splice(path, at, '%00'),
  (path, at) => splice(path, at, '%'),
  (path, at) => splice(path, at, '?'),
  (path, at) => splice(path, at, '#'),
  (path, at) => splice(path, at, ' '),
  (path, at, word) => splice(path, at, word),
  (path, at, word) => splice(path, at, `/${word}`),
  (path, _, word) => `${path}/${encodeURIComponent(word)}`,
  (path, _, word) => `${path}?${word}=${word}`,
  (path, _, word) => `${path}?first=0&first=${encodeURIComponent(word)}`,
  (path, _, word) => `${path}?first=0&max=1&${encodeURIComponent(word)}`,
  (path) => `${path}?first=0&max=100`,
  (path) => path.toUpperCase(),
  (path, at) => path.slice(0, at) + path.slice(at).toUpperCase(),
  (path) => path.slice(1),
  (path) => `/${path}`,
  (path) => `http://elsewhere${path}`,
  (path, at) => path.slice(0, at) + encodeCharacter(path, at) + path.slice(at + 1),
);

function splice(path: string, at: number, text: string): string {
  return path.slice(0, at) + text + path.slice(at);
}

function encodeCharacter(path: string, at: number): string {
  return `%${(path.charCodeAt(at) || 47).toString(16).padStart(2, '0').slice(-2)}`;
}

const wildPaths = fc.oneof(
  fc.array(words, { maxLength: 9 }).map((steps) => `/${steps.join('/')}`),
  fc.array(words, { maxLength: 7 }).map((steps) => `/admin/realms/shop/${steps.join('/')}`),
);
const methods = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'get', 'Put', 'POST ', '');

const requirement = { id: ids, requirement: fc.constantFrom('REQUIRED', 'x'), priority: fc.nat(2) };

/** Bodies of each operation that are near to what is allowed. */
const bodiesOf: Partial<Record<Operation, fc.Arbitrary<unknown>>> = {
  createFlow: fc.record({
    alias: aliases,
    description: fc.constant(description),
    providerId: fc.constant('basic-flow'),
    topLevel: fc.boolean(),
    builtIn: fc.boolean(),
  }),
  addExecution: fc.record({ provider: fc.constantFrom('auth-cookie', '') }),
  addSubFlow: fc.record({ alias: aliases, description: fc.constant(description), type: fc.constant('basic-flow') }),
  setRequirement: fc.oneof(
    fc.record(requirement),
    fc.record({ ...requirement, flowId: ids, displayName: aliases }, { requiredKeys: ['id'] }),
  ),
  addConfig: fc.record({ alias: aliases, config: fc.constantFrom<unknown>({ a: 'b' }, { a: 1 }) }),
  writeRealm: fc.constantFrom(
    realmBody(before, { browserFlow: candidate.alias }),
    realmBody(before, { browserFlow: 'browser-mfa' }),
    { browserFlow: candidate.alias },
  ),
  writeRequiredAction: fc.constantFrom(
    { ...requiredAction, enabled: true },
    { ...requiredAction, enabled: true, priority: 1 },
  ),
  writeProbeClient: fc.constantFrom(
    { ...probe, authenticationFlowBindingOverrides: { browser: 'f-cand' } },
    { ...probe, authenticationFlowBindingOverrides: { browser: 'f' } },
  ),
};

const anyBody = fc.oneof(fc.constant(undefined), ...Object.values(bodiesOf), fc.jsonValue());

const trick = fc.tuple(tricks, fc.nat(120), words);
const tried = fc.oneof(
  { weight: 1, arbitrary: fc.array(trick, { maxLength: 0 }) },
  { weight: 2, arbitrary: fc.array(trick, { maxLength: 2 }) },
);

const requests: fc.Arbitrary<ScreenedRequest> = fc
  .constantFrom(...endpoints)
  .chain((endpoint) =>
    fc.record({
      method: fc.oneof(
        { weight: 3, arbitrary: fc.constant<string>(endpoint.method) },
        { weight: 1, arbitrary: methods },
      ),
      path: fc.oneof({ weight: 4, arbitrary: pathsOf(endpoint) }, { weight: 1, arbitrary: wildPaths }),
      tried,
      body: fc.oneof(
        { weight: 3, arbitrary: bodiesOf[endpoint.operation] ?? fc.constant(undefined) },
        { weight: 1, arbitrary: anyBody },
      ),
    }),
  )
  .map(({ method, path: plain, tried, body }) => {
    const path = tried.reduce((text, [trick, at, word]) => trick(text, Math.min(at, text.length), word), plain);
    return body === undefined ? { method, path } : { method, path, body };
  });

const boundAliases = bound.rows.flatMap((row) => (row.authenticationFlow === true ? [row.displayName ?? ''] : []));
const boundIds = bound.rows.map((row) => row.id);

describe('for all requests', () => {
  property.prop([requests], { numRuns: 5_000 })(
    'what is not on the list is refused, whatever is done to its path',
    (request) => {
      const screened = screen(request, widest);
      if (screened.kind === 'refuse') return;
      const text = `${request.method} ${request.path}`;
      expect(
        listed.some((pattern) => pattern.test(text)),
        text,
      ).toBe(true);
      expect(text).not.toMatch(/\/\.\.?(\/|$)|%2f|%5c|%25|\/\/|;/i);
    },
  );

  property.prop([requests], { numRuns: 5_000 })(
    'no write is allowed that names a flow or execution in use',
    (request) => {
      const screened = screen(request, widest);
      if (screened.kind === 'refuse' || !isWrite(screened.operation)) return;
      if (screened.operation === 'writeRealm') return;
      const body = (request.body ?? {}) as Record<string, unknown>;
      const steps = request.path.split('/').map(decodeURIComponent);
      for (const alias of ['browser-mfa', ...boundAliases]) {
        expect(steps).not.toContain(alias);
        expect(body['alias']).not.toBe(alias);
      }
      for (const id of boundIds) {
        expect(steps).not.toContain(id);
        expect(body['id']).not.toBe(id);
      }
    },
  );

  property.prop([requests, fc.constantFrom('Observe' as const, 'Shadow' as const)], { numRuns: 2_000 })(
    'nothing is written in a mode other than Enforce',
    (request, mode) => {
      const screened = screen(request, { ...widest, mode });
      if (screened.kind === 'allow') expect(isWrite(screened.operation)).toBe(false);
    },
  );

  property.prop([requests], { numRuns: 2_000 })(
    'nothing is written into a flow as long as it is not known what is in use',
    (request) => {
      const screened = screen(request, { ...widest, protected: null });
      if (screened.kind === 'refuse') return;
      expect(['createFlow', 'addExecution', 'addSubFlow', 'setRequirement', 'addConfig']).not.toContain(
        screened.operation,
      );
    },
  );

  test('each entry of the list is among what these requests come to', () => {
    const reached = new Set<string>();
    for (const request of fc.sample(requests, { numRuns: 30_000, seed: 1 })) {
      for (const scope of [widest, { ...widest, build: scopeOfBuild(null).build }]) {
        const screened = screen(request, scope);
        if (screened.kind === 'allow') reached.add(screened.operation);
      }
    }
    expect([...reached].sort()).toEqual(endpoints.map((e) => e.operation).sort());
  });
});

describe('a login', () => {
  test.each([
    [
      'openLogin',
      'GET',
      '/realms/shop/protocol/openid-connect/auth?client_id=probe&redirect_uri=http%3A%2F%2Flocalhost%2F&response_type=code',
    ],
    [
      'submitPage',
      'POST',
      '/realms/shop/login-actions/authenticate?session_code=a&execution=b&client_id=probe&tab_id=c',
    ],
    ['followPage', 'GET', '/realms/shop/login-actions/authenticate?execution=b'],
    ['openAction', 'GET', '/realms/shop/login-actions/required-action?execution=CONFIGURE_TOTP'],
    ['exchangeCode', 'POST', '/realms/shop/protocol/openid-connect/token'],
    ['endSession', 'POST', '/realms/shop/protocol/openid-connect/logout'],
  ])('may %s', (operation, method, path) => {
    expect(screenLogin({ method, path }, 'shop')).toEqual({ kind: 'allow', operation });
  });

  test.each([
    ['POST', '/realms/shop/login-actions/required-action?execution=CONFIGURE_TOTP'],
    ['GET', '/realms/shop/login-actions/registration'],
    ['POST', '/realms/shop/login-actions/registration'],
    ['GET', '/realms/shop/login-actions/reset-credentials'],
    ['POST', '/realms/shop/login-actions/reset-credentials'],
    ['GET', '/realms/shop/account/'],
    ['GET', '/realms/shop/broker/github/login'],
    ['POST', '/realms/shop/clients-registrations/default'],
    ['GET', '/realms/master/protocol/openid-connect/auth'],
    ['GET', '/admin/realms/shop'],
    ['PUT', '/admin/realms/shop'],
    ['GET', '/realms/shop/protocol/openid-connect/../../login-actions/registration'],
    ['DELETE', '/realms/shop/login-actions/authenticate'],
    ['POST', '/realms/shop/protocol/openid-connect/token?x=y'],
  ])('never asks %s %s', (method, path) => {
    expect(screenLogin({ method, path }, 'shop').kind).toBe('refuse');
  });
});
