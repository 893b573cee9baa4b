import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conditionFaults } from '../../../src/domain/core/conditions.ts';
import { planHash } from '../../../src/domain/core/plan-hash.ts';
import { read, type Reading } from '../../../src/domain/core/verdict.ts';
import { parseAction } from '../../../src/domain/release/actions.ts';
import { applyAction } from '../../../src/domain/release/apply-action.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { observationFingerprint } from '../../../src/domain/release/fingerprint.ts';
import { lineFor } from '../../../src/domain/release/line.ts';
import type { Observation, ResolvedLine, TargetObservation } from '../../../src/domain/release/observation.ts';
import { isHeldReason, type PlanItem } from '../../../src/domain/release/plan.ts';
import { targetName, type ReleaseSpec, type TargetSpec } from '../../../src/domain/release/spec.ts';
import type { ReleaseState } from '../../../src/domain/release/state.ts';
import {
  digest,
  HOUR,
  image,
  marks,
  MINUTE,
  NOW,
  observe,
  resolved,
  spec,
  start,
  target,
  unread,
  workload,
  writer,
} from './world.ts';

/** The world of these tests: what each digest is, known to the test and not asked of the code under test. */
const catalogue = [
  { id: 'a0', tag: 'v6-latest', version: '6.0.0' },
  { id: 'b1', tag: 'v6-latest', version: '6.1.0' },
  { id: 'c2', tag: 'v6-latest', version: '6.2.0' },
  { id: 'd7', tag: 'v6-latest', version: '7.0.0' },
  { id: '55', tag: 'v5-latest', version: '5.5.0' },
  { id: 'e0', tag: 'edge', version: null },
] as const;
type Known = (typeof catalogue)[number];

const known = fc.constantFrom(...catalogue);
const reference = known.map((k) => image(k.tag, k.id));
const names = ['web-1', 'web-2', 'web-3', 'web-4'];

function lineOf(k: Known, overrides: Partial<ResolvedLine> = {}): ResolvedLine {
  return resolved(k.id, { tag: k.tag, version: k.version, label: `${k.tag}-${k.id}`, ...overrides });
}

function majorOf(image: string): string | null {
  const entry = catalogue.find((k) => image.includes(digest(k.id)));
  return entry?.version?.split('.')[0] ?? null;
}

function digestOf(image: string): string {
  return image.slice(image.indexOf('@') + 1);
}

const pinned = fc.constantFrom(undefined, undefined, undefined, 'v6-latest', digest('55'));

