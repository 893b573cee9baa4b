import { describe, expect, test } from 'vitest';
import { read } from '../../../src/domain/core/verdict.ts';
import { bindingFault, checkBind, type BeforeBind } from '../../../src/domain/keycloak-flow/check-bind.ts';
import { checkLift, checkRollback } from '../../../src/domain/keycloak-flow/check-rollback.ts';
import { withRealmMarks, noRealmMarks, type RealmMarks } from '../../../src/domain/keycloak-flow/realm-marks.ts';
import type { BindCommand } from '../../../src/domain/keycloak-flow/run.ts';
import { contentHash } from '../../../src/domain/keycloak-flow/candidate-name.ts';
import { building, candidate, of } from './scopes.ts';
import { NAME, NOW, realm, unread } from './world.ts';

const command: BindCommand = {
  do: 'bind',
  candidate: candidate.alias,
  flowId: building.flow.id,
  treeHash: contentHash(of),
  from: 'browser',
  bindSwitch: 'true',
  by: 'the bind switch',
  away: [],
};

const good: BeforeBind = {
  bindSwitch: { kind: 'read', value: 'true' },
  realm: read(realm(of)),
  flows: read([building.flow]),
  candidate: read(building),
};

function marked(marks: Partial<RealmMarks>, browserFlow = 'browser') {
  return read(realm(of, { browserFlow, attributes: withRealmMarks({ a: 'b' }, { ...noRealmMarks, ...marks }) }));
}

function end(fresh: Partial<BeforeBind>, of_ = command): string {
  const check = checkBind(of, NAME, of_, { ...good, ...fresh }, NOW);
  if (check.kind === 'send') return 'send';
  return check.outcome.kind === 'stopped' ? check.outcome.reason : check.outcome.kind;
}

const mark = { by: 'ana', reason: '', at: 1 };

describe('right before a bind', () => {
  test('everything as it was decided lets the one PUT go, with its marks', () => {
    const check = checkBind(of, NAME, command, good, NOW);
    expect(check).toMatchObject({
      kind: 'send',
      marks: {
        bound: { of: NAME, alias: candidate.alias, by: 'the bind switch', at: NOW },
        previous: 'browser',
        hold: null,
      },
    });
  });

  test('R4 a candidate that is not the declared tree is not bound', () => {
    const rows = building.rows.map((row, index) => (index === 5 ? { ...row, requirement: 'REQUIRED' } : row));
    expect(end({ candidate: read({ ...building, rows }) })).toBe('CandidateChanged');
    expect(end({ candidate: read({ ...building, rows: building.rows.slice(0, 10) }) })).toBe('CandidateChanged');
    const equal = building.rows.map((row) => ({ ...row, priority: 0 }));
    expect(end({ candidate: read({ ...building, rows: equal }) })).toBe('CandidateChanged');
    expect(end({}, { ...command, treeHash: '000000000000' })).toBe('CandidateChanged');
  });

  test('a candidate that is gone, replaced or no longer top level is not bound', () => {
    expect(end({ flows: read([]) })).toBe('CandidateGone');
    expect(end({ flows: read([{ ...building.flow, topLevel: false }]) })).toBe('CandidateGone');
    expect(end({ flows: read([{ ...building.flow, id: 'other' }]) })).toBe('CandidateReplaced');
    expect(end({ candidate: read({ ...building, flow: { ...building.flow, id: 'other' } }) })).toBe(
      'CandidateReplaced',
    );
  });

  test('R13 a switch that turned, or that cannot be read any more, stops it', () => {
    expect(end({ bindSwitch: { kind: 'read', value: 'false' } })).toBe('SwitchTurned');
    expect(end({ bindSwitch: { kind: 'read', value: 'absent' } })).toBe('SwitchTurned');
    expect(end({ bindSwitch: { kind: 'read', value: 'false' } }, { ...command, bindSwitch: 'false' })).toBe(
      'SwitchTurned',
    );
    expect(end({ bindSwitch: { kind: 'invalid', message: 'x' } })).toBe('InvalidSwitch');
    expect(end({ bindSwitch: unread() })).toBe('notRead');
  });

  test('another flow that was bound meanwhile, or a hold, stops it', () => {
    expect(end({ realm: read(realm(of, { browserFlow: 'other' })) })).toBe('BoundMeanwhile');
    expect(end({ realm: marked({ hold: mark }) })).toBe('Held');
  });

  test.each(['realm', 'flows', 'candidate'] as const)('a reading of %s that fails stops it', (what) => {
    for (const why of ['denied', 'missing', 'timeout', 'truncated', 'unparsed'] as const) {
      expect(end({ [what]: unread(why) })).toBe('notRead');
    }
  });

  test('a configuration of the candidate that cannot be read stops it', () => {
    const configs = Object.fromEntries(Object.keys(building.configs).map((id) => [id, unread('denied')]));
    expect(end({ candidate: read({ ...building, configs }) })).toBe('notRead');
  });

  test('a PUT whose answer was lost is not sent again', () => {
    const bound = { of: NAME, alias: candidate.alias, by: 'the bind switch', at: NOW, away: [] };
    expect(end({ realm: marked({ bound, previous: 'browser' }, candidate.alias) })).toBe('written');
    expect(end({ realm: marked({ bound: { ...bound, of: 'other' } }, candidate.alias) })).toBe('BoundMeanwhile');
    const rows = building.rows.slice(0, 10);
    expect(end({ realm: marked({ bound }, candidate.alias), candidate: read({ ...building, rows }) })).toBe(
      'CandidateChanged',
    );
  });
});

