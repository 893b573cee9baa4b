import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyResult } from '../../../src/domain/release/apply-result.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { nextCommand } from '../../../src/domain/release/next-command.ts';
import { startRollout } from '../../../src/domain/release/rollout-start.ts';
import type { Result } from '../../../src/domain/release/rollout.ts';
import type { ReleaseSpec } from '../../../src/domain/release/spec.ts';
import {
  Broken,
  shipped,
  simulate,
  type Coverage,
  type Decisions,
  type Happening,
  type PersonAction,
} from './simulation.ts';
import { catalogue } from './simulated-fleet.ts';
import { digest, HOUR, MINUTE, spec, target } from './world.ts';

/** How many stories are played for the shipped code; the benchmark asks for more. */
const RUNS = Number(process.env['HOLDFAST_SIM_RUNS'] ?? 400);
/** A mutant must be caught within so many. */
const MUTANT_RUNS = 3_000;

const images = fc.nat(catalogue.length - 1);
const anyTarget = fc.nat(3);

const specs: fc.Arbitrary<ReleaseSpec> = fc
  .record({
    mode: fc.constantFrom('Shadow', 'Enforce', 'Enforce', 'Enforce'),
    approval: fc.constantFrom('none', 'none', 'none', 'beforeFirst', 'afterCanary', 'beforeEach'),
    waves: fc.constantFrom(undefined, [1], [3], ['50%']),
    onFailure: fc.constantFrom('stop', 'stop', 'undo'),
    cooldown: fc.constantFrom('0s', '20h'),
    blocklist: fc.constantFrom<string[]>([], [], [], [digest('a5')], ['v6-a1']),
    incumbents: fc.boolean(),
    allowMajorChange: fc.boolean(),
    rolloutTimeout: fc.constantFrom('2s', '7m'),
  })
  .map(({ waves, incumbents, allowMajorChange, ...rest }) =>
    spec({
      ...rest,
      ...(waves === undefined ? {} : { waves }),
      incumbents: incumbents ? [{ namespace: 'ops', name: 'nightly-roll' }] : [],
      targets: [target('web-1'), target('web-2', { allowMajorChange }), target('web-3'), target('web-4')],
    } as never),
  );

const actions: fc.Arbitrary<PersonAction> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<PersonAction>({ does: 'approve' }) },
  fc.constantFrom<PersonAction>({ does: 'reject' }, { does: 'pause' }, { does: 'resume' }, { does: 'unpin' }),
  fc.record({ does: fc.constant('retry' as const), skipPreflight: fc.boolean() }),
  fc.record({
    does: fc.constant('abort' as const),
    how: fc.constantFrom('stop' as const, 'rollback' as const),
    now: fc.boolean(),
  }),
  fc.record({ does: fc.constantFrom('pin' as const, 'block' as const, 'unblock' as const), image: images }),
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('setMode' as const),
      mode: fc.constantFrom('Observe' as const, 'Shadow' as const, 'Enforce' as const, 'Enforce' as const),
    }),
  },
);

const happenings: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('step' as const), target: anyTarget }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('run' as const), rounds: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 2, arbitrary: fc.constant<Happening>({ kind: 'look' }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat' as const), target: anyTarget }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lose' as const), target: anyTarget, landed: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(1_000, MINUTE, HOUR, 25 * HOUR) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('publish' as const), image: images }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('edit' as const), target: anyTarget, image: images }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      of: fc.constantFrom('registry' as const, 'target' as const, 'workload-paused' as const, 'placements' as const),
      target: anyTarget,
      on: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('incumbent' as const),
      state: fc.constantFrom('absent' as const, 'suspended' as const, 'active' as const, 'unreadable' as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('person' as const), action: actions }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('terminate' as const), rollout: fc.boolean(), landed: fc.boolean() }),
  },
);

const stories = fc.array(happenings, { minLength: 5, maxLength: 50 });

function property(decisions: Decisions, coverage?: Coverage) {
  return fc.property(specs, stories, (of, story) => {
    for (const [what, times] of simulate(decisions, of, story)) coverage?.set(what, (coverage.get(what) ?? 0) + times);
  });
}

