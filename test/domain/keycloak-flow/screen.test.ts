import { describe, expect, test } from 'vitest';
import { read } from '../../../src/domain/core/verdict.ts';
import { enrolmentAction } from '../../../src/domain/keycloak-flow/desired.ts';
import { policyBody, policyDrift } from '../../../src/domain/keycloak-flow/policy.ts';
import type { RequiredAction } from '../../../src/domain/keycloak-flow/representation.ts';
import { realmBody } from '../../../src/domain/keycloak-flow/realm-body.ts';
import { readingScope, type RealmWrite, type Scope } from '../../../src/domain/keycloak-flow/screen-scope.ts';
import { screen, type ScreenedRequest } from '../../../src/domain/keycloak-flow/screen.ts';
import { bound, building, candidate, description, inUse, of, scopeOfBuild } from './scopes.ts';
import { realm, unread } from './world.ts';

const flows = '/admin/realms/shop/authentication/flows';
const scope = scopeOfBuild();
const reading = readingScope('shop', 'shop', 'Enforce');

function ask(method: string, path: string, body?: unknown): ScreenedRequest {
  return body === undefined ? { method, path } : { method, path, body };
}

function refusal(request: ScreenedRequest, of: Scope = scope): string {
  const screened = screen(request, of);
  return screened.kind === 'allow' ? `allowed as ${screened.operation}` : screened.reason;
}

function allowed(request: ScreenedRequest, of: Scope = scope): string {
  const screened = screen(request, of);
  return screened.kind === 'allow' ? screened.operation : screened.message;
}

/** The id of a row of a flow. */
function id(flow: { rows: { id: string }[] }, index: number): string {
  return flow.rows[index]?.id ?? '';
}

