import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import {
  afterWrite,
  newBuild,
  nextBuildStep,
  type BuildProgress,
  type WriteAnswer,
} from '../../../src/domain/keycloak-flow/build.ts';
import {
  candidateDescription,
  candidates,
  contentHash,
  hashOfCandidate,
  treeHash,
  type Candidate,
} from '../../../src/domain/keycloak-flow/candidate-name.ts';
import { candidateState, chooseCandidate, type CandidateReading } from '../../../src/domain/keycloak-flow/candidate.ts';
import { requestOf } from '../../../src/domain/keycloak-flow/construction-request.ts';
import { nextConstruction, type ConstructionWrite } from '../../../src/domain/keycloak-flow/construction.ts';
import type { DesiredState } from '../../../src/domain/keycloak-flow/desired.ts';
import { verify, type FlowReadBack } from '../../../src/domain/keycloak-flow/read-back.ts';
import { buildScope, readingScope } from '../../../src/domain/keycloak-flow/screen-scope.ts';
import { screen } from '../../../src/domain/keycloak-flow/screen.ts';
import { desiredTree, treeRead } from '../../../src/domain/keycloak-flow/tree.ts';
import { arbitraryDesired } from './arbitrary-desired.ts';
import { FakeKeycloak } from './fake-keycloak.ts';
import { desired, NAME, realm, servedCandidate, unread } from './world.ts';

const of = desired();

function candidate(of: DesiredState, number = 0): Candidate {
  const found = candidates(of)[number];
  if (found === undefined) throw new Error(`no candidate ${number}`);
  return found;
}

function wants(of: DesiredState, readBack: FlowReadBack | null, named = candidate(of)) {
  return nextConstruction(of, named, NAME, readBack);
}

/** Sends one write through the choke point, as it would be sent. */
function send(keycloak: FakeKeycloak, of: DesiredState, named: Candidate, write: ConstructionWrite): WriteAnswer {
  const request = requestOf(of.realm, write);
  const description = candidateDescription(NAME, contentHash(of));
  const scope = {
    ...readingScope(of.realm, of.realm, 'Enforce'),
    protected: keycloak.protectedSets(),
    build: buildScope(named, description, keycloak.readBack(named.alias)?.rows ?? null),
  };
  const screened = screen(request, scope);
  if (screened.kind === 'refuse') return { kind: 'refused', message: screened.message };
  const { status } = keycloak.send(request);
  if (status < 300) return { kind: 'accepted' };
  return status === 409 ? { kind: 'taken', message: 'taken' } : { kind: 'refused', message: `${status}` };
}

interface Built {
  readonly end: string;
  readonly why: string;
  readonly writes: number;
}

/** Builds as the activity does: read back, next step, write. At most `most` writes. */
function build(
  keycloak: FakeKeycloak,
  of: DesiredState,
  options: {
    named?: Candidate;
    most?: number;
    answer?: (write: ConstructionWrite, answer: WriteAnswer) => WriteAnswer;
  } = {},
): Built {
  const { named = candidate(of), most = 1_000, answer = (_, a) => a } = options;
  let progress: BuildProgress = newBuild;
  for (let writes = 0; ;) {
    const step = nextBuildStep(progress, wants(of, keycloak.readBack(named.alias), named));
    if (step.do === 'verify') return { end: 'verify', why: '', writes };
    if (step.do === 'leave') return { end: 'leave', why: step.why, writes };
    if (step.do === 'stop') return { end: 'stop', why: step.because.message, writes };
    if (step.do === 'readAgain') {
      progress = step.progress;
      continue;
    }
    if (writes === most) return { end: 'cut off', why: '', writes };
    progress = afterWrite(progress, step.write, answer(step.write, send(keycloak, of, named, step.write)));
    writes += 1;
  }
}

function verified(keycloak: FakeKeycloak, of: DesiredState, named = candidate(of)): string {
  const readBack = keycloak.readBack(named.alias);
  if (readBack === null) return 'absent';
  const verification = verify(of, readBack);
  return verification.kind === 'different' ? verification.differences.join('; ') : verification.kind;
}

