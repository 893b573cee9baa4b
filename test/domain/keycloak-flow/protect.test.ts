import { describe, expect, test } from 'vitest';
import { read, type Reading } from '../../../src/domain/core/verdict.ts';
import { flowsInUse, protectedSets, type UseReadings } from '../../../src/domain/keycloak-flow/protect.ts';
import type { ExecutionRow, FlowRepresentation } from '../../../src/domain/keycloak-flow/representation.ts';
import { desired, realm, served, unread } from './world.ts';

const of = desired();
const account = { id: 'u1', clientId: 'account' };
const management = { id: 'u2', clientId: 'realm-management' };

function plainFlow(alias: string): FlowRepresentation {
  return { id: `id of ${alias}`, alias, topLevel: true, builtIn: true, providerId: 'basic-flow' };
}

const builtIn = [
  'browser',
  'direct grant',
  'reset credentials',
  'registration',
  'clients',
  'docker auth',
  'first broker login',
];

function readings(overrides: Partial<UseReadings> = {}): UseReadings {
  return {
    realm: read(realm(of)),
    flows: read([...builtIn, 'step-up', 'after broker'].map(plainFlow)),
    clients: read([account, management]),
    identityProviders: read([]),
    ...overrides,
  };
}

function inUse(overrides: Partial<UseReadings> = {}, probe: string | null = null): readonly string[] {
  const reading = flowsInUse(readings(overrides), probe);
  if (reading.kind === 'unmeasured') throw new Error(reading.message);
  return reading.value;
}

describe('what is in use', () => {
  test('is every flow that the realm binds', () => {
    expect(inUse()).toEqual(builtIn);
  });

  test('is also what a client overrides, whatever it overrides', () => {
    const clients = read([
      account,
      management,
      {
        id: 'u3',
        clientId: 'shop',
        authenticationFlowBindingOverrides: { browser: 'id of step-up', direct_grant: '' },
      },
    ]);
    expect(inUse({ clients })).toEqual([...builtIn, 'step-up']);
  });

  test('is also what an identity provider goes on with', () => {
    const identityProviders = read([
      { alias: 'github', firstBrokerLoginFlowAlias: 'step-up', postBrokerLoginFlowAlias: 'after broker' },
      { alias: 'other', firstBrokerLoginFlowAlias: '', postBrokerLoginFlowAlias: null },
    ]);
    expect(inUse({ identityProviders })).toEqual([...builtIn, 'step-up', 'after broker']);
  });

  test('is not what the probe client overrides', () => {
    const clients = read([
      account,
      management,
      { id: 'u3', clientId: 'probe', authenticationFlowBindingOverrides: { browser: 'id of step-up' } },
    ]);
    expect(inUse({ clients }, 'probe')).toEqual(builtIn);
    expect(inUse({ clients }, 'other')).toContain('step-up');
  });

  test('is not known from a list that lacks what every realm has', () => {
    for (const clients of [[], [account], [management], [{ id: 'u3', clientId: 'shop' }]]) {
      expect(flowsInUse(readings({ clients: read(clients) }), null)).toMatchObject({
        kind: 'unmeasured',
        why: 'truncated',
      });
    }
    expect(flowsInUse(readings({ clients: read([account]) }), null)).toMatchObject({
      message: expect.stringMatching(/lacks realm-management.*grant view-clients/) as string,
    });
  });

  test('is told in the realm master by the client that manages it there', () => {
    const master = read({ ...realm(of), realm: 'master' });
    expect(inUse({ realm: master, clients: read([account, { id: 'u2', clientId: 'master-realm' }]) })).toEqual(builtIn);
  });

  test('is not known where an override names a flow that is not listed', () => {
    const clients = read([
      account,
      management,
      { id: 'u3', clientId: 'shop', authenticationFlowBindingOverrides: { browser: 'elsewhere' } },
    ]);
    expect(flowsInUse(readings({ clients }), null)).toMatchObject({ kind: 'unmeasured', why: 'missing' });
  });

  test.each(['realm', 'flows', 'clients', 'identityProviders'] as const)(
    'is not known where %s could not be read',
    (what) => {
      for (const why of ['denied', 'missing', 'timeout', 'unparsed', 'truncated'] as const) {
        expect(flowsInUse(readings({ [what]: unread(why) }), null)).toMatchObject({ kind: 'unmeasured', why });
      }
    },
  );
});

describe('the protected sets', () => {
  const bound = served(of);
  const flows = read([bound.flow]);
  const rows = (reading: Reading<readonly ExecutionRow[]>) => ({ 'browser-mfa': reading });

  test('R7 hold every nested flow and every execution of what is in use', () => {
    const sets = protectedSets(read(['browser-mfa']), flows, rows(read(bound.rows)));
    if (sets.kind === 'unmeasured') throw new Error(sets.message);
    expect([...sets.value.flows]).toEqual([
      'browser-mfa',
      'browser-mfa-forms',
      'browser-mfa-passkey-or-password',
      'browser-mfa-password-and-otp',
      'browser-mfa-conditional-otp',
    ]);
    expect(sets.value.executions).toEqual(new Set(bound.rows.map((row) => row.id)));
    expect(sets.value.flowIds).toEqual(new Set(['f', 'f-2', 'f-4', 'f-6', 'f-8']));
  });

  test('R21 are not known, and never empty, where a flow in use could not be read', () => {
    for (const why of ['denied', 'missing', 'timeout', 'unparsed', 'truncated'] as const) {
      expect(protectedSets(read(['browser-mfa']), flows, rows(unread(why)))).toMatchObject({ kind: 'unmeasured', why });
    }
    expect(protectedSets(read(['browser-mfa', 'browser']), flows, rows(read(bound.rows)))).toMatchObject({
      kind: 'unmeasured',
    });
    expect(protectedSets(unread(), flows, rows(read(bound.rows)))).toMatchObject({ kind: 'unmeasured' });
    expect(protectedSets(read(['browser-mfa']), unread(), rows(read(bound.rows)))).toMatchObject({
      kind: 'unmeasured',
    });
  });

  test('R8 are not known where a nested flow has no name', () => {
    const nameless = bound.rows.map((row, index) => (index === 8 ? { ...row, displayName: null, alias: 'x' } : row));
    expect(protectedSets(read(['browser-mfa']), flows, rows(read(nameless)))).toMatchObject({ kind: 'unmeasured' });
  });

  test('a flow that is named like something every object has is looked for among what was read', () => {
    expect(protectedSets(read(['constructor']), flows, {})).toMatchObject({ kind: 'unmeasured' });
  });
});
