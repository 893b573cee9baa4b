import { describe, expect, test } from 'vitest';
import { judgeRoles, neededRoles } from '../../../src/domain/keycloak-flow/needed-roles.ts';

const lacking = (roles: readonly string[], mode: 'Shadow' | 'Enforce') =>
  judgeRoles(roles, mode).lacking.map(({ role }) => role);

describe('the roles of realm-management', () => {
  test('Shadow needs none that writes, and each has its reason', () => {
    const roles = neededRoles('Shadow');
    expect(roles.map(({ role }) => role).filter((role) => !role.startsWith('view-'))).toEqual([]);
    for (const { why } of roles) expect(why).not.toBe('');
  });

  test('Enforce needs one that writes, and it is told where that is missing', () => {
    const looking = neededRoles('Shadow').map(({ role }) => role);
    expect(lacking(looking, 'Shadow')).toEqual([]);
    expect(lacking(looking, 'Enforce')).toEqual(['manage-realm']);
    expect(lacking([...looking, 'manage-realm'], 'Enforce')).toEqual([]);
  });

  test('manage-realm reads the realm, too; no other role stands for it', () => {
    const others = ['view-clients', 'view-identity-providers', 'view-events'];
    expect(lacking([...others, 'manage-realm'], 'Enforce')).toEqual([]);
    expect(lacking([...others, 'manage-users', 'realm-admin'], 'Enforce')).toEqual(['manage-realm']);
  });

  test.each(neededRoles('Shadow').map(({ role }) => role))('nothing but its own manager stands for %s', (role) => {
    const others = neededRoles('Shadow').flatMap((other) => (other.role === role ? [] : [other.role]));
    expect(lacking([...others, 'realm-admin', 'query-clients'], 'Shadow')).toEqual([role]);
    expect(lacking([...others, role.replace('view-', 'manage-')], 'Shadow')).toEqual([]);
  });

  test('what is more than needed is told, and the parts that come with a role are not', () => {
    const roles = ['view-realm', 'view-clients', 'query-clients', 'view-identity-providers', 'view-events'];
    expect(judgeRoles([...roles, 'manage-users', 'manage-realm'], 'Shadow').spare).toEqual([
      'manage-users',
      'manage-realm',
    ]);
    expect(judgeRoles([...roles, 'manage-realm'], 'Enforce').spare).toEqual([]);
  });
});
