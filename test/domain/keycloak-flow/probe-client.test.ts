import { describe, expect, test } from 'vitest';
import { aimedBody, ourFlowIds, probeAim } from '../../../src/domain/keycloak-flow/probe-client.ts';
import { readingScope } from '../../../src/domain/keycloak-flow/screen-scope.ts';
import { screen } from '../../../src/domain/keycloak-flow/screen.ts';
import { bound, building } from './scopes.ts';
import { NAME } from './world.ts';

const client = { id: 'u9', clientId: 'probe', secret: 's', authenticationFlowBindingOverrides: { direct_grant: 'g' } };
const ours = ourFlowIds([bound.flow, building.flow], NAME);

function withOverride(browser: string | null) {
  return { ...client, authenticationFlowBindingOverrides: { direct_grant: 'g', browser } };
}

describe('the probe client', () => {
  test('is aimed at what this workflow built, and at nothing of others', () => {
    expect([...ours]).toEqual([building.flow.id]);
    expect([...ourFlowIds([building.flow], 'other')]).toEqual([]);
  });

  test('that is aimed at a flow of somebody else is not taken for ours', () => {
    expect(probeAim(client, ours)).toBe('nothing');
    expect(probeAim(withOverride(''), ours)).toBe('nothing');
    expect(probeAim(withOverride(null), ours)).toBe('nothing');
    expect(probeAim(withOverride(building.flow.id), ours)).toBe('ours');
    expect(probeAim(withOverride(bound.flow.id), ours)).toBe('foreign');
  });

  test('is aimed and aimed at nothing again by bodies that the choke point lets pass', () => {
    const path = '/admin/realms/shop/clients/u9';
    const scope = (before: typeof client) => ({
      ...readingScope('shop', 'shop', 'Enforce'),
      probe: { id: 'u9', before, candidateIds: ours },
    });
    const aimed = aimedBody(client, building.flow.id);
    expect(screen({ method: 'PUT', path, body: aimed }, scope(client)).kind).toBe('allow');
    const again = aimedBody(aimed as typeof client, '');
    expect(screen({ method: 'PUT', path, body: again }, scope(aimed as typeof client)).kind).toBe('allow');
    expect(screen({ method: 'PUT', path, body: aimedBody(client, bound.flow.id) }, scope(client)).kind).toBe('refuse');
  });
});
