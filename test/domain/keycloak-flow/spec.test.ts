import { describe, expect, test } from 'vitest';
import { jsonSchemaOf } from '../../../src/domain/core/json-schema.ts';
import { loadSpecs } from '../../../src/domain/core/spec-file.ts';
import { formatFinding } from '../../../src/domain/core/finding.ts';
import { keycloakFlowSpec } from '../../../src/domain/keycloak-flow/spec.ts';
import { exampleInput } from './world.ts';

const kinds = { KeycloakFlow: keycloakFlowSpec };

function load(spec: Record<string, unknown>) {
  const document = {
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'KeycloakFlow',
    metadata: { name: 'shop-login' },
    spec,
  };
  const bytes = new TextEncoder().encode(JSON.stringify(document, null, 2));
  return loadSpecs([{ path: 'a.json', bytes }], kinds);
}

function findings(spec: Record<string, unknown>): string[] {
  return load({ desired: exampleInput(), ...spec }).findings.map(formatFinding);
}

describe('a KeycloakFlow document', () => {
  test('needs its desired state alone', () => {
    const { specs, findings } = load({ desired: exampleInput() });
    expect(findings).toEqual([]);
    expect(specs[0]?.spec).toMatchObject({ mode: 'Shadow', suspend: false, interval: 900_000, server: 'default' });
    expect(specs[0]?.spec).not.toHaveProperty('bind');
  });

  test.each(['account', 'account-console', 'admin-cli', 'security-admin-console', 'broker'])(
    'names no probe client that people log in through: %s',
    (client) => {
      const probe = { client, redirectUri: 'https://probe.example.com/', users: {} };
      expect(findings({ probe })).toEqual([expect.stringContaining('expected a client of its own')]);
      expect(findings({ probe: { ...probe, client: `${client}-probe` } })).toEqual([]);
    },
  );

  test('says where the bind switch stands, who shows logins and who approves', () => {
    const spec = {
      desired: exampleInput(),
      interval: '5m',
      bind: { configMap: { namespace: 'sso', name: 'login' } },
      probe: {
        client: 'holdfast-probe',
        redirectUri: 'https://probe.example.com/',
        users: { member: { username: 'probe-member', password: 'probe-member-password' } },
      },
    };
    expect(load(spec).specs[0]?.spec).toMatchObject({
      interval: 300_000,
      bind: { configMap: { cluster: 'default', key: 'bind' } },
    });
    expect(load({ ...spec, bind: { file: '/etc/holdfast/bind' } }).findings).toEqual([]);
  });

  test('shows a refusal of the desired state at its line and column', () => {
    const desired = exampleInput();
    desired.browserFlow = 'nowhere';
    expect(findings({ desired })).toEqual([
      expect.stringMatching(/^a\.json:\d+:\d+: spec\.desired\.browserFlow: "nowhere" is not declared/),
    ]);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['a misspelt field', { intervall: '5m' }, /unknown field "intervall"; did you mean "interval"/],
    ['no desired state', { desired: undefined }, /spec\.desired: required field is missing/],
    ['an interval that would hammer the server', { interval: '1s' }, /at least 10s/],
    ['two places for the switch', { bind: { file: '/a', configMap: { namespace: 'a', name: 'b' } } }, /bind/],
    ['a value in place of a place', { bind: 'true' }, /bind/],
    [
      'a password in place of its name',
      {
        probe: {
          client: 'p',
          redirectUri: 'https://x/',
          users: { member: { username: 'a', password: 'Tr0ub4dor&3' } },
        },
      },
      /name of one of the worker's secrets/,
    ],
    [
      'an administrator without OTP',
      { probe: { client: 'p', redirectUri: 'https://x/', users: { administrator: { username: 'a', password: 'b' } } } },
      /totp: required field is missing/,
    ],
    ['a key that approves nothing', { approvers: [{ name: 'ana', key: 'ssh-rsa x' }] }, /approvers\[0\]\.key/],
  ])('is refused with %s', (_, spec, message) => {
    expect(findings(spec).join('\n')).toMatch(message);
  });

  test('has a JSON Schema for editors', () => {
    const schema = jsonSchemaOf('KeycloakFlow', keycloakFlowSpec, 'A login flow.');
    expect(JSON.stringify(schema)).toContain('RpEntityName');
    expect(schema['title']).toBe('KeycloakFlow');
  });
});
