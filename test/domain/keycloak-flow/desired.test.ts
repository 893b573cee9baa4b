import { describe, expect, test } from 'vitest';
import { formatFinding } from '../../../src/domain/core/finding.ts';
import { loadConfig } from '../../../src/domain/core/config-file.ts';
import { desiredStateSchema } from '../../../src/domain/keycloak-flow/desired.ts';
import { policyKeys } from '../../../src/domain/keycloak-flow/policy-keys.ts';
import { desiredTree } from '../../../src/domain/keycloak-flow/tree.ts';
import { desired, exampleInput, type ExampleInput } from './world.ts';

/** Every finding of the example after a change, as people see it in a file. */
function findings(change: (input: ExampleInput & Record<string, unknown>) => void): string[] {
  const input = exampleInput() as ExampleInput & Record<string, unknown>;
  change(input);
  const bytes = new TextEncoder().encode(JSON.stringify(input, null, 2));
  const loaded = loadConfig({ path: 'd.json', bytes }, desiredStateSchema);
  return loaded.ok ? [] : loaded.findings.map((f) => formatFinding(f).replace(/^d\.json:\d+:\d+: /, ''));
}

function only(change: (input: ExampleInput & Record<string, unknown>) => void): string {
  const found = findings(change);
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

/** The executions of a flow of the example, to be changed. */
function executions(input: ExampleInput, flow: string): Record<string, unknown>[] {
  return input.flows[flow]?.executions ?? [];
}

describe('a desired state', () => {
  test('flattens to the eleven rows of the example, the role condition at level 4', () => {
    const tree = desiredTree(desired());
    expect(tree.map((row) => `${row.level} ${row.name === '' ? row.alias : row.name} ${row.requirement}`)).toEqual([
      '0 auth-cookie ALTERNATIVE',
      '0 identity-provider-redirector ALTERNATIVE',
      '0 browser-mfa-forms ALTERNATIVE',
      '1 auth-username-form REQUIRED',
      '1 browser-mfa-passkey-or-password REQUIRED',
      '2 webauthn-authenticator-passwordless ALTERNATIVE',
      '2 browser-mfa-password-and-otp ALTERNATIVE',
      '3 auth-password-form REQUIRED',
      '3 browser-mfa-conditional-otp CONDITIONAL',
      '4 conditional-user-role REQUIRED',
      '4 auth-otp-form REQUIRED',
    ]);
    expect(tree[9]?.config).toEqual({ condUserRole: 'platform-admin', negate: 'false' });
  });

  test('knows exactly ten policy keys, and the example declares them all', () => {
    expect(policyKeys).toHaveLength(10);
    expect(Object.keys(desired().webAuthnPolicyPasswordless).sort()).toEqual([...policyKeys].sort());
  });

  test('may declare one policy key alone, and no required action', () => {
    const state = desired((input) => {
      input.webAuthnPolicyPasswordless = { RpId: '' } as never;
      delete (input as Partial<ExampleInput>).requiredAction;
    });
    expect(state.webAuthnPolicyPasswordless).toEqual({ RpId: '' });
    expect(state.requiredAction).toBeNull();
  });
});

describe('is refused before any request', () => {
  test('no realm', () => {
    expect(only((input) => delete (input as Partial<ExampleInput>).realm)).toMatch(/^realm: required field is missing/);
    expect(only((input) => (input.realm = ''))).toMatch(/^realm: expected the name of a realm/);
    expect(only((input) => (input.realm = '../master'))).toMatch(/^realm: expected the name of a realm/);
  });

  test.each<[string, string, unknown, RegExp]>([
    ['a number for a text', 'RpId', 1, /expected a string, got the number 1/],
    ['a boolean for seconds', 'CreateTimeout', true, /expected a?.*(number|integer).*got true/],
    ['seconds in quotes', 'CreateTimeout', '60', /got "60": write 60 without quotes/],
    ['part of a second', 'CreateTimeout', 1.5, /expected an? .*, got the number 1.5/],
    [
      'a text for a boolean',
      'AvoidSameAuthenticatorRegister',
      'true',
      /expected true or false, got "true": write true without quotes/,
    ],
    ['a text for a list', 'SignatureAlgorithms', 'ES256', /expected a list/],
    ['no algorithm', 'SignatureAlgorithms', [], /expected at least 1 item/],
    ['a list of numbers', 'AcceptableAaguids', [1], /expected a string/],
    ['a resident key that is not required', 'RequireResidentKey', 'No', /expected "Yes", got "No"/],
    ['nothing', 'RpId', null, /expected a string, got nothing/],
  ])('a policy value of the wrong type: %s', (_, key, value, message) => {
    const found = only((input) => ((input.webAuthnPolicyPasswordless as Record<string, unknown>)[key] = value));
    expect(found).toMatch(new RegExp(`^webAuthnPolicyPasswordless\\.${key}`));
    expect(found).toMatch(message);
  });

  test.each(['sslRequired', 'bruteForceProtected', 'browserFlow', 'PasskeysEnabled'])(
    'R37 a policy key that is none of the ten: %s',
    (key) => {
      const found = only((input) => ((input.webAuthnPolicyPasswordless as Record<string, unknown>)[key] = 'none'));
      expect(found).toMatch(new RegExp(`unknown field "${key}"`));
    },
  );

  test('no policy key at all', () => {
    expect(only((input) => (input.webAuthnPolicyPasswordless = {} as never))).toMatch(
      /expected one policy key at least/,
    );
  });

  test('R28 an empty RpEntityName', () => {
    expect(only((input) => (input.webAuthnPolicyPasswordless.RpEntityName = ''))).toBe(
      'webAuthnPolicyPasswordless.RpEntityName: expected a string that is not empty, got ""',
    );
  });

  test('no browserFlow, or one that is not declared or not top level', () => {
    expect(only((input) => delete (input as Partial<ExampleInput>).browserFlow)).toMatch(/^browserFlow: required/);
    expect(only((input) => (input.browserFlow = 'other'))).toMatch(
      /^browserFlow: "other" is not declared under flows; declared: browser-mfa, /,
    );
    expect(only((input) => ((input.flows['browser-mfa'] ?? { topLevel: true }).topLevel = false))).toMatch(
      /^flows\["?browser-mfa"?\]\.topLevel|^flows\.browser-mfa\.topLevel/,
    );
    expect(only((input) => (input.browserFlow = 'constructor'))).toMatch(/not declared/);
  });

  test('a duplicate alias of a flow or a configuration', () => {
    const text = JSON.stringify(exampleInput()).replace(
      '"authenticatorConfig":{',
      '"authenticatorConfig":{"conditional-otp-platform-admin":{"a":"b"},',
    );
    const loaded = loadConfig({ path: 'd', bytes: new TextEncoder().encode(text) }, desiredStateSchema);
    expect(loaded.ok ? [] : loaded.findings.map((f) => f.message)).toContain(
      'duplicate field "conditional-otp-platform-admin"; keep one of the two',
    );
    expect(
      only((input) =>
        executions(input, 'browser-mfa').push({
          kind: 'flow',
          name: 'browser-mfa-conditional-otp',
          requirement: 'ALTERNATIVE',
        }),
      ),
    ).toMatch(/sub-flow "browser-mfa-conditional-otp" is already part of/);
    expect(
      only((input) =>
        executions(input, 'browser-mfa').push({
          kind: 'authenticator',
          name: 'conditional-user-role',
          requirement: 'REQUIRED',
          configAlias: 'conditional-otp-platform-admin',
        }),
      ),
    ).toMatch(/"conditional-otp-platform-admin" is already the configuration of another execution/);
  });

  test('a flow without executions', () => {
    expect(
      findings((input) => ((input.flows['browser-mfa-conditional-otp'] ?? { executions: [] }).executions = [])),
    ).toContainEqual(expect.stringMatching(/executions: expected at least 1 item/));
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['neither authenticator nor flow', { requirement: 'REQUIRED' }, /kind: required field is missing/],
    [
      'an unknown kind',
      { kind: 'form', name: 'a', requirement: 'REQUIRED' },
      /kind: expected one of flow, authenticator/,
    ],
    ['no name', { kind: 'authenticator', name: '', requirement: 'REQUIRED' }, /name: expected the alias/],
    ['no requirement', { kind: 'authenticator', name: 'auth-cookie' }, /requirement: required field is missing/],
    [
      'an illegal requirement',
      { kind: 'authenticator', name: 'auth-cookie', requirement: 'required' },
      /did you mean REQUIRED/,
    ],
    [
      'CONDITIONAL on an authenticator',
      { kind: 'authenticator', name: 'auth-cookie', requirement: 'CONDITIONAL' },
      /CONDITIONAL is for sub-flows/,
    ],
    [
      'a condition that names a sub-flow by its alias',
      { kind: 'authenticator', name: 'conditional-sub-flow-executed', requirement: 'REQUIRED' },
      /would never be met in a candidate/,
    ],
    ['a script', { kind: 'authenticator', name: 'script-a.js', requirement: 'REQUIRED' }, /scripts cannot be managed/],
  ])('an execution with %s', (_, execution, message) => {
    const found = findings((input) => executions(input, 'browser-mfa').push(execution));
    expect(found).toContainEqual(expect.stringMatching(message));
    expect(found[0]).toMatch(/^flows(\.browser-mfa|\["browser-mfa"\])\.executions\[3\]/);
  });

  test('an undeclared sub-flow', () => {
    expect(
      only((input) =>
        executions(input, 'browser-mfa').push({ kind: 'flow', name: 'nowhere', requirement: 'REQUIRED' }),
      ),
    ).toMatch(/executions\[3\]\.name: sub-flow "nowhere" is not declared under flows/);
  });

  test('R39 an undeclared configuration', () => {
    const found = findings((input) => (input.authenticatorConfig = {}));
    expect(found).toEqual([
      expect.stringMatching(/configAlias: "conditional-otp-platform-admin" is not declared under authenticatorConfig/),
    ]);
  });

  test('a configuration without body, or for no execution, or of a sub-flow', () => {
    const set = (value: unknown) =>
      only((input) => (input.authenticatorConfig['conditional-otp-platform-admin'] = value));
    expect(set({})).toMatch(/expected one key at least/);
    expect(set(null)).toMatch(/expected (record|map|a map)/i);
    expect(only((input) => (input.authenticatorConfig['unused'] = { a: 'b' }))).toMatch(
      /authenticatorConfig\.unused: is the configAlias of no execution/,
    );
    expect(
      findings((input) => {
        const [, , third] = executions(input, 'browser-mfa');
        if (third !== undefined) third['configAlias'] = 'conditional-otp-platform-admin';
      }),
    ).toContainEqual(expect.stringMatching(/a sub-flow has no configuration/));
  });

  test('a configuration value that is no text, with the text that was meant', () => {
    const set = (value: unknown) =>
      only(
        (input) => (input.authenticatorConfig['conditional-otp-platform-admin'] = { condUserRole: 'a', negate: value }),
      );
    expect(set(false)).toMatch(/negate: expected a text, as Keycloak keeps it, got false: write "false"$/);
    expect(set(1)).toMatch(/got 1: write "1"$/);
    expect(set(['a'])).toMatch(/got a list$/);
    expect(set('')).toMatch(/Keycloak drops empty ones/);
  });

  test('a role condition without its role, as under the key that denies every administrator', () => {
    const set = (config: object) =>
      only((input) => (input.authenticatorConfig['conditional-otp-platform-admin'] = config));
    expect(set({ 'condition.evaluated.user.role': 'platform-admin', negate: 'false' })).toMatch(
      /authenticatorConfig\.conditional-otp-platform-admin: .*conditional-user-role.* condUserRole.* denies everybody/,
    );
  });

  test('a boolean of YAML in capitals is answered with the text in small letters', () => {
    const text = JSON.stringify(exampleInput()).replace('"negate":"false"', '"negate": False');
    const loaded = loadConfig({ path: 'd', bytes: new TextEncoder().encode(text) }, desiredStateSchema);
    expect(loaded.ok ? [] : loaded.findings.map((f) => f.message)).toEqual([
      'expected a text, as Keycloak keeps it, got false: write "false"',
    ]);
  });

  test.each<[string, string, string]>([
    ['the browser flow itself', 'browser-mfa-conditional-otp', 'browser-mfa'],
    ['a flow around it', 'browser-mfa-conditional-otp', 'browser-mfa-forms'],
    ['itself', 'browser-mfa-conditional-otp', 'browser-mfa-conditional-otp'],
  ])('R40 a cycle: a flow that contains %s', (_, flow, name) => {
    const found = findings((input) => executions(input, flow).push({ kind: 'flow', name, requirement: 'ALTERNATIVE' }));
    expect(found).toContainEqual(expect.stringMatching(/cycle/));
  });

  test('R40 a cycle that the browser flow does not reach', () => {
    const found = findings((input) => {
      input.flows['a'] = { topLevel: false, executions: [{ kind: 'flow', name: 'b', requirement: 'REQUIRED' }] };
      input.flows['b'] = { topLevel: false, executions: [{ kind: 'flow', name: 'a', requirement: 'REQUIRED' }] };
    });
    expect(found).toEqual([
      expect.stringMatching(/^flows\.a: cannot be reached/),
      expect.stringMatching(/^flows\.b: cannot be reached/),
    ]);
  });

  test('a flow that is nested deeper than anybody could follow', () => {
    const found = findings((input) => {
      let last = 'browser-mfa-conditional-otp';
      for (let at = 0; at < 40; at++) {
        const next = `deep-${at}`;
        executions(input, last).push({ kind: 'flow', name: next, requirement: 'ALTERNATIVE' });
        input.flows[next] = {
          topLevel: false,
          executions: [{ kind: 'authenticator', name: 'auth-cookie', requirement: 'ALTERNATIVE' }],
        };
        last = next;
      }
    });
    expect(found).toContainEqual(expect.stringMatching(/expected at most 20 levels/));
  });

  test('more executions than anybody could look after', () => {
    const found = findings((input) => {
      for (const flow of Object.values(input.flows)) {
        for (let at = 0; at < 70; at++) {
          flow.executions.push({ kind: 'authenticator', name: 'auth-cookie', requirement: 'DISABLED' });
        }
      }
    });
    expect(found).toEqual(['flows: expected at most 300 executions in all, got 361']);
  });

  test('configurations that no payload of Temporal would hold', () => {
    const found = findings((input) => {
      const keys = Array.from({ length: 60 }, (_, at) => [`key-${at}`, 'x'.repeat(4_000)]);
      Object.assign(input.authenticatorConfig['conditional-otp-platform-admin'] ?? {}, Object.fromEntries(keys));
    });
    expect(found).toEqual([
      expect.stringMatching(/^authenticatorConfig: expected configurations of at most 200000 characters in all/),
    ]);
  });

  test('a flow that cannot be reached from the browser flow', () => {
    expect(
      only((input) => {
        input.flows['aside'] = {
          topLevel: true,
          executions: [{ kind: 'authenticator', name: 'auth-cookie', requirement: 'REQUIRED' }],
        };
      }),
    ).toMatch(/^flows\.aside: cannot be reached from the browser flow "browser-mfa"/);
  });

  test.each<[string, (input: ExampleInput) => void]>([
    ['there is no such execution', (input) => executions(input, 'browser-mfa-passkey-or-password').shift()],
    [
      'it is disabled',
      (input) => {
        const [passkey] = executions(input, 'browser-mfa-passkey-or-password');
        if (passkey !== undefined) passkey['requirement'] = 'DISABLED';
      },
    ],
    [
      'a flow around it is disabled',
      (input) => {
        const forms = executions(input, 'browser-mfa')[2];
        if (forms !== undefined) forms['requirement'] = 'DISABLED';
      },
    ],
  ])('an enrolment that no login accepts: %s', (_, change) => {
    expect(only(change)).toMatch(/^requiredAction: people are asked to enrol a passkey that no execution accepts/);
  });

  test('another required action, or one that is made a default action', () => {
    expect(only((input) => (input.requiredAction.alias = 'CONFIGURE_TOTP'))).toMatch(
      /expected "webauthn-register-passwordless"/,
    );
    expect(only((input) => (input.requiredAction.defaultAction = true))).toMatch(/expected false/);
    expect(only((input) => (input.requiredAction.enabled = false))).toMatch(/expected true/);
  });

  test.each(['', '# nothing\n', 'null', '[]', '"a"', '{', 'realm: [', '---\n---\n'])(
    'R38 a file that holds no desired state: %j',
    (text) => {
      const loaded = loadConfig({ path: 'd.yaml', bytes: new TextEncoder().encode(text) }, desiredStateSchema);
      expect(loaded.ok ? [] : loaded.findings).not.toEqual([]);
    },
  );

  test('a block of required actions, which Keycloak would take for all there are', () => {
    expect(findings((input) => ((input as Record<string, unknown>)['requiredActions'] = []))).toEqual([
      expect.stringMatching(/unknown field "requiredActions"/),
    ]);
  });

  test.each(['a/b', '../x', 'a;b', 'a?b', 'a%2fb', ' a', 'a ', '-', '', 'a\nb'])(
    'an alias that no path should carry: %j',
    (alias) => {
      const found = findings((input) => (input.browserFlow = alias));
      expect(found).toContainEqual(expect.stringMatching(/^browserFlow: expected an alias/));
    },
  );
});