describe('the name of a candidate', () => {
  test('carries a hash of what is compared, and of nothing else', () => {
    const renamed = desired((input) => {
      input.flows['other-forms'] = input.flows['browser-mfa-forms'] as never;
      delete input.flows['browser-mfa-forms'];
      const third = input.flows['browser-mfa']?.executions[2];
      if (third !== undefined) third['name'] = 'other-forms';
    });
    expect(contentHash(renamed)).toBe(contentHash(of));
    expect(contentHash(of)).toMatch(/^[0-9a-f]{12}$/);
    const changes: Parameters<typeof desired>[0][] = [
      (input) => (input.authenticatorConfig['conditional-otp-platform-admin'] = { condUserRole: 'x' }),
      (input) => {
        const first = input.flows['browser-mfa']?.executions[0];
        if (first !== undefined) first['requirement'] = 'DISABLED';
      },
      (input) => input.flows['browser-mfa']?.executions.reverse(),
    ];
    for (const change of changes) expect(contentHash(desired(change))).not.toBe(contentHash(of));
  });

  test('R20 comes in five forms and no more', () => {
    const hash = contentHash(of);
    expect(candidates(of).map((c) => c.alias)).toEqual([
      `browser-mfa-${hash}`,
      `browser-mfa-${hash}-r2`,
      `browser-mfa-${hash}-r3`,
      `browser-mfa-${hash}-r4`,
      `browser-mfa-${hash}-r5`,
    ]);
  });

  test('is known again, whatever its content was', () => {
    expect(hashOfCandidate('browser-mfa', 'browser-mfa-0123456789ab')).toBe('0123456789ab');
    expect(hashOfCandidate('browser-mfa', 'browser-mfa-0123456789ab-r5')).toBe('0123456789ab');
    for (const alias of [
      'browser-mfa',
      'browser-mfa-forms',
      'browser-mfa-0123456789ab-r6',
      'x-0123456789ab',
      'browser-mfa-0123456789ab-r2-r2',
    ]) {
      expect(hashOfCandidate('browser-mfa', alias)).toBeNull();
    }
  });
});