describe('the list', () => {
  test.each([
    ['readRealm', 'GET', '/admin/realms/shop'],
    ['listFlows', 'GET', flows],
    ['listExecutions', 'GET', `${flows}/first%20broker%20login/executions`],
    ['readConfig', 'GET', '/admin/realms/shop/authentication/config/0a1b-2c'],
    ['listAuthenticators', 'GET', '/admin/realms/shop/authentication/authenticator-providers'],
    ['listRequiredActions', 'GET', '/admin/realms/shop/authentication/required-actions'],
    ['listUnregisteredActions', 'GET', '/admin/realms/shop/authentication/unregistered-required-actions'],
    ['listClients', 'GET', '/admin/realms/shop/clients?first=0&max=100'],
    ['listClients', 'GET', '/admin/realms/shop/clients?clientId=my%20probe'],
    ['listIdentityProviders', 'GET', '/admin/realms/shop/identity-provider/instances'],
    [
      'listAdminEvents',
      'GET',
      '/admin/realms/shop/admin-events?operationTypes=UPDATE&resourceTypes=REALM&dateFrom=2026-03-02&max=100',
    ],
    ['token', 'POST', '/realms/shop/protocol/openid-connect/token'],
  ])('allows %s: %s %s', (operation, method, path) => {
    expect(allowed(ask(method, path), reading)).toBe(operation);
  });

  test.each([
    ['DELETE', `${flows}/f-1`],
    ['DELETE', '/admin/realms/shop'],
    ['PATCH', '/admin/realms/shop'],
    ['POST', '/admin/realms/shop'],
    ['get', '/admin/realms/shop'],
    ['GET ', '/admin/realms/shop'],
    ['GET', '/admin/realms'],
    ['GET', '/admin/realms/shop/users'],
    ['GET', '/admin/realms/shop/groups'],
    ['GET', '/admin/realms/shop/roles'],
    ['POST', '/admin/realms/shop/clients'],
    ['GET', '/admin/realms/shop/clients/u1/client-secret'],
    ['GET', '/admin/realms/shop/clients/u1/roles'],
    ['PUT', '/admin/realms/shop/users/u1'],
    ['POST', '/admin/realms/shop/users'],
    ['POST', '/admin/realms/shop/authentication/register-required-action'],
    ['POST', `${flows}/browser/copy`],
    ['PUT', `${flows}/f-1`],
    ['GET', `${flows}/f-1`],
    ['PUT', '/admin/realms/shop/authentication/executions/e-1'],
    ['GET', '/admin/realms/shop/authentication/executions/e-1'],
    ['POST', '/admin/realms/shop/authentication/executions'],
    ['POST', '/admin/realms/shop/authentication/executions/e-1/raise-priority'],
    ['POST', '/admin/realms/shop/authentication/executions/e-1/lower-priority'],
    ['PUT', '/admin/realms/shop/authentication/config/c-1'],
    ['DELETE', '/admin/realms/shop/authentication/config/c-1'],
    ['PUT', '/admin/realms/shop/authentication/required-actions/CONFIGURE_TOTP'],
    ['POST', '/admin/realms/shop/partialImport'],
    ['POST', '/admin/realms/shop/partial-export'],
    ['PUT', '/admin/realms/shop/default-default-client-scopes/x'],
    ['POST', '/realms/shop/protocol/openid-connect/auth'],
    ['GET', '/realms/shop/protocol/openid-connect/token'],
    ['GET', '/'],
    ['GET', '/metrics'],
  ])('does not hold %s %s', (method, path) => {
    expect(refusal(ask(method, path))).toMatch(/^(NotListed|MalformedPath)$/);
  });

  test('holds one realm alone', () => {
    expect(refusal(ask('GET', '/admin/realms/master'))).toBe('OtherRealm');
    expect(refusal(ask('PUT', '/admin/realms/master', {}))).toBe('OtherRealm');
    expect(refusal(ask('POST', '/realms/master/protocol/openid-connect/token'))).toBe('OtherRealm');
    expect(
      allowed(ask('POST', '/realms/master/protocol/openid-connect/token'), { ...reading, tokenRealm: 'master' }),
    ).toBe('token');
  });

  test.each([
    '/admin/realms/shop/',
    '//admin/realms/shop',
    '/admin//realms/shop',
    'admin/realms/shop',
    '/admin/realms/./shop',
    '/admin/realms/shop/../master',
    '/admin/realms/shop/authentication/flows/..',
    '/admin/realms/%2e%2e/shop',
    '/admin/realms/shop%2Fusers',
    '/admin/realms/shop%2fusers',
    '/admin/realms/%73hop',
    '/admin/realms/shop;a=b',
    '/admin/realms/shop%3Ba',
    '/admin/realms/shop%00',
    '/admin/realms/shop%0a',
    '/admin/realms/shop#x',
    '/admin\\realms\\shop',
    '/admin/realms/shop\\users',
    '/admin/realms/shop%5Cusers',
    '/admin/realms/shop%25',
    '/admin/realms/shop%252Fusers',
    '/admin/realms/shop%',
    '/admin/realms/ shop',
    '/admin/realms/shöp',
    '/admin/realms/%C0%AE',
    'http://elsewhere/admin/realms/shop',
    '/admin/realms/shop??a=b',
    '/admin/realms/shop?',
    '/admin/realms/shop?a=b?c',
    '/admin/realms/shop?a=b&a=c',
    `/admin/realms/${'a'.repeat(5_000)}`,
  ])('refuses a path that could be read in two ways, rather than putting it right: %s', (path) => {
    expect(refusal(ask('GET', path))).toBe('MalformedPath');
  });

  test.each(['/Admin/realms/shop', '/admin/Realms/shop', '/ADMIN/REALMS/SHOP'])('knows one case: %s', (path) => {
    expect(refusal(ask('GET', path))).toBe('NotListed');
  });

  test.each([
    '/admin/realms/shop?first=0',
    '/admin/realms/shop/clients?first=-1',
    '/admin/realms/shop/clients?viewableOnly=true',
    '/admin/realms/shop/clients?__proto__=1',
    '/admin/realms/shop/clients?max=1%260',
    '/admin/realms/shop/admin-events?operationTypes=UPDATE,DELETE',
    `${flows}?first=1`,
  ])('refuses a query that is not on it: %s', (path) => {
    expect(refusal(ask('GET', path))).toMatch(/^(Query|MalformedPath)$/);
  });

  test('refuses a query on a write, and a body on a read', () => {
    expect(refusal(ask('POST', `${flows}/${candidate.alias}/executions/execution?force=true`, { provider: 'a' }))).toBe(
      'Query',
    );
    expect(refusal(ask('GET', '/admin/realms/shop', {}))).toBe('Body');
  });
});