const specs: fc.Arbitrary<ReleaseSpec> = fc
  .record({
    mode: fc.constantFrom('Observe', 'Shadow', 'Enforce', 'Enforce'),
    targets: fc.array(
      fc.record({
        allowMajorChange: fc.boolean(),
        track: fc.constantFrom(undefined, undefined, undefined, { tag: 'edge' }, { line: '^v6\\.' }),
        pin: fc.constantFrom(undefined, undefined, undefined, undefined, digest('55')),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    pin: pinned,
    blocklist: fc.oneof(
      { weight: 2, arbitrary: fc.constant<string[]>([]) },
      { weight: 1, arbitrary: fc.subarray([digest('b1'), 'v6-latest-c2', digest('55')]) },
    ),
    minimumAge: fc.constantFrom('0s', '0s', '3h'),
    approval: fc.constantFrom('none', 'beforeFirst'),
    windows: fc.constantFrom(undefined, undefined, [{ from: '10:00', to: '14:00', timeZone: 'UTC' }]),
    suspend: fc.constantFrom(false, false, false, true),
  })
  .map(({ targets, pin, windows, ...rest }) =>
    spec({
      ...rest,
      ...(pin === undefined ? {} : { pin }),
      ...(windows === undefined ? {} : { windows }),
      targets: targets.map(({ track, pin: own, ...t }, index) =>
        target(names[index] ?? '', {
          ...t,
          ...(track === undefined ? {} : { track }),
          ...(own === undefined ? {} : { pin: own }),
        }),
      ),
    } as never),
  );

const unmeasurable = fc.constantFrom(unread('timeout'), unread('denied'), unread('missing'));

const workloads = fc
  .record({
    image: fc.option(reference, { nil: null, freq: 15 }),
    managedBy: fc.constantFrom(null, 'release/hive', 'release/hive', 'release/hive', 'release/other'),
    applied: fc.option(reference, { nil: null }),
    passed: fc.option(reference, { nil: null }),
    rolledBackFrom: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: reference }),
    blocked: fc.oneof(
      { weight: 4, arbitrary: fc.constant<string[]>([]) },
      { weight: 1, arbitrary: fc.subarray([digest('b1'), digest('c2')]) },
    ),
    by: fc.constantFrom('holdfast', 'holdfast', 'kubectl-set', 'argocd', null),
    replicas: fc.constantFrom(1, 1, 1, 1, 1, 0),
    paused: fc.constantFrom(false, false, false, false, true),
    strategy: fc.constantFrom('RollingUpdate', 'RollingUpdate', 'RollingUpdate', 'OnDelete'),
    settled: fc.boolean(),
  })
  .map((w) => {
    // Half of the time the object is as this release left it, so that there are long quiet runs as well.
    const applied = w.settled ? w.image : w.applied;
    return workload(w.image, {
      replicas: w.replicas,
      paused: w.paused,
      strategy: w.strategy,
      imageWriter: w.by === null ? null : writer(w.by),
      marks: marks({
        managedBy: w.managedBy,
        applied,
        passed: w.settled ? w.image : w.passed,
        rolledBackFrom: w.rolledBackFrom,
        blocked: w.blocked.map((image) => ({ image, at: '2026-03-02T11:00:00Z', reason: 'x' })),
      }),
    });
  });

const targets: fc.Arbitrary<TargetObservation> = fc
  .record({
    workload: fc.oneof({ weight: 8, arbitrary: workloads.map(read) }, { weight: 1, arbitrary: unmeasurable }),
    architectures: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(read(['amd64']), read(['amd64', 'arm64'])) },
      { weight: 1, arbitrary: fc.constantFrom(read(['s390x']), read([] as string[]), unread('denied')) },
    ),
  })
  .map((t) => t as TargetObservation);

/** A world at one moment: what lines resolve to, what targets run, what is known of images. */
interface Moment {
  readonly after: number;
  readonly head: Reading<ResolvedLine>;
  readonly edge: Reading<ResolvedLine>;
  readonly pin: Reading<ResolvedLine>;
  readonly targets: readonly TargetObservation[];
  readonly factsKnown: boolean;
  readonly action: [name: string, payload: Record<string, unknown>] | null;
}

const heads = fc.oneof(
  { weight: 6, arbitrary: known.map((k) => read(lineOf(k))) },
  { weight: 1, arbitrary: unmeasurable },
);

const moments: fc.Arbitrary<Moment> = fc.record({
  after: fc.constantFrom(0, MINUTE, HOUR, 3 * HOUR, 25 * HOUR),
  head: heads,
  edge: heads,
  pin: heads,
  targets: fc.array(targets, { minLength: 4, maxLength: 4 }),
  factsKnown: fc.boolean(),
  action: fc.option(
    fc.constantFrom<[string, Record<string, unknown>]>(
      ['pause', {}],
      ['resume', {}],
      ['retry', {}],
      ['retry', { target: 'web-1', skipPreflight: true }],
      ['pin', { image: digest('55') }],
      ['unpin', {}],
      ['block', { image: digest('c2') }],
      ['block', { image: digest('a0') }],
      ['unblock', { image: digest('b1') }],
      ['unblock', { image: digest('c2') }],
      ['setMode', { mode: 'Enforce' }],
      ['setMode', { mode: 'Shadow' }],
      ['rejectPlan', {}],
      ['approvePlan', {}],
      ['runNow', {}],
    ),
    { nil: null, freq: 2 },
  ),
});