describe('whatever is read, whoever speaks, whenever anything dies', () => {
  test(
    'nothing is written in Shadow, no blocked digest rolled, no major crossed, no target started after a failure, none left without its way back, and none rolled back unmeasured',
    () => {
      fc.assert(property(shipped), { numRuns: RUNS });
    },
    10 * MINUTE,
  );

  test('the stories reach every command and every end', () => {
    const coverage: Coverage = new Map();
    fc.assert(property(shipped, coverage), { numRuns: 600, seed: 1 });
    const reached = [...coverage.keys()];
    for (const command of [
      'preflight',
      'patch',
      'watchRollout',
      'restorePlacements',
      'watchSoak',
      'markPassed',
      'rollBack',
      'watchRecovery',
    ]) {
      expect(reached).toContain(`command ${command}`);
    }
    expect(reached).toEqual(
      expect.arrayContaining([
        'Current',
        'RolledBack CrashLoopBackOff',
        'RolledBack HealthFailed',
        'RolledBack ImagePullBackOff',
        'Failed Unmeasured',
        'Pending StoppedByFailure',
        'Held PreflightFailed',
        'Held Aborted',
        'RolledBack Aborted',
        'unknown write',
        'settle',
        'approve accepted',
      ]),
    );
  });
});

/** One bug for each promise, seeded into the decisions that are shipped. */
const mutants: Record<string, { readonly bug: string; readonly decisions: Decisions }> = {
  a: {
    bug: 'a freeze is not heeded',
    decisions: {
      ...shipped,
      nextCommand: (state, name, now) => nextCommand({ ...state, mode: 'Enforce' }, name, now),
    },
  },
  b: {
    bug: 'blocks are forgotten',
    decisions: {
      ...shipped,
      evaluate: (state, observation, now) =>
        evaluate({ ...state, blocked: [], spec: { ...state.spec, blocklist: [] } }, withoutBlocks(observation), now),
      startRollout: (start) => startRollout({ ...start, spec: { ...start.spec, blocklist: [] } }),
      applyResult: (state, name, result, now) => applyResult({ ...state, blocked: [] }, name, forgetful(result), now),
    },
  },
  c: {
    bug: 'every target may change its major',
    decisions: {
      ...shipped,
      evaluate: (state, observation, now) => {
        const targets = state.spec.targets.map((t) => ({ ...t, allowMajorChange: true }));
        const result = evaluate({ ...state, spec: { ...state.spec, targets } }, observation, now);
        return { ...result, state: { ...result.state, spec: state.spec } };
      },
    },
  },
  d: {
    bug: 'a failure does not keep the others from starting',
    decisions: {
      ...shipped,
      applyResult: (state, name, result, now) => {
        const after = applyResult(state, name, result, now);
        if (after.stopped?.cause !== 'measured') return after;
        const targets = after.targets.map((t) =>
          t.outcome?.reason === 'StoppedByFailure' ? { ...t, step: 'Preflight' as const, outcome: null } : t,
        );
        return { ...after, targets, stopped: null };
      },
    },
  },
  e: {
    bug: 'the way back is not in the write',
    decisions: {
      ...shipped,
      nextCommand: (state, name, now) => {
        const command = nextCommand(state, name, now);
        return command.do === 'patch' ? { ...command, marks: { ...command.marks, previousImage: null } } : command;
      },
    },
  },
  f: {
    bug: 'what was not measured counts as a failure',
    decisions: {
      ...shipped,
      applyResult: (state, name, result, now) => applyResult(state, name, asFailure(result), now),
    },
  },
};

function withoutBlocks(observation: Parameters<typeof evaluate>[1]): Parameters<typeof evaluate>[1] {
  const targets = Object.entries(observation.targets).map(([name, seen]) => {
    if (seen.workload.kind !== 'read') return [name, seen] as const;
    const { value } = seen.workload;
    const marks = { ...value.marks, blocked: [] };
    return [name, { ...seen, workload: { ...seen.workload, value: { ...value, marks } } }] as const;
  });
  return { ...observation, targets: Object.fromEntries(targets) };
}

function forgetful(result: Result): Result {
  if (result.of !== 'preflight' || result.found === null) return result;
  return { ...result, found: { ...result.found, marks: { ...result.found.marks, blocked: [] } } };
}

function asFailure(result: Result): Result {
  if (result.of !== 'watchRollout' && result.of !== 'watchSoak') return result;
  if (result.verdict.kind !== 'unmeasured') return result;
  return { ...result, verdict: { kind: 'fail', reason: 'Unhealthy', message: result.verdict.message } };
}

describe('the simulation turns red', () => {
  for (const [promise, { bug, decisions }] of Object.entries(mutants)) {
    test(`on promise (${promise}) where ${bug}`, () => {
      const found = fc.check(property(decisions), { numRuns: MUTANT_RUNS, endOnFailure: true, seed: 42 });
      expect(found.failed).toBe(true);
      expect(found.errorInstance).toBeInstanceOf(Broken);
      expect((found.errorInstance as Broken).promise).toBe(promise);
    });
  }
});