describe('a write into a flow', () => {
  const add = (flow: string, provider: unknown = 'auth-cookie') =>
    ask('POST', `${flows}/${encodeURIComponent(flow)}/executions/execution`, { provider });
  const addFlow = (flow: string, alias: string) =>
    ask('POST', `${flows}/${encodeURIComponent(flow)}/executions/flow`, { alias, description, type: 'basic-flow' });
  const require_ = (flow: string, body: unknown) => ask('PUT', `${flows}/${encodeURIComponent(flow)}/executions`, body);
  const configure = (execution: string, body: unknown) =>
    ask('POST', `/admin/realms/shop/authentication/executions/${execution}/config`, body);
  const create = (overrides: object = {}) =>
    ask('POST', flows, {
      alias: candidate.alias,
      description,
      providerId: 'basic-flow',
      topLevel: true,
      builtIn: false,
      ...overrides,
    });
  const config = { alias: `conditional-otp-platform-admin${candidate.suffix}`, config: { condUserRole: 'a' } };
  const ownId = id(building, 5);
  const own = { id: ownId, requirement: 'REQUIRED', priority: 0 };

  test('is allowed into the candidate', () => {
    expect(allowed(create(), scopeOfBuild(null))).toBe('createFlow');
    expect(allowed(add(candidate.alias))).toBe('addExecution');
    expect(allowed(add(`browser-mfa-forms${candidate.suffix}`))).toBe('addExecution');
    expect(allowed(addFlow(candidate.alias, `more${candidate.suffix}`))).toBe('addSubFlow');
    expect(allowed(require_(candidate.alias, own))).toBe('setRequirement');
    expect(allowed(configure(ownId, config))).toBe('addConfig');
  });

  test('R2 is refused into what is in use, nested flows included', () => {
    for (const flow of ['browser-mfa', 'browser-mfa-forms', 'browser-mfa-conditional-otp']) {
      expect(refusal(add(flow))).toBe('Protected');
      expect(refusal(addFlow(flow, `x${candidate.suffix}`))).toBe('Protected');
      expect(refusal(require_(flow, own))).toBe('Protected');
    }
  });

  test('R3 is refused before what is in use was read, and where it could not be', () => {
    for (const protectedSets of [null, unread(), unread('denied'), unread('missing')]) {
      const of = { ...scope, protected: protectedSets };
      const unbuilt = { ...scopeOfBuild(null), protected: protectedSets };
      expect(refusal(create(), unbuilt)).toBe('Undetermined');
      expect(refusal(add(candidate.alias), of)).toBe('Undetermined');
      expect(refusal(addFlow(candidate.alias, `x${candidate.suffix}`), of)).toBe('Undetermined');
      expect(refusal(require_(candidate.alias, own), of)).toBe('Undetermined');
      expect(refusal(configure(ownId, config), of)).toBe('Undetermined');
    }
  });

  test('R1 is refused where no candidate is built, or the candidate itself came into use', () => {
    expect(refusal(add(candidate.alias), { ...scope, build: null })).toBe('OutsideBuild');
    if (inUse.kind !== 'read') throw new Error('not read');
    const meanwhile = { ...inUse.value, flows: new Set([...inUse.value.flows, candidate.alias]) };
    const bound = { ...scope, protected: read(meanwhile) };
    for (const request of [
      add(candidate.alias),
      add(`browser-mfa-forms${candidate.suffix}`),
      require_(candidate.alias, own),
      configure(ownId, config),
    ]) {
      expect(refusal(request, bound)).toBe('Protected');
    }
  });

  test('R10 is refused into a flow that is neither in use nor the candidate', () => {
    expect(refusal(add('unrelated'))).toBe('OutsideBuild');
    expect(refusal(add(`unrelated${candidate.suffix}`))).toBe('OutsideBuild');
    expect(refusal(addFlow('unrelated', `x${candidate.suffix}`))).toBe('OutsideBuild');
  });

  test('R2 a new flow under an alias that is in use is refused, and any that is not the candidate', () => {
    const unbuilt = scopeOfBuild(null);
    expect(refusal(create({ alias: 'browser-mfa' }), unbuilt)).toBe('Protected');
    expect(refusal(create({ alias: 'browser-mfa-forms' }), unbuilt)).toBe('Protected');
    expect(refusal(create({ alias: 'other' }), unbuilt)).toBe('OutsideBuild');
    expect(refusal(addFlow(candidate.alias, 'browser-mfa-forms'))).toBe('Protected');
    expect(refusal(addFlow(candidate.alias, 'forms'))).toBe('OutsideBuild');
    expect(refusal(addFlow(candidate.alias, candidate.suffix))).toBe('OutsideBuild');
  });

  test('a new flow carries the mark of this workflow, is plain, and is made once', () => {
    const unbuilt = scopeOfBuild(null);
    expect(refusal(create({ description: 'mine' }), unbuilt)).toBe('Body');
    expect(refusal(create({ topLevel: false }), unbuilt)).toBe('Body');
    expect(refusal(create({ builtIn: true }), unbuilt)).toBe('Body');
    expect(refusal(create({ providerId: 'client-flow' }), unbuilt)).toBe('Body');
    expect(refusal(create({ id: 'x' }), unbuilt)).toBe('Body');
    expect(refusal(create())).toBe('Body');
    expect(refusal(addFlow(candidate.alias, `browser-mfa-forms${candidate.suffix}`))).toBe('Body');
  });

  test('R9 a requirement is screened on the id in its body, not on its path alone', () => {
    const body = { id: id(bound, 5), requirement: 'DISABLED', priority: 0 };
    expect(refusal(require_(candidate.alias, body))).toBe('Protected');
  });

  test('R10 a requirement and a configuration are held to ids read back from the candidate', () => {
    expect(refusal(require_(candidate.alias, { ...own, id: 'of-another-flow' }))).toBe('OutsideBuild');
    expect(refusal(configure('of-another-flow', config))).toBe('OutsideBuild');
    expect(refusal(configure(id(bound, 9), config))).toBe('Protected');
  });

  test.each(['flowId', 'displayName', 'authenticationFlow', 'alias', 'index', 'level', 'providerId', 'description'])(
    'R11 a requirement that also carries %s is refused',
    (key) => {
      expect(refusal(require_(candidate.alias, { ...own, [key]: 'x' }))).toBe('Body');
    },
  );

  test('R19 a requirement without the priority of its row is refused', () => {
    const { priority: _, ...without } = own;
    expect(refusal(require_(candidate.alias, without))).toBe('Body');
    expect(refusal(require_(candidate.alias, { ...own, priority: 7 }))).toBe('Body');
    const silent = { ...building, rows: building.rows.map(({ priority: __, ...row }) => row) };
    expect(refusal(require_(candidate.alias, own), scopeOfBuild(silent))).toBe('Body');
  });

  test('a requirement is one of four, and goes through the path of the candidate', () => {
    expect(refusal(require_(candidate.alias, { ...own, requirement: 'OPTIONAL' }))).toBe('Body');
    expect(refusal(require_(`browser-mfa-forms${candidate.suffix}`, own))).toBe('OutsideBuild');
    expect(refusal(require_(candidate.alias, [own]))).toBe('Body');
    expect(refusal(require_(candidate.alias, null))).toBe('Body');
  });

  test('a configuration goes to an execution that has none, under an alias of this candidate', () => {
    expect(refusal(configure(id(building, 9), config))).toBe('Body');
    expect(refusal(configure(ownId, { ...config, alias: 'conditional-otp-platform-admin' }))).toBe('OutsideBuild');
    expect(refusal(configure(ownId, { ...config, config: { a: false } }))).toBe('Body');
    expect(refusal(configure(ownId, { ...config, id: 'c-1' }))).toBe('Body');
  });

  test('carries what it must and nothing else', () => {
    expect(
      refusal(
        ask('POST', `${flows}/${candidate.alias}/executions/execution`, { provider: 'a', requirement: 'REQUIRED' }),
      ),
    ).toBe('Body');
    expect(refusal(add(candidate.alias, ''))).toBe('Body');
    expect(refusal(ask('POST', `${flows}/${candidate.alias}/executions/execution`))).toBe('Body');
    expect(
      refusal(
        ask('POST', `${flows}/${candidate.alias}/executions/flow`, {
          alias: `x${candidate.suffix}`,
          description,
          type: 'form-flow',
        }),
      ),
    ).toBe('Body');
  });

  test.each(['Shadow', 'Observe'] as const)('is refused in %s, as every other write is', (mode) => {
    const of = { ...scope, mode };
    expect(refusal(create(), { ...scopeOfBuild(null), mode })).toBe('Mode');
    expect(refusal(add(candidate.alias), of)).toBe('Mode');
    expect(refusal(require_(candidate.alias, own), of)).toBe('Mode');
    expect(refusal(configure(ownId, config), of)).toBe('Mode');
    expect(refusal(ask('PUT', '/admin/realms/shop', realm(scopeDesired)), of)).toBe('Mode');
    expect(refusal(ask('PUT', `/admin/realms/shop/authentication/required-actions/${enrolmentAction}`, {}), of)).toBe(
      'Mode',
    );
    expect(refusal(ask('PUT', '/admin/realms/shop/clients/u9', {}), of)).toBe('Mode');
  });
});