describe('a build', () => {
  test('comes to the declared tree, in the declared order, and to nothing in what is in use', () => {
    const keycloak = new FakeKeycloak(realm(of));
    const before = JSON.stringify(keycloak.flows);
    const inUse = keycloak.flows.length;
    expect(build(keycloak, of)).toMatchObject({ end: 'verify', writes: 23 });
    expect(verified(keycloak, of)).toBe('verified');
    expect(JSON.stringify(keycloak.flows.slice(0, inUse))).toBe(before);
    expect(keycloak.realm.browserFlow).toBe('browser');
  });

  test('R1 targets a flow of another name than the bound one, also where that is the declared alias', () => {
    const keycloak = new FakeKeycloak(realm(of, { browserFlow: 'browser-mfa' }));
    build(keycloak, of);
    expect(keycloak.realm.browserFlow).toBe('browser-mfa');
    expect(keycloak.readBack('browser-mfa')?.rows).toHaveLength(1);
    expect(keycloak.readBack(candidate(of).alias)?.rows).toHaveLength(11);
  });

  test('R19 keeps the declared order, since each requirement goes with the priority of its row', () => {
    const keycloak = new FakeKeycloak(realm(of));
    build(keycloak, of);
    const rows = keycloak.readBack(candidate(of).alias)?.rows ?? [];
    expect(rows.filter((row) => row.level === 0).map((row) => row.priority)).toEqual([0, 1, 2]);
  });

  test('a row whose priority the server does not say is not written to', () => {
    const { flow, rows, configs } = servedCandidate(of);
    const silent = rows.slice(0, 1).map(({ priority: _, ...row }) => ({ ...row, requirement: 'DISABLED' }));
    expect(wants(of, { flow: { ...flow, authenticationExecutions: [{}] }, rows: silent, configs })).toMatchObject({
      kind: 'unmeasured',
    });
  });

  test('H-B02 goes into a flow of its own, never into a built-in one', () => {
    const { flow, rows, configs } = servedCandidate(of);
    expect(wants(of, { flow: { ...flow, builtIn: true }, rows: rows.slice(0, 0), configs })).toMatchObject({
      kind: 'foreign',
    });
  });

  test('H-B03 an alias that is held elsewhere is not assumed to be ours: the candidate is given up', () => {
    const keycloak = new FakeKeycloak(realm(of));
    const leftover = `browser-mfa-conditional-otp${candidate(of).suffix}`;
    keycloak.flows.push({ id: 'x', alias: leftover, description: '', topLevel: false, builtIn: false, executions: [] });
    expect(build(keycloak, of)).toMatchObject({ end: 'leave', why: 'taken' });
    expect(build(keycloak, of, { named: candidate(of, 1) })).toMatchObject({ end: 'verify' });
  });

  test('an authenticator that the server does not have ends the build, and takes no other name', () => {
    const odd = desired((input) => {
      const first = input.flows['browser-mfa']?.executions[0];
      if (first !== undefined) first['name'] = 'no-such-authenticator';
    });
    expect(build(new FakeKeycloak(realm(odd)), odd)).toMatchObject({ end: 'stop', writes: 2 });
  });

  test('R5 a requirement that is accepted and not set is no success', () => {
    const keycloak = new FakeKeycloak(realm(of));
    const sabotaged = build(keycloak, of, {
      answer: (write, answer) => {
        const row = write.kind === 'setRequirement' ? keycloak.execution(write.id) : undefined;
        if (row !== undefined) row.requirement = 'DISABLED';
        return answer;
      },
    });
    expect(sabotaged).toMatchObject({
      end: 'leave',
      why: expect.stringMatching(/accepted requirement ALTERNATIVE of row 1/) as string,
    });
  });

  test.each<[string, (config: Record<string, string>) => void]>([
    ['a key that is swallowed', (config) => delete config['negate']],
    [
      'the role under the key that refuses every administrator',
      (config) => {
        config['condition.evaluated.user.role'] = config['condUserRole'] ?? '';
        delete config['condUserRole'];
      },
    ],
    ['a key more', (config) => (config['x'] = 'y')],
  ])('R22 R23 a configuration with %s is caught before anything could be bound', (_, change) => {
    const keycloak = new FakeKeycloak(realm(of));
    const end = build(keycloak, of, {
      answer: (write, answer) => {
        if (write.kind === 'addConfig') for (const { config } of keycloak.configs.values()) change(config);
        return answer;
      },
    });
    expect(end).toMatchObject({ end: 'leave' });
    expect(verified(keycloak, of)).not.toBe('verified');
  });

  test('a write whose answer was lost is looked for before it is repeated', () => {
    const keycloak = new FakeKeycloak(realm(of));
    expect(build(keycloak, of, { answer: () => ({ kind: 'unknown', message: 'no answer' }) })).toMatchObject({
      end: 'verify',
      writes: 23,
    });
    expect(verified(keycloak, of)).toBe('verified');
  });

  test('a write that never takes effect ends after three, without having done anything twice', () => {
    const keycloak = new FakeKeycloak(realm(of));
    build(keycloak, of, { most: 1 });
    let sent = 0;
    let progress = newBuild;
    for (;;) {
      const step = nextBuildStep(progress, wants(of, keycloak.readBack(candidate(of).alias)));
      if (step.do === 'stop') break;
      if (step.do === 'readAgain') progress = step.progress;
      else if (step.do === 'write') {
        sent += 1;
        progress = afterWrite(progress, step.write, { kind: 'unknown', message: 'no answer' });
      } else throw new Error(step.do);
    }
    expect(sent).toBe(3);
  });

  test('a reading that is older than the last write is read again, and never built on', () => {
    const keycloak = new FakeKeycloak(realm(of));
    build(keycloak, of, { most: 3 });
    const old = wants(of, keycloak.readBack(candidate(of).alias));
    if (old.kind !== 'write') throw new Error(old.kind);
    const progress = afterWrite(newBuild, old.write, { kind: 'accepted' });
    const first = nextBuildStep(progress, old);
    if (first.do !== 'readAgain') throw new Error(first.do);
    const second = nextBuildStep(first.progress, old);
    if (second.do !== 'readAgain') throw new Error(second.do);
    expect(nextBuildStep(second.progress, old)).toMatchObject({ do: 'leave' });
  });

  test('an unreadable candidate is not written to', () => {
    const keycloak = new FakeKeycloak(realm(of));
    build(keycloak, of);
    const readBack = keycloak.readBack(candidate(of).alias);
    if (readBack === null) throw new Error('absent');
    const hidden = {
      ...readBack,
      configs: Object.fromEntries(Object.keys(readBack.configs).map((id) => [id, unread('denied')])),
    };
    expect(wants(of, hidden)).toMatchObject({ kind: 'unmeasured', why: 'denied' });
    expect(verify(of, hidden)).toMatchObject({ kind: 'unmeasured' });
  });
});

