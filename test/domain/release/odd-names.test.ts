import { describe, expect, test } from 'vitest';
import { pass, read } from '../../../src/domain/core/verdict.ts';
import { absorbOutcome } from '../../../src/domain/release/absorb-outcome.ts';
import { applyAction } from '../../../src/domain/release/apply-action.ts';
import { mayRunOn } from '../../../src/domain/release/architectures.ts';
import { isUnblocked } from '../../../src/domain/release/block-list.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { sampleStep, startSoak, type SoakParams } from '../../../src/domain/release/judge-soak.ts';
import { overlayJournal } from '../../../src/domain/release/placements.ts';
import { podTrouble } from '../../../src/domain/release/pod-trouble.ts';
import { startRollout } from '../../../src/domain/release/rollout-start.ts';
import type { ReleaseSpec } from '../../../src/domain/release/spec.ts';
import { releaseStatus } from '../../../src/domain/release/status.ts';
import { versionOfImage } from '../../../src/domain/release/version-guard.ts';
import { FROM, good, scout, take } from './rollout-steps.ts';
import { address, live, NEW, pod } from './watched.ts';
import { managed, NOW, observe, planned, resolved, spec, start, viewOf, workload } from './world.ts';

/**
 * Names that every object answers to. Kubernetes takes the first for anything, the others where a name is a label's key
 * or an agent's; no decision may depend on which of them can come.
 */
const NAMES = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__'];

function called(name: string): ReleaseSpec {
  const of = spec();
  return { ...of, targets: of.targets.slice(0, 1).map((t) => ({ ...t, deployment: name })) };
}

describe.each(NAMES)('a target called %s', (name) => {
  const of = called(name);

  test('that was not read is Unknown', () => {
    const result = evaluate(start(of), observe(of, resolved('b1'), {}), NOW);
    expect(viewOf(result, name)).toMatchObject({ phase: 'Unknown', reason: 'NotObserved' });
  });

  test('is planned, rolled, remembered and shown like any other', () => {
    const result = evaluate(start(of), observe(of, resolved('b1'), { [name]: managed(FROM) }), NOW);
    expect(planned(result)).toHaveLength(1);
    const { state } = result;
    const items = state.evaluation?.plan.items ?? [];
    const begun = startRollout({
      release: 'hive',
      id: 'hive-1',
      planHash: 'sha256:ab',
      spec: of,
      items,
      state,
      now: NOW,
    });
    expect(begun.targets[0]?.remembered.applied).toBe(FROM);
    const done = take(begun, name, ...good);
    expect(releaseStatus(state, done, NOW).targets[0]?.phase).toBe('Current');
    const after = absorbOutcome(state, done, NOW);
    expect(Object.keys(after.targets)).toEqual([name]);
    expect(Object.entries(after.targets)[0]?.[1].passed).toBe(items[0]?.to);
  });

  test('can be tried again before it was ever read', () => {
    const answer = applyAction(
      start(of),
      { action: 'retry', by: 'ana', reason: '', target: name, skipPreflight: true },
      NOW,
      null,
    );
    expect(answer).toMatchObject({ ok: true, state: { targets: {} } });
  });
});

test.each(NAMES)('a check called %s fails a soak as any other does', (name) => {
  const params: SoakParams = {
    target: address,
    image: NEW,
    placements: null,
    minimumSamples: 1,
    probeIntervalMs: 1_000,
    until: NOW + 60_000,
  };
  const check = { name, query: 'up', max: 1 };
  const sample = { health: pass(), agents: null, checks: [{ check, value: read(2) }] };
  const one = sampleStep(startSoak({}), live(), sample, params, NOW);
  expect(one.verdict).toBeNull();
  const two = sampleStep(one.progress, live(), sample, params, NOW + 1_000);
  expect(two.verdict).toMatchObject({ kind: 'fail', reason: 'CheckFailed' });
});

test.each(NAMES)('%s as a label, an agent, an image, a node or a blocked version means what it says', (name) => {
  const node = {
    name: 'n1',
    labels: {},
    architecture: 'amd64',
    operatingSystem: 'linux',
    taints: [],
  };
  const exists = [{ matchExpressions: [{ key: name, operator: 'Exists' as const }] }];
  expect(mayRunOn({ nodeSelectorTerms: exists }, node)).toBe(false);
  const agent = { ...scout, name };
  expect(overlayJournal([agent], {})).toEqual([agent]);
  expect(versionOfImage(name, {})).toBeNull();
  expect(isUnblocked({ unblocked: {} }, { image: name, at: '2026-01-01T00:00:00Z', reason: '' })).toBe(false);
  expect(podTrouble({ ...pod('web-new-x'), spec: { nodeName: name, containers: [] } }, { nodes: {}, events: [] })).toBe(
    null,
  );
  expect(workload(name).image).toBe(name);
});
