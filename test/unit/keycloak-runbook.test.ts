import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { neededRoles } from '../../src/domain/keycloak-flow/needed-roles.ts';
import { stands, textOf, wordsToldBy } from './runbook-words.ts';

const runbook = textOf('docs/keycloak-flow.md');

/** Words in the code that nobody is told as a phase, reason, condition or notification. */
const others = new Set(
  [
    'Enforce Observe Shadow True False KeycloakFlow Keycloak Holdfast',
    'REQUIRED ALTERNATIVE CONDITIONAL DISABLED GET POST PUT REALM UPDATE Z Yes',
    'AcceptableAaguids ConfigMap Secret ENOENT ECONNRESET EPIPE EPROTO KeycloakRealmImport',
    // Of the choke point: people are told them as RefusedBody and so on.
    'Body MalformedPath Masked NotListed OtherRealm OutsideBuild Protected Query',
  ].flatMap((line) => line.split(' ')),
);

const sources = ['src/domain/keycloak-flow', 'src/activities/keycloak'].flatMap((folder) =>
  readdirSync(new URL(`../../${folder}`, import.meta.url)).map((name) => `${folder}/${name}`),
);

test.each(sources)('every word with which %s says why stands in the runbook of login flows', (source) => {
  expect(wordsToldBy(source).filter((word) => !others.has(word) && !stands(word, runbook))).toEqual([]);
});

test('each refusal of the choke point is told as it is named', () => {
  const [, union = ''] =
    /export type RefusalReason =([^;]+);/.exec(textOf('src/domain/keycloak-flow/refusal.ts')) ?? [];
  const reasons = [...union.matchAll(/'(\w+)'/g)].map(([, word = '']) => word);
  expect(reasons.length).toBeGreaterThan(5);
  expect(reasons.filter((reason) => !stands(`Refused${reason}`, runbook))).toEqual([]);
});

describe('the roles of the runbook', () => {
  test('are those that doctor asks for', () => {
    const roles = new Set([...neededRoles('Shadow'), ...neededRoles('Enforce')].map(({ role }) => role));
    const [, section = ''] = runbook.split('## Set up');
    const rows = [...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, role = '']) => role);
    expect(rows.sort()).toEqual([...roles].sort());
  });

  test('the commands grant those of Enforce, and no others', () => {
    const granted = [...runbook.matchAll(/--cclientid realm-management \\\n([^\n]+)/g)].flatMap(([, line = '']) =>
      [...line.matchAll(/--rolename ([\w-]+)/g)].map(([, role = '']) => role),
    );
    expect(granted.sort()).toEqual(
      neededRoles('Enforce')
        .map(({ role }) => role)
        .sort(),
    );
  });
});