describe('a candidate that is there', () => {
  /** A built candidate, changed. */
  function changed(change: (readBack: { flow: FlowReadBack['flow']; rows: FlowReadBack['rows'][number][] }) => void) {
    const { flow, rows, configs } = servedCandidate(of);
    const copy = { flow: { ...flow }, rows: rows.map((row) => ({ ...row })) };
    change(copy);
    return { ...copy, configs };
  }
  const stateOf = (readBack: FlowReadBack | null, bound: string[] = ['browser']) =>
    candidateState(of, candidate(of), NAME, readBack, bound);

  test('R6 is reused only where it was verified', () => {
    expect(stateOf(servedCandidate(of))).toMatchObject({
      kind: 'verified',
      ours: true,
      treeHash: treeHash(desiredTree(of)),
    });
    expect(stateOf(changed(({ rows }) => rows.splice(8, 3)))).toEqual({ kind: 'partial' });
    expect(stateOf(changed(({ rows }) => rows.splice(9, 1)))).toMatchObject({ kind: 'unmeasured' });
    expect(stateOf(null)).toEqual({ kind: 'absent' });
  });

  test('of somebody else is reused where it is the declared tree, and known not to be ours', () => {
    expect(stateOf(changed(({ flow }) => (flow.description = 'by hand')))).toMatchObject({
      kind: 'verified',
      ours: false,
    });
  });

  test.each<[string, Parameters<typeof changed>[0]]>([
    [
      'it was not built by this workflow',
      ({ flow, rows }) => {
        flow.description = '';
        rows.splice(10);
      },
    ],
    [
      'another KeycloakFlow built it',
      ({ flow, rows }) => {
        flow.description = candidateDescription('other', contentHash(of));
        rows.splice(10);
      },
    ],
    [
      'a row in it was changed',
      ({ rows }) => {
        const [, second] = rows;
        if (second !== undefined) second.requirement = 'REQUIRED';
      },
    ],
    [
      'a row in it was disabled',
      ({ rows }) => {
        const [, second] = rows;
        if (second !== undefined) second.requirement = 'DISABLED';
      },
    ],
    [
      'a row was added',
      ({ flow, rows }) => {
        rows.push({ id: 'x', level: 0, index: 3, requirement: 'DISABLED', providerId: 'auth-spnego', priority: 9 });
        flow.authenticationExecutions = [{}, {}, {}, {}];
      },
    ],
    [
      'a sub-flow was renamed',
      ({ rows }) => {
        const third = rows[2];
        if (third !== undefined) third.displayName = 'mine';
        rows.splice(10);
      },
    ],
    [
      'it is not top level',
      ({ flow, rows }) => {
        flow.topLevel = false;
        rows.splice(10);
      },
    ],
  ])('is left alone where %s', (_, change) => {
    expect(stateOf(changed(change)).kind).toBe('other');
  });

  test('is continued where it is a prefix that this workflow built', () => {
    expect(stateOf(changed(({ rows }) => rows.splice(10)))).toEqual({ kind: 'partial' });
    expect(
      stateOf(
        changed(({ flow, rows }) => {
          rows.splice(0);
          flow.authenticationExecutions = [];
        }),
      ),
    ).toEqual({ kind: 'partial' });
  });

  test('is not continued where somebody bound it half-built', () => {
    expect(
      stateOf(
        changed(({ rows }) => rows.splice(10)),
        [candidate(of).alias],
      ),
    ).toMatchObject({ kind: 'other' });
  });

  test('H-B04 is not verified where its order is not fixed', () => {
    const equal = changed(({ rows }) => rows.forEach((row) => (row.priority = 0)));
    expect(verify(of, equal)).toMatchObject({ kind: 'different' });
    expect(
      verify(
        of,
        changed(({ rows }) => rows.forEach((row) => delete row.priority)),
      ),
    ).toMatchObject({ kind: 'verified' });
  });

  test('is not verified where it could not be bound', () => {
    expect(
      verify(
        of,
        changed(({ flow }) => (flow.topLevel = false)),
      ),
    ).toMatchObject({ kind: 'different' });
    expect(
      verify(
        of,
        changed(({ flow }) => (flow.providerId = 'client-flow')),
      ),
    ).toMatchObject({ kind: 'different' });
    expect(
      verify(
        of,
        changed(({ flow }) => (flow.builtIn = true)),
      ),
    ).toMatchObject({ kind: 'different' });
  });
});