const scopeDesired = of;

describe('a write of the realm', () => {
  const before = realm(of, { webAuthnPolicyPasswordlessRpId: 'old', browserFlow: 'browser-mfa' });
  const policy = of.webAuthnPolicyPasswordless;
  const good = policyBody(before, policyDrift(policy, before));
  const put = (body: unknown) => ask('PUT', '/admin/realms/shop', body);
  const of_ = (realmWrite: RealmWrite | null): Scope => ({ ...reading, realmWrite });
  const asPolicy = of_({ purpose: 'policy', before, policy });
  const asBind = of_({ purpose: 'bind', before, to: candidate.alias });
  const asMarks = of_({ purpose: 'marks', before });
  const attributes = { ...before.attributes, 'holdfast.x': '1' };
  const bind = realmBody(before, { browserFlow: candidate.alias, attributes });

  test('is allowed for a policy, for a bind and for a mark', () => {
    expect(allowed(put(good), asPolicy)).toBe('writeRealm');
    expect(allowed(put(bind), asBind)).toBe('writeRealm');
    expect(allowed(put(realmBody(before, { attributes })), asMarks)).toBe('writeRealm');
  });

  test('is refused where the realm was not read right before', () => {
    expect(refusal(put(good), of_(null))).toBe('Undetermined');
  });

  test('R26 a partial one is refused, whatever it is for', () => {
    const partial = { realm: 'shop', browserFlow: 'browser-mfa', webAuthnPolicyPasswordlessRpEntityName: 'Shop' };
    expect(refusal(put(partial), asPolicy)).toBe('Body');
    const { sslRequired: _, ...shorter } = good as Record<string, unknown>;
    expect(refusal(put(shorter), asPolicy)).toBe('Body');
    expect(refusal(put({ browserFlow: candidate.alias }), asBind)).toBe('Body');
    expect(refusal(put({ attributes }), asMarks)).toBe('Body');
  });

  test('R27 a policy write keeps the bound flow', () => {
    expect(refusal(put({ ...good, browserFlow: 'browser' }), asPolicy)).toBe('Body');
    expect(refusal(put({ ...good, browserFlow: candidate.alias }), asPolicy)).toBe('Body');
  });

  test('R29 a policy write without a name is refused at the write itself', () => {
    for (const name of ['', null]) {
      const nameless = realm(of, { webAuthnPolicyPasswordlessRpEntityName: name as never });
      const body = policyBody({ ...nameless, webAuthnPolicyPasswordlessRpId: 'old' }, []);
      const screened = screen(put(body), of_({ purpose: 'policy', before: nameless, policy: { RpId: 'x' } }));
      expect(screened).toMatchObject({ kind: 'refuse', message: expect.stringMatching(/RpEntityName/) as string });
    }
  });

  test('R33 a policy write leaves what is not declared as it was read', () => {
    const body = { ...good, webAuthnPolicyPasswordlessCreateTimeout: 1 };
    expect(refusal(put(body), of_({ purpose: 'policy', before, policy: { RpId: 'login.example.com' } }))).toBe('Body');
    expect(refusal(put({ ...good, webAuthnPolicyPasswordlessExtraOrigins: [] }), asPolicy)).toBe('Body');
    expect(refusal(put({ ...good, sslRequired: 'none' }), asPolicy)).toBe('Body');
    expect(refusal(put({ ...good, attributes }), asPolicy)).toBe('Body');
    expect(refusal(put({ ...good, webAuthnPolicyPasswordlessRpId: 'not declared' }), asPolicy)).toBe('Body');
  });

  test('a bind changes the alias and our own marks, and nothing else', () => {
    expect(refusal(put({ ...bind, browserFlow: 'other' }), asBind)).toBe('Body');
    expect(refusal(put({ ...bind, sslRequired: 'none' }), asBind)).toBe('Body');
    expect(refusal(put({ ...bind, attributes: { ...attributes, cibaExpiresIn: '1' } }), asBind)).toBe('Body');
    expect(refusal(put({ ...bind, attributes: { 'holdfast.x': '1' } }), asBind)).toBe('Body');
    expect(refusal(put({ ...bind, webAuthnPolicyPasswordlessRpId: 'login.example.com' }), asBind)).toBe('Body');
    expect(refusal(put(bind), asMarks)).toBe('Body');
    expect(refusal(put(bind), asPolicy)).toBe('Body');
  });

  test('H-B07 never carries smtpServer, and never a value that was masked', () => {
    expect(good).not.toHaveProperty('smtpServer');
    expect(refusal(put({ ...bind, smtpServer: { host: 'mail', password: 'x' } }), asBind)).toBe('Body');
    expect(refusal(put({ ...bind, smtpServer: before['smtpServer'] }), asBind)).toBe('Masked');
    const masked = realm(of, { identityProviders: [{ config: { clientSecret: '**********' } }] });
    const write = { purpose: 'bind', before: masked, to: candidate.alias } as const;
    expect(refusal(put(realmBody(masked, { browserFlow: candidate.alias })), of_(write))).toBe('Masked');
  });
});

