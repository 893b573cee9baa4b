import { describe, expect, test } from 'vitest';
import { pack } from '../../../src/domain/core/packed.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { observationFingerprint } from '../../../src/domain/release/fingerprint.ts';
import { observationOffTheWire, observationOnTheWire } from '../../../src/domain/release/observation-wire.ts';
import { startRollout } from '../../../src/domain/release/rollout-start.ts';
import { absorbOutcome } from '../../../src/domain/release/absorb-outcome.ts';
import { releaseSpec } from '../../../src/domain/release/spec.ts';
import { releaseStatus } from '../../../src/domain/release/status.ts';
import { digest, image, managed, marks, NOW, observe, resolved, seen, spec, start, target, writer } from './world.ts';

/** Temporal's warning; its error is at 2 MB. */
const WARNING = 256 * 1_024;
const ERROR = 2 * 1_024 * 1_024;

/** A fleet in which no two targets are quite alike, as after months of rollouts: placements, blocks, other writers. */
function fleet(size: number) {
  const names = Array.from({ length: size }, (_, i) => `spoke-${String(i).padStart(4, '0')}`);
  const of = spec({ targets: names.map((name) => target(name, { namespace: `hive-${name}` })) });
  const snapshots = names.map((name, index) => {
    const applied = image('v6-latest', `a${index % 7}`);
    return managed(applied, {
      uid: `0b6b8e55-7b7c-4f1e-9d5c-${String(index).padStart(12, '0')}`,
      containers: ['app', 'telemetry-sidecar'],
      runningDigest: digest(`a${index % 7}`),
      imageWriter: writer('holdfast'),
      marks: marks({
        managedBy: 'release/hive',
        applied,
        passed: applied,
        version: 'v6-04d1e1ea4bdf',
        previousImage: image('v6-latest', '99'),
        previousVersion: 'v6-17c30cc7a2ee',
        upgradedAt: new Date(NOW - index * 61_000).toISOString(),
        blocked: [
          {
            image: digest('bad1'),
            at: new Date(NOW - 3_600_000).toISOString(),
            reason: `v6-bad1bad1bad1 on spoke-0000: CrashLoopBackOff`,
            cooldownUntil: new Date(NOW + 3_600_000).toISOString(),
          },
        ],
        placements: Array.from({ length: 6 }, (_unused, agent) => ({
          name: `agent-${agent}-of-${name}`,
          backend: 'claude',
          model: 'opus-4-latest',
          effort: 'high',
          paused: agent % 2 === 0,
        })),
      }),
    });
  });
  const observation = observe(
    of,
    resolved('b1'),
    Object.fromEntries(names.map((name, index) => [name, seen(snapshots[index] ?? managed(''), ['amd64', 'arm64'])])),
  );
  return { of, observation };
}

function bytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

describe('what goes through Temporal stays small', () => {
  test('an observation of 500 targets is under the warning', () => {
    const { observation } = fleet(500);
    const wire = bytes(observationOnTheWire(observation));
    expect(bytes(observation)).toBeGreaterThan(WARNING);
    expect(wire).toBeLessThan(WARNING);
    expect(wire).toBeLessThan(bytes(observation) / 4);
  });

  test('an observation on the wire says to an evaluation what the whole one says', () => {
    const { of, observation } = fleet(60);
    const sent = JSON.stringify(observationOnTheWire(observation));
    expect(sent.startsWith('{"texts"')).toBe(true);
    const back = observationOffTheWire(JSON.parse(sent) as ReturnType<typeof observationOnTheWire>);
    expect(evaluate(start(of), back, NOW)).toEqual(evaluate(start(of), observation, NOW));
    expect(observationFingerprint(back)).toBe(observationFingerprint(observation));
  });

  test('a release of 2000 targets, in the middle of a rollout of all of them, can continue as new', () => {
    const { of, observation } = fleet(2_000);
    const { state } = evaluate(start(of), observation, NOW);
    const { plan, planHash } = state.evaluation ?? { plan: { items: [] }, planHash: '' };
    expect(plan.items).toHaveLength(2_000);
    const rollout = startRollout({
      release: 'hive',
      id: 'hive-1',
      planHash,
      spec: of,
      items: plan.items,
      state,
      now: NOW,
    });
    expect(bytes({ spec: of, carried: { state, rollout } })).toBeGreaterThan(ERROR);
    expect(bytes(pack({ spec: of, carried: { state, rollout } }))).toBeLessThan(ERROR);
  });
});

/** Targets whose every text is their own, and as long as told. */
function unlike(count: number, length: number) {
  const long = (text: string, most = length): string => text.padEnd(Math.min(length, most), 'x');
  const targets = Array.from({ length: count }, (_, i) =>
    target(long(`w${i}-`), {
      namespace: long(`n${i}-`, 63),
      allowMajorChange: true,
      ...(length < 253 ? {} : { name: long(`w${i}-`), cluster: long(`c${i}-`), container: long(`k${i}-`, 63) }),
    }),
  );
  const written = { mode: 'Enforce', image: 'registry.example.com/hive/app', track: { tag: 'v6-latest' }, targets };
  return { written, name: (i: number) => long(`w${i}-`), image: (kind: string, i: number) => long(`${kind}${i}/`) };
}

describe('what a spec may have fits through Temporal in whatever state its release is', () => {
  test.each([
    ['2000 targets with usual names', 2_000, 10],
    ['1000 targets with long names', 1_000, 40],
    ['names as long as Kubernetes allows', 220, 253],
  ])('%s', (_what, count, length) => {
    const { written, name, image: imageOf } = unlike(count, length);
    expect(releaseSpec.safeParse(unlike(count * 2, length).written).success).toBe(false);
    const of = releaseSpec.parse(written);
    const found = Array.from({ length: count }, (_unused, i) => {
      const applied = imageOf('applied', i);
      const marked = marks({
        managedBy: 'release/hive',
        applied,
        passed: applied,
        version: 'v6-old',
        previousImage: imageOf('previous', i),
      });
      return [name(i), managed(applied, { marks: marked })] as const;
    });
    const { state } = evaluate(start(of), observe(of, resolved('b1'), Object.fromEntries(found)), NOW);
    const items = state.evaluation?.plan.items ?? [];
    expect(items).toHaveLength(count);
    const begun = startRollout({
      release: 'hive',
      id: 'hive-1',
      planHash: 'sha256:ab',
      spec: of,
      items,
      state,
      now: NOW,
    });
    const rollout = {
      ...begun,
      targets: begun.targets.map((t, i) => ({
        ...t,
        step: 'Done' as const,
        changed: true,
        rollbackTo: { image: imageOf('previous', i), version: null },
        outcome: {
          phase: 'Failed' as const,
          reason: 'Unmeasured',
          message: `NOT rolled back: ${t.item.target} ${'did not answer in time; '.repeat(8)}${imageOf('previous', i)}`,
        },
      })),
    };
    const after = absorbOutcome(state, rollout, NOW);
    for (const [what, sent] of [
      ['status', pack(releaseStatus(state, rollout, NOW))],
      ['status afterwards', pack(releaseStatus(after, null, NOW))],
      ['continue as new', { spec: of, carried: pack({ state, rollout }) }],
      ['continue as new afterwards', { spec: of, carried: pack({ state: after, rollout }) }],
      ['rollout', pack(rollout)],
    ] as const) {
      expect(bytes(sent), what).toBeLessThan(ERROR);
    }
  });
});