describe('the choice of a candidate', () => {
  const readings = (...states: CandidateReading['state'][]): CandidateReading[] =>
    candidates(of).map((named, index) => ({ candidate: named, state: states[index] ?? { kind: 'absent' } }));
  const other = { kind: 'other', why: 'changed' } as const;
  const good = { kind: 'verified', flowId: 'f', treeHash: 'h', ours: true } as const;
  const choice = (states: CandidateReading['state'][], givenUp: string[] = []) => {
    const chosen = chooseCandidate(readings(...states), givenUp);
    return chosen.kind === 'reuse' || chosen.kind === 'build'
      ? `${chosen.kind} ${candidates(of).findIndex((c) => c.alias === chosen.candidate.alias) + 1}`
      : chosen.kind;
  };

  test('takes the first name that can be gone on with', () => {
    expect(choice([])).toBe('build 1');
    expect(choice([good])).toBe('reuse 1');
    expect(choice([{ kind: 'partial' }])).toBe('build 1');
    expect(choice([other, good])).toBe('reuse 2');
    expect(choice([other, other, { kind: 'partial' }])).toBe('build 3');
    expect(choice([{ kind: 'partial' }, good], [candidate(of).alias])).toBe('reuse 2');
  });

  test('R20 creates nothing more once all five are used', () => {
    const used = chooseCandidate(readings(other, other, other, other, other), []);
    expect(used).toMatchObject({
      kind: 'exhausted',
      why: expect.stringMatching(/all 5 candidates.*nothing more is created/) as string,
    });
    expect(choice([other, other, other, other], [candidate(of, 4).alias])).toBe('exhausted');
  });

  test('stops at one that cannot be told, rather than taking the next name', () => {
    expect(choice([unread(), good])).toBe('unmeasured');
    expect(choice([other, unread('denied')])).toBe('unmeasured');
  });
});

describe('for all declared trees', () => {
  property.prop([arbitraryDesired, fc.array(fc.nat(60), { maxLength: 4 })], { numRuns: 150 })(
    'from any prefix of the writes, the build continues to exactly the declared tree, and repeats none of them',
    (state, cuts) => {
      const keycloak = new FakeKeycloak(realm(state));
      const undisturbed = new FakeKeycloak(realm(state));
      expect(build(undisturbed, state).end).toBe('verify');
      // Each cut is a crash: the progress is forgotten, what is there is read back.
      for (const most of cuts) build(keycloak, state, { most });
      expect(build(keycloak, state).end).toBe('verify');
      expect(verified(keycloak, state)).toBe('verified');
      expect(keycloak.writes).toEqual(undisturbed.writes);
      const { rows, configs, flow } = keycloak.readBack(candidate(state).alias) ?? {
        rows: [],
        configs: {},
        flow: undefined,
      };
      const tree = treeRead(rows, configs, flow);
      expect(tree.kind === 'read' ? treeHash(tree.value) : '').toBe(contentHash(state));
    },
  );

  property.prop(
    [arbitraryDesired, fc.nat(60), fc.nat(30), fc.constantFrom('REQUIRED', 'ALTERNATIVE', 'DISABLED'), fc.boolean()],
    { numRuns: 150 },
  )(
    'whatever somebody does to one row of a half-built candidate, it is never both wrong and verified',
    (state, most, row, requirement, addRow) => {
      const keycloak = new FakeKeycloak(realm(state));
      build(keycloak, state, { most });
      const readBack = keycloak.readBack(candidate(state).alias);
      const execution = keycloak.execution(readBack?.rows[row % Math.max(1, readBack.rows.length)]?.id ?? '');
      if (execution !== undefined) execution.requirement = requirement;
      if (addRow) {
        const flow = keycloak.flows.find((f) => f.alias === candidate(state).alias);
        flow?.executions.push({
          id: 'x',
          provider: 'auth-spnego',
          flowId: null,
          requirement: 'DISABLED',
          choices: [],
          priority: 99,
          config: null,
        });
      }
      const { end } = build(keycloak, state);
      const { rows = [], configs = {}, flow } = keycloak.readBack(candidate(state).alias) ?? {};
      const tree = treeRead(rows, configs, flow);
      const right = tree.kind === 'read' && treeHash(tree.value) === contentHash(state);
      expect(end === 'verify' && verified(keycloak, state) === 'verified').toBe(right && end === 'verify');
      if (!right) expect(verified(keycloak, state)).not.toBe('verified');
    },
  );
});