describe('after a bind', () => {
  const marks: RealmMarks = { ...noRealmMarks, previous: 'browser' };

  test('what reads back is what was sent, or it is told', () => {
    const sent = { browserFlow: 'new', marks };
    expect(bindingFault(sent, realm(of, { browserFlow: 'new', attributes: withRealmMarks({}, marks) }))).toBeNull();
    expect(bindingFault(sent, realm(of, { browserFlow: 'old', attributes: withRealmMarks({}, marks) }))).toMatch(
      /"old" is bound after "new" was written/,
    );
    expect(bindingFault(sent, realm(of, { browserFlow: 'new', attributes: {} }))).toMatch(/marks in the realm/);
    expect(
      bindingFault(sent, realm(of, { browserFlow: 'new', attributes: { 'holdfast.browserFlow.hold': 'x' } })),
    ).toMatch(/cannot be read/);
  });
});

describe('a rollback', () => {
  const flows = read([{ ...building.flow, alias: 'browser' }, building.flow]);
  const hold = { by: 'ana', reason: 'passkeys fail', at: 5 };
  const bound = { of: NAME, alias: candidate.alias, by: 'ben', at: 1, away: [3] };
  const check = (reading: Parameters<typeof checkRollback>[2], listed: Parameters<typeof checkRollback>[3] = flows) =>
    checkRollback(NAME, hold, reading, listed, NOW);

  test('is one PUT of the previous alias, the hold and who did it', () => {
    expect(check(marked({ bound, previous: 'browser' }, candidate.alias))).toMatchObject({
      kind: 'bind',
      to: 'browser',
      marks: { hold, previous: 'browser', bound: { alias: 'browser', by: 'ana', at: NOW, away: [] } },
    });
  });

  test('that has happened is not done again', () => {
    expect(check(marked({ bound, previous: 'browser', hold }, 'browser'))).toMatchObject({
      kind: 'end',
      outcome: { kind: 'written' },
    });
    expect(check(marked({ bound, previous: 'browser' }, 'browser'))).toMatchObject({
      kind: 'holdOnly',
      outcome: { kind: 'written' },
    });
  });

  test('without a way back holds alone, once', () => {
    expect(check(marked({}))).toMatchObject({ kind: 'holdOnly', outcome: { kind: 'failed', reason: 'NoPrevious' } });
    expect(check(marked({ hold }))).toMatchObject({ kind: 'end', outcome: { kind: 'failed', reason: 'NoPrevious' } });
    const gone = check(marked({ bound, previous: 'deleted' }, candidate.alias));
    expect(gone).toMatchObject({ kind: 'holdOnly', outcome: { reason: 'PreviousGone' } });
    const nested = check(
      marked({ bound, previous: 'browser' }, candidate.alias),
      read([{ ...building.flow, alias: 'browser', topLevel: false }]),
    );
    expect(nested).toMatchObject({ kind: 'holdOnly' });
  });

  test('is not guessed at where something cannot be read', () => {
    expect(check(unread())).toMatchObject({ kind: 'end', outcome: { kind: 'notRead' } });
    expect(check(marked({ bound, previous: 'browser' }, candidate.alias), unread())).toMatchObject({
      outcome: { kind: 'notRead' },
    });
    expect(check(read(realm(of, { attributes: { 'holdfast.browserFlow.hold': 'x' } })))).toMatchObject({
      outcome: { kind: 'notRead' },
    });
  });

  test('the hold is lifted by one PUT, and not where there is none', () => {
    expect(checkLift(marked({ hold, previous: 'browser' }), 'ben')).toMatchObject({
      kind: 'write',
      marks: { hold: null, previous: 'browser' },
      message: 'the hold of ana on binding is lifted by ben',
    });
    expect(checkLift(marked({}), 'ben')).toMatchObject({ kind: 'end', outcome: { kind: 'written' } });
    expect(checkLift(unread(), 'ben')).toMatchObject({ outcome: { kind: 'notRead' } });
  });
});