describe('a write of the required action', () => {
  const before: RequiredAction = {
    alias: enrolmentAction,
    name: 'Webauthn Register Passwordless',
    providerId: enrolmentAction,
    enabled: false,
    defaultAction: true,
    priority: 80,
    config: { max_auth_age: '300' },
  };
  const of: Scope = { ...reading, requiredAction: before };
  const put = (body: unknown) =>
    ask('PUT', `/admin/realms/shop/authentication/required-actions/${enrolmentAction}`, body);
  const good = { ...before, enabled: true, defaultAction: false };

  test('is allowed with the two fields changed', () => {
    expect(allowed(put(good), of)).toBe('writeRequiredAction');
  });

  test('R34 is refused with less than what was read, or with anything else changed', () => {
    expect(refusal(put({ alias: enrolmentAction, enabled: true, defaultAction: false }), of)).toBe('Body');
    expect(refusal(put({ ...good, name: 'x' }), of)).toBe('Body');
    expect(refusal(put({ ...good, priority: 0 }), of)).toBe('Body');
    expect(refusal(put({ ...good, config: {} }), of)).toBe('Body');
    expect(refusal(put({ ...good, enabled: false }), of)).toBe('Body');
    expect(refusal(put({ ...good, defaultAction: true }), of)).toBe('Body');
  });

  test('is refused under another alias, and before it was read', () => {
    expect(refusal(put({ ...good, alias: 'CONFIGURE_TOTP' }), of)).toBe('Body');
    expect(refusal(put(good), reading)).toBe('Undetermined');
    expect(refusal(put(good), { ...of, requiredAction: { ...before, alias: 'CONFIGURE_TOTP' } })).toBe('Body');
  });
});

