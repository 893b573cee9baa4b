import { describe, expect, test } from 'vitest';
import { checkRendered, renderImport } from '../../../src/domain/keycloak-flow/render-import.ts';
import { desired, exampleInput } from './world.ts';

/** The example as a realm import. */
function exampleImport(): Record<string, unknown> {
  const of = exampleInput();
  const policy = Object.entries(of.webAuthnPolicyPasswordless).map(([key, value]) => [
    `webAuthnPolicyPasswordless${key}`,
    value,
  ]);
  const flows = Object.entries(of.flows).map(([alias, flow]) => ({
    alias,
    topLevel: flow.topLevel,
    builtIn: false,
    providerId: 'basic-flow',
    authenticationExecutions: flow.executions.map((e, index) => ({
      ...(e['kind'] === 'flow'
        ? { flowAlias: e['name'], authenticatorFlow: true }
        : { authenticator: e['name'], authenticatorFlow: false }),
      requirement: e['requirement'],
      priority: (index + 1) * 10,
      userSetupAllowed: false,
      ...(e['configAlias'] === undefined ? {} : { authenticatorConfig: e['configAlias'] }),
    })),
  }));
  return {
    realm: of.realm,
    enabled: true,
    sslRequired: 'external',
    browserFlow: of.browserFlow,
    ...(Object.fromEntries(policy) as Record<string, unknown>),
    webAuthnPolicyPasswordlessExtraOrigins: [],
    authenticationFlows: [
      {
        alias: 'aside',
        topLevel: true,
        builtIn: false,
        authenticationExecutions: [{ authenticator: 'auth-cookie', requirement: 'REQUIRED', priority: 1 }],
      },
      ...flows,
    ],
    authenticatorConfig: [
      ...Object.entries(of.authenticatorConfig).map(([alias, config]) => ({ alias, config })),
      { alias: 'of something else', config: { a: 'b' } },
    ],
    clients: [{ clientId: 'shop' }],
  };
}

type Changeable = Record<string, unknown> & {
  authenticationFlows: { alias: string; authenticationExecutions: Record<string, unknown>[] }[];
  authenticatorConfig: { alias: string; config: Record<string, unknown> }[];
};

function rendered(change: (realm: Changeable) => void = () => {}) {
  const realm = exampleImport() as Changeable;
  change(realm);
  return renderImport(realm);
}

function faults(change: (realm: Changeable) => void): string[] {
  const result = rendered(change);
  return result.ok ? [] : result.faults.map((fault) => `${fault.path.join('.')}: ${fault.message}`);
}

describe('a desired state that is rendered from an import', () => {
  test('is the declared one: ten keys, eleven rows, and only what the browser flow reaches', () => {
    expect(rendered()).toEqual({ ok: true, desired: desired() });
  });

  test('is found in what the operator wraps around it, too', () => {
    const document = {
      apiVersion: 'k8s.keycloak.org/v2alpha1',
      kind: 'KeycloakRealmImport',
      spec: { keycloakCRName: 'kc', realm: exampleImport() },
    };
    expect(renderImport(document)).toEqual({ ok: true, desired: desired() });
  });

  test('is ordered by priority, not by the list', () => {
    const shuffled = rendered((realm) =>
      realm.authenticationFlows.forEach((flow) => flow.authenticationExecutions.reverse()),
    );
    expect(shuffled).toEqual({ ok: true, desired: desired() });
  });

  test('without priorities is ordered by the list', () => {
    const plain = rendered((realm) =>
      realm.authenticationFlows.forEach((flow) => flow.authenticationExecutions.forEach((e) => delete e['priority'])),
    );
    expect(plain).toEqual({ ok: true, desired: desired() });
  });

  test('asks for no enrolment where the flow accepts no passkey', () => {
    const without = rendered((realm) => {
      const flow = realm.authenticationFlows.find((f) => f.alias === 'browser-mfa-passkey-or-password');
      flow?.authenticationExecutions.shift();
    });
    expect(without).toMatchObject({ ok: true, desired: { requiredAction: null } });
  });
});