function observationAt(state: ReleaseState, moment: Moment, now: number): Observation {
  const pin = state.pin?.image ?? null;
  const base = observe(state.spec, unread(), {}, { pin });
  const lines = Object.fromEntries(
    Object.keys(base.lines).map((key) => [
      key,
      key.endsWith('(pin)') ? moment.pin : key.endsWith(':edge') ? moment.edge : moment.head,
    ]),
  );
  const images = Object.fromEntries(
    catalogue.map((k) => {
      const facts = { version: k.version, label: `${k.tag}-${k.id}`, revision: k.id };
      return [image(k.tag, k.id), moment.factsKnown ? read(facts) : unread('missing')];
    }),
  );
  const seen = Object.fromEntries(
    state.spec.targets.map((t, index) => [
      targetName(t),
      moment.targets[index] ?? { workload: unread(), architectures: unread() },
    ]),
  );
  return { ...base, at: now, lines, images, targets: seen };
}

function withAction(state: ReleaseState, moment: Moment, now: number): ReleaseState {
  if (moment.action === null) return state;
  const [name, payload] = moment.action;
  const plan = { plan: state.evaluation?.planHash ?? '' };
  const real =
    name === 'rejectPlan'
      ? (['reject', plan] as const)
      : name === 'approvePlan'
        ? (['approve', plan] as const)
        : ([name, payload] as const);
  const parsed = parseAction(real[0] as 'pause', { by: 'ana', ...real[1] });
  if (!parsed.ok) return state;
  const answer = applyAction(state, parsed.action, now, null);
  return answer.ok ? answer.state : state;
}

interface Step {
  readonly before: ReleaseState;
  readonly observation: Observation;
  readonly now: number;
  readonly result: ReturnType<typeof evaluate>;
}

/** Evaluates moment after moment, with what people do in between; the state lives on. */
function run(of: ReleaseSpec, series: readonly Moment[]): Step[] {
  const steps: Step[] = [];
  let state = start(of);
  let now = NOW;
  for (const moment of series) {
    now += moment.after;
    state = withAction(state, moment, now);
    const observation = observationAt(state, moment, now);
    const result = evaluate(state, observation, now);
    steps.push({ before: state, observation, now, result });
    state = result.state;
  }
  return steps;
}

/** The simulation plays longer stories, as many as one has time for; these are short, so that they name the step. */
function forEveryStep(check: (step: Step) => void, runs = 120, seed?: number): void {
  fc.assert(
    fc.property(specs, fc.array(moments, { minLength: 1, maxLength: 6 }), (of, series) => {
      for (const step of run(of, series)) check(step);
    }),
    seed === undefined ? { numRuns: runs } : { numRuns: runs, seed },
  );
}

function itemsOf(step: Step): { item: PlanItem; spec: TargetSpec; pinned: boolean }[] {
  const { spec: of, pin } = step.before;
  return step.result.evaluation.plan.items.map((item) => {
    const found = of.targets.find((t) => targetName(t) === item.target);
    if (!found) throw new Error(`${item.target} is not in the spec`);
    return { item, spec: found, pinned: lineFor(of, found, pin?.image ?? null).pin !== null };
  });
}

