import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { read } from '../../../src/domain/core/verdict.ts';
import type { ExecutionRow } from '../../../src/domain/keycloak-flow/representation.ts';
import { diffLines, diffTrees, treeLines } from '../../../src/domain/keycloak-flow/tree-diff.ts';
import {
  desiredTree,
  sameTree,
  treeRead,
  type FlowTree,
  type TreeRow,
} from '../../../src/domain/keycloak-flow/tree.ts';
import { desired, served, unread, type ServedFlow } from './world.ts';

const wanted = desiredTree(desired());

function tree({ rows, configs, flow }: ServedFlow): FlowTree {
  const reading = treeRead(rows, configs, flow);
  if (reading.kind === 'unmeasured') throw new Error(reading.message);
  return reading.value;
}

/** The example as a server answers it, with some of its rows changed. */
function changed(change: (rows: ExecutionRow[]) => void): ServedFlow {
  const flow = served(desired(), '-x');
  change(flow.rows);
  return flow;
}

function row(rows: readonly ExecutionRow[], index: number): ExecutionRow {
  const found = rows[index];
  if (found === undefined) throw new Error(`there is no row ${index}`);
  return found;
}

function differences(found: FlowTree): string[] {
  return diffTrees(wanted, found).map((difference) => difference.message);
}

describe('a tree that is read', () => {
  test('R17 is the declared one, whatever its flows and configurations are called', () => {
    expect(sameTree(wanted, tree(served(desired(), '-0123456789ab-r2')))).toBe(true);
    expect(differences(tree(served(desired(), '-0123456789ab-r2')))).toEqual([]);
  });

  test('R7 R8 a sub-flow row without displayName is not measured, even where it has an alias', () => {
    const flow = changed((rows) => {
      const { displayName: _, ...rest } = row(rows, 4);
      rows[4] = { ...rest, alias: 'browser-mfa-passkey-or-password' };
    });
    const reading = treeRead(flow.rows, flow.configs, flow.flow);
    expect(reading).toMatchObject({
      kind: 'unmeasured',
      message: expect.stringMatching(/has no displayName/) as string,
    });
  });

  test.each(['', null])('R8 a sub-flow row whose displayName is %j is not measured', (displayName) => {
    const flow = changed((rows) => (rows[2] = { ...row(rows, 2), displayName }));
    expect(treeRead(flow.rows, flow.configs).kind).toBe('unmeasured');
  });

  test('names sub-flows by displayName, so that nested ones are seen', () => {
    expect(
      tree(served(desired(), '-x'))
        .map((r) => r.alias)
        .filter((alias) => alias !== ''),
    ).toEqual([
      'browser-mfa-forms-x',
      'browser-mfa-passkey-or-password-x',
      'browser-mfa-password-and-otp-x',
      'browser-mfa-conditional-otp-x',
    ]);
  });

  test.each<[string, (rows: ExecutionRow[]) => void]>([
    ['lacks a row in its middle', (rows) => rows.splice(1, 1)],
    ['lacks a sub-flow around others', (rows) => rows.splice(4, 1)],
    ['lacks its end, of which the list of flows knows', (rows) => rows.splice(2)],
    ['begins below level 0', (rows) => rows.splice(0, 3)],
    ['lists a row twice', (rows) => rows.push({ ...row(rows, 0), index: 3 })],
    [
      'has children below an authenticator',
      (rows) => (rows[2] = { ...row(rows, 2), authenticationFlow: false, providerId: 'a' }),
    ],
    ['is not in order', (rows) => rows.reverse()],
  ])('is not measured where the answer %s', (_, change) => {
    const flow = changed(change);
    expect(treeRead(flow.rows, flow.configs, flow.flow)).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
  });

  test('is not measured where a requirement or an authenticator is not known', () => {
    const odd = changed((rows) => (rows[0] = { ...row(rows, 0), requirement: 'OPTIONAL' }));
    expect(treeRead(odd.rows, odd.configs)).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    const nameless = changed((rows) => (rows[0] = { ...row(rows, 0), providerId: null }));
    expect(treeRead(nameless.rows, nameless.configs)).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
  });

  test('an empty flow is an empty tree, not an unknown one', () => {
    expect(treeRead([], {}, { alias: 'a', authenticationExecutions: [] })).toEqual(read([]));
  });
});