describe('an import is refused', () => {
  test('with a block of required actions, which would delete ten others', () => {
    expect(faults((realm) => (realm['requiredActions'] = []))).toEqual([
      expect.stringMatching(
        /^requiredActions: Keycloak takes this for all there are, and would delete every other required action/,
      ),
    ]);
  });

  test('with the same alias twice', () => {
    expect(
      faults((realm) =>
        realm.authenticationFlows.push({ alias: 'aside', topLevel: true, authenticationExecutions: [] } as never),
      ),
    ).toEqual(['authenticationFlows.6.alias: "aside" is already the alias of authenticationFlows[0]']);
    expect(faults((realm) => realm.authenticatorConfig.push({ alias: 'of something else', config: {} }))).toHaveLength(
      1,
    );
  });

  test('where the order of a flow is not decided', () => {
    expect(
      faults((realm) => {
        const execution = realm.authenticationFlows[1]?.authenticationExecutions[1];
        if (execution !== undefined) execution['priority'] = 10;
      }),
    ).toEqual([expect.stringMatching(/order of flow "browser-mfa" is not decided/)]);
  });

  test('with a configuration value that is no text', () => {
    expect(
      faults((realm) => {
        const [config] = realm.authenticatorConfig;
        if (config !== undefined) config.config['negate'] = false;
      }),
    ).toEqual([expect.stringMatching(/got false: write "false"$/)]);
  });

  test('with an execution that is neither flow nor authenticator, or is a form flow', () => {
    expect(
      faults((realm) =>
        realm.authenticationFlows[1]?.authenticationExecutions.push({ requirement: 'REQUIRED', priority: 99 }),
      ),
    ).toEqual([
      expect.stringMatching(/executions\.3\.name: .*expected the alias of a sub-flow or the id of an authenticator/),
    ]);
    expect(
      faults((realm) => {
        const third = realm.authenticationFlows[1]?.authenticationExecutions[2];
        if (third !== undefined) third['authenticator'] = 'registration-page-form';
      }),
    ).toEqual([expect.stringMatching(/is a form flow/)]);
  });

  test('with a cycle, without browser flow, without policy, or where it is no realm at all', () => {
    expect(
      faults((realm) =>
        realm.authenticationFlows
          .at(-1)
          ?.authenticationExecutions.push({ flowAlias: 'browser-mfa-forms', requirement: 'REQUIRED', priority: 99 }),
      ),
    ).toContainEqual(expect.stringMatching(/cycle/));
    expect(faults((realm) => delete realm['browserFlow'])).toHaveLength(1);
    expect(
      faults((realm) => {
        for (const key of Object.keys(realm)) if (key.startsWith('webAuthnPolicyPasswordless')) delete realm[key];
      }),
    ).toContainEqual(expect.stringMatching(/one policy key at least/));
    for (const nothing of [null, 'realm', [], {}, { kind: 'KeycloakRealmImport' }]) {
      expect(renderImport(nothing)).toMatchObject({ ok: false });
    }
  });
});

describe('a committed desired state', () => {
  const current = desired();

  test('that is current does not differ', () => {
    expect(checkRendered(current, current)).toEqual([]);
  });

  test.each<[string, Parameters<typeof desired>[0], RegExp]>([
    [
      'a policy key',
      (input) => (input.webAuthnPolicyPasswordless.RpId = 'old'),
      /^webAuthnPolicyPasswordless\.RpId is "old"; the import says "login\.example\.com"$/,
    ],
    [
      'a policy key that is no longer declared',
      (input) => delete (input.webAuthnPolicyPasswordless as Record<string, unknown>)['RpId'],
      /RpId is not declared/,
    ],
    [
      'a configuration',
      (input) => (input.authenticatorConfig['conditional-otp-platform-admin'] = { condUserRole: 'x', negate: 'false' }),
      /condUserRole is "x" instead of "platform-admin"/,
    ],
    [
      'a requirement',
      (input) => {
        const first = input.flows['browser-mfa']?.executions[0];
        if (first !== undefined) first['requirement'] = 'DISABLED';
      },
      /auth-cookie is DISABLED instead of ALTERNATIVE/,
    ],
    ['the required action', (input) => (input.requiredAction = null as never), /^requiredAction is null/],
  ])('is told where it differs in %s', (_, change, message) => {
    expect(checkRendered(desired(change), current)).toEqual([expect.stringMatching(message)]);
  });

  test('is told where a flow is only named otherwise', () => {
    const renamed = desired((input) => {
      input.flows['other'] = input.flows['browser-mfa-forms'] as never;
      delete input.flows['browser-mfa-forms'];
      const third = input.flows['browser-mfa']?.executions[2];
      if (third !== undefined) third['name'] = 'other';
    });
    expect(checkRendered(renamed, current)).toEqual(['a flow is named otherwise']);
  });
});