describe('whatever is read and whatever people do', () => {
  test('no blocked digest is rolled without a pin', () => {
    forEveryStep((step) => {
      const { state } = step.result;
      for (const { item, pinned: byPin } of itemsOf(step)) {
        if (item.action === 'verify' || byPin) continue;
        const held = [
          ...state.spec.blocklist,
          ...state.blocked.filter((b) => !b.cooldownOnly || b.cooldownUntil > step.now).map((b) => b.image),
        ];
        expect(held).not.toContain(digestOf(item.to));
        expect(held).not.toContain(item.toLabel);
      }
    });
  });

  test('no mark of a block on any target of the release is overlooked', () => {
    forEveryStep((step) => {
      const unblocked = step.before.unblocked;
      for (const { item, pinned: byPin } of itemsOf(step)) {
        if (item.action === 'verify' || byPin) continue;
        for (const seen of Object.values(step.observation.targets)) {
          if (seen.workload.kind === 'unmeasured' || seen.workload.value.marks.managedBy === 'release/other') continue;
          for (const mark of seen.workload.value.marks.blocked) {
            const lifted = (unblocked[mark.image] ?? -1) >= Date.parse(mark.at);
            if (!lifted) expect(digestOf(item.to)).not.toBe(mark.image);
          }
        }
      }
    });
  });

  test('no target crosses a major unasked, and none whose version is unknown moves', () => {
    forEveryStep((step) => {
      for (const { item, spec: of, pinned: byPin } of itemsOf(step)) {
        if (item.action === 'verify' || byPin || of.allowMajorChange) continue;
        const memory = step.result.state.targets[item.target];
        const from = memory?.applied ?? memory?.adopted ?? item.from;
        if (digestOf(from) === digestOf(item.to)) continue;
        // Where the image's own facts are gone, its tag tells the major.
        const images = step.observation.images[from];
        const fromMajor = images?.kind === 'read' ? majorOf(from) : (/:v(\d)/.exec(from)?.[1] ?? null);
        expect(fromMajor).not.toBeNull();
        expect(majorOf(item.to) ?? /:v(\d)/.exec(item.to)?.[1]).toBe(fromMajor);
      }
    });
  });

  test('nothing is planned on what could not be read', () => {
    forEveryStep((step) => {
      const { observation, before } = step;
      for (const { item, spec: of } of itemsOf(step)) {
        const line = observation.lines[lineFor(before.spec, of, before.pin?.image ?? null).key];
        expect(line?.kind).toBe('read');
        const seen = observation.targets[item.target];
        expect(seen?.workload.kind).toBe('read');
        if (seen?.workload.kind !== 'read') continue;
        const { image: found, replicas, paused, strategy, marks: m } = seen.workload.value;
        expect(found).toBe(item.from);
        expect(replicas).toBeGreaterThan(0);
        expect(paused).toBe(false);
        expect(strategy).not.toBe('OnDelete');
        expect(m.managedBy).not.toBe('release/other');
        const memory = step.result.state.targets[item.target];
        const baseline = memory?.applied ?? memory?.adopted ?? found;
        if (digestOf(item.to) === digestOf(baseline ?? '')) continue;
        // A new image needs every architecture to be known and there.
        expect(seen.architectures).toEqual(
          expect.toSatisfy(
            (a: TargetObservation['architectures']) =>
              a.kind === 'read' && a.value.length > 0 && !a.value.includes('s390x'),
          ),
        );
      }
    });
  });

  test('the same observation again changes nothing and says nothing', () => {
    forEveryStep(({ result, observation, now }) => {
      const again = evaluate(result.state, observation, now);
      expect(again.evaluation).toEqual(result.evaluation);
      expect(again.state).toEqual(result.state);
      expect(again.events).toEqual([]);
    });
  });

  test('a state that went through JSON decides the same', () => {
    forEveryStep(({ before, observation, now, result }) => {
      const copy = JSON.parse(JSON.stringify({ before, observation })) as {
        before: ReleaseState;
        observation: Observation;
      };
      expect(evaluate(copy.before, copy.observation, now)).toEqual(result);
      expect(JSON.parse(JSON.stringify(result.state))).toEqual(result.state);
    }, 150);
  });

  test('every target is told, once and in order, and whatever is not planned has a reason', () => {
    forEveryStep((step) => {
      const { evaluation } = step.result;
      if (step.before.spec.suspend) return;
      expect(evaluation.targets.map((t) => t.name)).toEqual(step.before.spec.targets.map(targetName));
      const planned = new Map(evaluation.plan.items.map((item) => [item.target, item]));
      expect([...planned.keys()]).toEqual(evaluation.targets.map((t) => t.name).filter((name) => planned.has(name)));
      expect(planned.size).toBe(evaluation.plan.items.length);
      for (const view of evaluation.targets) {
        const item = planned.get(view.name);
        if (item !== undefined) {
          expect(['Pending', 'Drifted']).toContain(view.phase);
          expect(item.action === 'verify' ? item.from === item.to : item.from !== item.to).toBe(true);
        } else if (view.phase === 'Current') {
          expect(['', 'RegistryUnreachable', 'LineUnresolved']).toContain(view.reason);
        } else {
          expect(view.reason).not.toBe('');
          expect(view.message).not.toBe('');
        }
        if (view.phase === 'Held' && !/^(RegistryUnreachable|LineUnresolved)$/.test(view.reason)) {
          expect(isHeldReason(view.reason)).toBe(true);
        }
      }
    });
  });

  test('the hash is the hash of the plan, and time can only change it later', () => {
    forEveryStep(({ result, now }) => {
      const { plan, planHash: hash, changesAt } = result.evaluation;
      expect(hash).toBe(planHash(plan));
      if (changesAt !== null) expect(changesAt).toBeGreaterThan(now);
    });
  });

  test('a suspended, observing or paused release plans no write that would start', () => {
    forEveryStep(({ before, result }) => {
      const { effectiveMode, plan } = result.evaluation;
      if (before.spec.suspend || before.spec.mode === 'Observe') expect(plan.items).toEqual([]);
      if (before.paused !== null || before.spec.mode !== 'Enforce') expect(effectiveMode).not.toBe('Enforce');
      if (effectiveMode !== 'Enforce') expect(result.events).toEqual([]);
    });
  });

  test('Shadow plans exactly what Enforce would do', () => {
    forEveryStep(({ before, observation, now }) => {
      const as = (mode: ReleaseSpec['mode']) =>
        evaluate({ ...before, spec: { ...before.spec, mode }, paused: null }, observation, now).evaluation;
      expect(as('Shadow').plan).toEqual(as('Enforce').plan);
      expect(as('Shadow').targets).toEqual(as('Enforce').targets);
    }, 150);
  });

  test('no image is rolled under a minimum age before it is that old', () => {
    forEveryStep((step) => {
      const { spec: of } = step.before;
      for (const { item, spec: target, pinned: byPin } of itemsOf(step)) {
        if (of.minimumAge === 0 || byPin || item.action === 'verify') continue;
        const memory = step.result.state.targets[item.target];
        const baseline = memory?.applied ?? memory?.adopted ?? item.from;
        if (digestOf(baseline) === digestOf(item.to)) continue;
        const line = lineFor(of, target, step.before.pin?.image ?? null);
        const candidate = step.result.state.candidates[line.key];
        expect(candidate?.digest).toBe(digestOf(item.to));
        expect(step.now - (candidate?.firstSeen ?? step.now)).toBeGreaterThanOrEqual(of.minimumAge);
      }
    });
  });

  test('the conditions do not contradict each other', () => {
    forEveryStep(({ result }) => {
      expect(conditionFaults(result.state.conditions, result.state.generation)).toEqual([]);
    });
  });

  test('two observations with one fingerprint come to one plan and the same phases', () => {
    forEveryStep(({ before, observation, now, result }) => {
      const noise: Observation = {
        ...observation,
        at: observation.at + 1,
        lines: Object.fromEntries(
          Object.entries(observation.lines).map(([key, line]) => [
            key,
            line.kind === 'read'
              ? read({ ...line.value, revision: 'x', rejected: [] })
              : { ...line, message: 'otherwise' },
          ]),
        ),
        targets: Object.fromEntries(
          Object.entries(observation.targets).map(([name, t]) => [
            name,
            t.workload.kind === 'unmeasured'
              ? t
              : { ...t, workload: read({ ...t.workload.value, uid: 'other', runningDigest: digest('99') }) },
          ]),
        ),
      };
      expect(observationFingerprint(noise)).toBe(observationFingerprint(observation));
      const other = evaluate(before, noise, now).evaluation;
      expect(other.plan).toEqual(result.evaluation.plan);
      expect(other.targets.map((t) => [t.name, t.phase, t.reason])).toEqual(
        result.evaluation.targets.map((t) => [t.name, t.phase, t.reason]),
      );
    }, 150);
  });

  test('plans of every kind come up, or these tests would prove nothing', () => {
    const seen = new Set<string>();
    const reasons = new Set<string>();
    forEveryStep(
      (step) => {
        for (const { item } of itemsOf(step)) seen.add(`${item.action} ${item.why}`);
        for (const view of step.result.evaluation.targets) reasons.add(view.reason);
      },
      600,
      42,
    );
    expect([...seen].sort()).toEqual([
      'roll drift',
      'roll pin',
      'roll update',
      'verify drift',
      'verify pin',
      'verify unproven',
    ]);
    for (const reason of [
      'Blocked',
      'MajorChange',
      'UnknownVersion',
      'Downgrade',
      'MinimumAge',
      'OtherRelease',
      'OutsideWindow',
    ]) {
      expect(reasons).toContain(reason);
    }
  });
});