describe('a configuration', () => {
  const id = 'c-x-9';

  test('that could not be read leaves the tree unmeasured', () => {
    const flow = served(desired(), '-x');
    for (const why of ['denied', 'timeout', 'unparsed', 'missing'] as const) {
      expect(treeRead(flow.rows, { [id]: unread(why) })).toMatchObject({ kind: 'unmeasured', why });
    }
    expect(treeRead(flow.rows, {})).toMatchObject({
      kind: 'unmeasured',
      message: expect.stringMatching(/was not read/) as string,
    });
  });

  test('R22 that vanished, as both answers say, is a difference', () => {
    const flow = changed((rows) => {
      const { alias: _, ...rest } = row(rows, 9);
      rows[9] = rest;
    });
    expect(differences(tree({ ...flow, configs: { [id]: unread('missing') } }))).toEqual([
      'conditional-user-role: has no configuration; declared is condUserRole="platform-admin", negate="false"',
    ]);
    const gone = changed((rows) => {
      const { alias: _, authenticationConfig: __, ...rest } = row(rows, 9);
      rows[9] = rest;
    });
    expect(differences(tree({ ...gone, configs: {} }))).toHaveLength(1);
  });

  test('R22 with a wrong value, or under the key that refuses every administrator, is a difference', () => {
    const with_ = (config: Record<string, string>) =>
      tree({ ...served(desired(), '-x'), configs: { [id]: read({ id, alias: 'a', config }) } });
    expect(differences(with_({ condUserRole: 'platform-admins', negate: 'false' }))).toEqual([
      'conditional-user-role: condUserRole is "platform-admins" instead of "platform-admin"',
    ]);
    expect(differences(with_({ 'condition.evaluated.user.role': 'platform-admin', negate: 'false' }))).toEqual([
      'conditional-user-role: condUserRole is not set; declared is "platform-admin"; condition.evaluated.user.role is "platform-admin" and not declared',
    ]);
    expect(differences(with_({ condUserRole: 'platform-admin', negate: 'False' }))).toHaveLength(1);
  });

  test('R23 with a key that is not declared is a difference', () => {
    const config = { condUserRole: 'platform-admin', negate: 'false', 'condition.evaluated.user.role': 'x' };
    const found = tree({ ...served(desired(), '-x'), configs: { [id]: read({ id, alias: 'a', config }) } });
    expect(sameTree(wanted, found)).toBe(false);
    expect(differences(found)).toEqual([
      'conditional-user-role: condition.evaluated.user.role is "x" and not declared',
    ]);
  });

  test('that is not declared at all is a difference', () => {
    const flow = changed((rows) => (rows[10] = { ...row(rows, 10), alias: 'x', authenticationConfig: 'c9' }));
    const found = tree({ ...flow, configs: { ...flow.configs, c9: read({ id: 'c9', config: { a: 'b' } }) } });
    expect(differences(found)).toEqual(['auth-otp-form: has a configuration that is not declared (a="b")']);
  });
});