describe('the probe client', () => {
  const before = {
    id: 'u9',
    clientId: 'probe',
    secret: 's',
    redirectUris: ['https://x/'],
    authenticationFlowBindingOverrides: { direct_grant: 'g1' },
  };
  const of: Scope = { ...reading, probe: { id: 'u9', before, candidateIds: new Set(['cand-1']) } };
  const put = (client: string, body: unknown) => ask('PUT', `/admin/realms/shop/clients/${client}`, body);
  const aimed = (browser: unknown) => ({
    ...before,
    authenticationFlowBindingOverrides: { direct_grant: 'g1', browser },
  });

  test('is aimed at a candidate, and at nothing again', () => {
    expect(allowed(put('u9', aimed('cand-1')), of)).toBe('writeProbeClient');
    expect(allowed(put('u9', aimed('')), of)).toBe('writeProbeClient');
    expect(allowed(ask('GET', '/admin/realms/shop/clients/u9'), of)).toBe('readClient');
  });

  test('is aimed at nothing else', () => {
    for (const browser of ['f-1', null, 1]) expect(refusal(put('u9', aimed(browser)), of)).toBe('OutsideBuild');
    expect(refusal(put('u9', aimed(undefined)), of)).toBe('Body');
  });

  test('keeps everything else', () => {
    expect(refusal(put('u9', { ...aimed('cand-1'), secret: 'other' }), of)).toBe('Body');
    expect(
      refusal(
        put('u9', { id: 'u9', clientId: 'probe', authenticationFlowBindingOverrides: { browser: 'cand-1' } }),
        of,
      ),
    ).toBe('Body');
    expect(refusal(put('u9', { ...before, authenticationFlowBindingOverrides: { browser: 'cand-1' } }), of)).toBe(
      'Body',
    );
    expect(
      refusal(
        put('u9', { ...before, authenticationFlowBindingOverrides: { browser: 'cand-1', direct_grant: 'cand-1' } }),
        of,
      ),
    ).toBe('Body');
    expect(refusal(put('u9', { ...aimed('cand-1'), secret: '**********' }), of)).toBe('Masked');
  });

  test('is the only client that is written or read by its id', () => {
    expect(refusal(put('u8', aimed('cand-1')), of)).toBe('Protected');
    expect(refusal(ask('GET', '/admin/realms/shop/clients/u8'), of)).toBe('Protected');
    expect(refusal(put('u9', aimed('cand-1')), reading)).toBe('Protected');
    expect(
      refusal(put('u9', aimed('cand-1')), {
        ...of,
        probe: { id: 'u9', before: null, candidateIds: new Set(['cand-1']) },
      }),
    ).toBe('Undetermined');
    expect(
      refusal(put('u9', { ...aimed('cand-1'), id: 'u8' }), {
        ...of,
        probe: { id: 'u9', before: { ...before, id: 'u8' }, candidateIds: new Set() },
      }),
    ).toBe('Protected');
  });
});