describe('a difference', () => {
  test('R24 of one requirement is found', () => {
    const found = tree(changed((rows) => (rows[5] = { ...row(rows, 5), requirement: 'REQUIRED' })));
    expect(sameTree(wanted, found)).toBe(false);
    expect(differences(found)).toEqual(['webauthn-authenticator-passwordless is REQUIRED instead of ALTERNATIVE']);
  });

  test('R24 from a flow of the old kind is told row by row, and shown as one tree', () => {
    const legacy = desired((input) => {
      input.requiredAction = null as never;
      input.authenticatorConfig = {};
      input.flows = {
        'browser-mfa': {
          topLevel: true,
          executions: [
            { kind: 'authenticator', name: 'auth-cookie', requirement: 'ALTERNATIVE' },
            { kind: 'flow', name: 'forms', requirement: 'ALTERNATIVE' },
          ],
        },
        forms: {
          topLevel: false,
          executions: [{ kind: 'authenticator', name: 'auth-username-password-form', requirement: 'REQUIRED' }],
        },
      };
    });
    expect(diffLines(wanted, tree(served(legacy)))).toEqual([
      '  auth-cookie ALTERNATIVE',
      '+ identity-provider-redirector ALTERNATIVE',
      '  flow forms (declared: browser-mfa-forms) ALTERNATIVE',
      '-   auth-username-password-form REQUIRED',
      '+   auth-username-form REQUIRED',
      '+   flow browser-mfa-passkey-or-password REQUIRED',
      '+     webauthn-authenticator-passwordless ALTERNATIVE',
      '+     flow browser-mfa-password-and-otp ALTERNATIVE',
      '+       auth-password-form REQUIRED',
      '+       flow browser-mfa-conditional-otp CONDITIONAL',
      '+         conditional-user-role REQUIRED {condUserRole="platform-admin", negate="false"}',
      '+         auth-otp-form REQUIRED',
    ]);
  });

  test('names a sub-flow as it is called there, so that it is found', () => {
    const found = wanted.map((row) =>
      row.alias === 'browser-mfa-forms' ? { ...row, alias: 'Forms', requirement: 'REQUIRED' as const } : row,
    );
    expect(differences(found)).toEqual(['flow Forms (declared: browser-mfa-forms) is REQUIRED instead of ALTERNATIVE']);
    const ours = wanted.map((row) => (row.alias === '' ? row : { ...row, alias: `${row.alias}-8b226a987a8e` }));
    expect(diffLines(wanted, ours)).toEqual(treeLines(wanted).map((line) => `  ${line}`));
  });

  test('H-B04 of the order alone is found', () => {
    const swapped = desired((input) => {
      const [first, second] = input.flows['browser-mfa']?.executions ?? [];
      if (first !== undefined && second !== undefined)
        input.flows['browser-mfa']?.executions.splice(0, 2, second, first);
    });
    expect(sameTree(wanted, desiredTree(swapped))).toBe(false);
    expect(differences(desiredTree(swapped)).length).toBeGreaterThan(0);
  });

  test('of a row that was added by hand is found', () => {
    const flow = changed((rows) =>
      rows.push({ id: 'new', level: 0, index: 3, requirement: 'ALTERNATIVE', providerId: 'auth-spnego' }),
    );
    const found = tree({ ...flow, flow: { ...flow.flow, authenticationExecutions: [{}, {}, {}, {}] } });
    expect(differences(found)).toEqual(['auth-spnego ALTERNATIVE at level 0 is not declared']);
  });

  test('a form flow is not a plain one', () => {
    const found = tree(changed((rows) => (rows[2] = { ...row(rows, 2), providerId: 'registration-page-form' })));
    expect(sameTree(wanted, found)).toBe(false);
  });

  test('a tree is shown a line a row', () => {
    expect(treeLines(wanted)).toHaveLength(11);
    expect(treeLines(wanted)[10]).toBe('        auth-otp-form REQUIRED');
  });
});

const rows: fc.Arbitrary<TreeRow> = fc.record({
  level: fc.nat(2),
  kind: fc.constantFrom('flow' as const, 'authenticator' as const),
  name: fc.constantFrom('a', 'b'),
  alias: fc.constantFrom('x', 'y'),
  requirement: fc.constantFrom('REQUIRED' as const, 'DISABLED' as const),
  config: fc.constantFrom<TreeRow['config'][]>(null, {}, { k: 'v' }, { k: 'w' }, { k: 'v', l: 'v' }),
});
const trees = fc.array(rows, { maxLength: 7 });

describe('for all trees', () => {
  property.prop([trees, trees])('there are differences exactly where the trees are not the same', (a, b) => {
    expect(diffTrees(a, b).length === 0).toBe(sameTree(a, b));
    expect(sameTree(a, b)).toBe(sameTree(b, a));
  });

  property.prop([trees])('a tree is the same as itself under other aliases', (a) => {
    expect(
      sameTree(
        a,
        a.map((r) => ({ ...r, alias: 'other' })),
      ),
    ).toBe(true);
  });

  property.prop([trees, trees])('the lines of a difference hold every row of both trees', (a, b) => {
    const lines = diffLines(a, b);
    expect(lines.filter((line) => !line.startsWith('-'))).toHaveLength(a.length);
    expect(lines.filter((line) => !line.startsWith('+')).length).toBe(b.length);
  });
});
