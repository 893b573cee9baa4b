import { describe, expect, test } from 'vitest';
import { fail, pass, read, type Verdict } from '../../../src/domain/core/verdict.ts';
import type { Pod } from '../../../src/domain/core/workload.ts';
import type { WatchedTarget } from '../../../src/domain/release/judge-rollout.ts';
import {
  EXTRA_SAMPLES,
  FAILURES_THAT_FAIL,
  sampleDueAt,
  sampleStep,
  soakingPods,
  startSoak,
  UNMEASURED_THAT_END,
  watchStep,
  type SoakParams,
  type SoakProgress,
  type SoakSample,
  type SoakStep,
} from '../../../src/domain/release/judge-soak.ts';
import {
  address,
  deployment,
  live,
  MINUTE,
  NEW,
  OLD,
  oldPod,
  pod,
  status,
  unready,
  waitingFor,
  iso,
} from './watched.ts';
import { NOW, unread } from './world.ts';

const scout = { name: 'scout', backend: 'claude', model: 'opus', effort: 'high', paused: false };
const UNTIL = NOW + 10 * MINUTE;

const params: SoakParams = {
  target: address,
  image: NEW,
  placements: [scout],
  minimumSamples: 1,
  probeIntervalMs: MINUTE,
  until: UNTIL,
};

const gated = startSoak({ 'web-new-y/init': 0, 'web-new-y/app': 2, 'web-new-y/proxy': 0 });
const good: SoakSample = { health: pass(), agents: read([scout]), checks: [] };
const bad = fail('HealthFailed', 'GET /api/health answered 500');
const unknown = unread('denied', 'health');

function withStatuses(statuses: Pod['status'], name = 'web-new-y'): Pod {
  return pod(name, { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], ...statuses } });
}

/** Takes samples with these healths, one a minute. */
function soak(healths: readonly Verdict[], overrides: Partial<SoakParams> = {}, from: SoakProgress = gated): SoakStep {
  let step: SoakStep = { progress: from, verdict: null, block: false };
  for (const [index, health] of healths.entries()) {
    step = sampleStep(step.progress, live(), { ...good, health }, { ...params, ...overrides }, NOW + index * MINUTE);
  }
  return step;
}

function watch(pods: readonly Pod[], progress = gated, overrides: Partial<WatchedTarget> = {}): SoakStep {
  return watchStep(progress, live({ pods, ...overrides }), params);
}

describe('what ends a soak at once', () => {
  test('a crash loop, which blocks the image', () => {
    const crashing = waitingFor('app', 'CrashLoopBackOff', { restartCount: 5 });
    expect(watch([unready([crashing])])).toEqual({
      progress: gated,
      block: true,
      verdict: {
        kind: 'fail',
        reason: 'CrashLoopBackOff',
        message: 'container app of pod shop/web-new-y crashes again and again: 5 restarts',
      },
    });
  });

  test('a restart above the count of the gate, by pod and container', () => {
    const at = (restartCount: number) =>
      watch([
        withStatuses({
          containerStatuses: [status('app', { restartCount, lastState: { terminated: { exitCode: 137 } } })],
        }),
      ]);
    expect(at(2).verdict).toBeNull();
    expect(at(3)).toMatchObject({
      block: true,
      verdict: {
        reason: 'Restarted',
        message:
          'container app of pod shop/web-new-y has restarted during the soak: it ended with exit code 137, 3 restarts',
      },
    });
  });

  test('a restart of a container of another image, without blocking', () => {
    expect(watch([withStatuses({ containerStatuses: [status('proxy', { restartCount: 1 })] })])).toMatchObject({
      block: false,
      verdict: { reason: 'Restarted' },
    });
  });

  test('a restart of an init container that runs the image', () => {
    expect(watch([withStatuses({ initContainerStatuses: [status('init', { restartCount: 1 })] })])).toMatchObject({
      block: true,
    });
  });

  test('a container that has ended, save an init container', () => {
    const ended = { restartCount: 2, state: { terminated: { exitCode: 0, reason: 'Completed' } } };
    expect(watch([withStatuses({ containerStatuses: [status('app', ended)] })])).toMatchObject({
      block: true,
      verdict: {
        reason: 'Terminated',
        message:
          'container app of pod shop/web-new-y has ended during the soak: it ended with exit code 0 (Completed), 2 restarts',
      },
    });
    expect(
      watch([withStatuses({ initContainerStatuses: [status('init', { ...ended, restartCount: 0 })] })]).verdict,
    ).toBeNull();
  });

  test('another image in the template, which says nothing about ours', () => {
    const workload = deployment(1, { spec: { template: { spec: { containers: [{ name: 'app', image: OLD }] } } } });
    expect(watch([pod()], gated, { workload })).toMatchObject({
      block: false,
      verdict: {
        kind: 'fail',
        reason: 'ImageChanged',
        message: `Deployment shop/web has ${OLD} now, not ${NEW}: somebody else changed it`,
      },
    });
    const none = deployment(1, { spec: { template: { spec: { containers: [] } } } });
    expect(watch([pod()], gated, { workload: none })).toMatchObject({
      verdict: { message: `Deployment shop/web has no container app now, not ${NEW}: somebody else changed it` },
    });
  });

  test('a workload that is gone, which is unmeasured', () => {
    expect(watch([], gated, { workload: null })).toEqual({
      progress: gated,
      block: false,
      verdict: {
        kind: 'unmeasured',
        what: 'Deployment shop/web',
        from: 'API server',
        why: 'missing',
        message: 'Deployment shop/web does not exist any more',
      },
    });
  });

  test('an agent that is lost', () => {
    const step = sampleStep(gated, live(), { ...good, agents: read([{ ...scout, name: 'other' }]) }, params, NOW);
    expect(step).toMatchObject({
      block: true,
      verdict: { kind: 'fail', reason: 'AgentLost', message: 'web has lost scout, which ran there before' },
    });
  });
});

describe('what is no failure', () => {
  test('anything before the target has been read', () => {
    expect(watch([], gated, { workload: null, complete: false })).toEqual({
      progress: gated,
      verdict: null,
      block: false,
    });
  });

  test('pods of the template before, and terminating or evicted ones', () => {
    const crashing = { containerStatuses: [waitingFor('app', 'CrashLoopBackOff', { restartCount: 9 })] };
    const leaving = pod();
    const pods = [
      oldPod('old', { status: crashing }),
      { ...leaving, status: crashing, metadata: { ...leaving.metadata, deletionTimestamp: iso(NOW) } },
      pod('evicted', { status: { ...crashing, phase: 'Failed', reason: 'Evicted' } }),
    ];
    expect(watch(pods).verdict).toBeNull();
  });

  test('a pod that is being evicted, or whose node is not ready', () => {
    const conditions = [{ type: 'DisruptionTarget', status: 'True' }];
    const ended = [status('app', { restartCount: 3, state: { terminated: { exitCode: 137 } } })];
    expect(watch([unready(ended, { conditions })]).verdict).toBeNull();
    const nodes = { 'node-1': { ready: false, cordoned: null, platform: null } };
    const step = watchStep(gated, live({ pods: [unready(ended)] }), params, { nodes, events: [] });
    expect(step.verdict).toBeNull();
  });

  test('a container that was lost with its node, and it counts anew from there', () => {
    for (const terminated of [
      { exitCode: 255, reason: 'Unknown' },
      { exitCode: 137, reason: 'ContainerStatusUnknown' },
    ]) {
      const back = withStatuses({ containerStatuses: [status('app', { restartCount: 3, lastState: { terminated } })] });
      const step = watch([back]);
      expect(step.verdict).toBeNull();
      expect(step.progress.restarts['web-new-y/app']).toBe(3);
      const again = withStatuses({
        containerStatuses: [status('app', { restartCount: 4, lastState: { terminated: { exitCode: 1 } } })],
      });
      expect(watch([again], step.progress).verdict).toMatchObject({ reason: 'Restarted' });
    }
    const other = withStatuses({
      containerStatuses: [
        status('app', { restartCount: 3, lastState: { terminated: { exitCode: 1, reason: 'Unknown' } } }),
      ],
    });
    expect(watch([other]).verdict).toMatchObject({ reason: 'Restarted' });
  });

  test('a replacement that restarts before it was ready; it has a count of its own from then on', () => {
    const coming = unready([status('app', { ready: false, restartCount: 1 })], { name: 'replacement' });
    const first = watch([coming]);
    expect(first).toEqual({ progress: gated, verdict: null, block: false });
    const ready = withStatuses({ containerStatuses: [status('app', { restartCount: 1 })] }, 'replacement');
    const second = watch([ready], first.progress);
    expect(second.progress.restarts).toEqual({ ...gated.restarts, 'replacement/app': 1 });
    const restarted = withStatuses({ containerStatuses: [status('app', { restartCount: 2 })] }, 'replacement');
    expect(watch([restarted], second.progress).verdict).toMatchObject({ reason: 'Restarted' });
  });

  test('an ended container of a pod that was never ready', () => {
    const ended = [status('app', { ready: false, state: { terminated: { exitCode: 1 } } })];
    expect(watch([unready(ended, { name: 'replacement' })]).verdict).toBeNull();
  });

  test('agents that were not there before, or that nobody has looked at', () => {
    const more = { ...good, agents: read([scout, { ...scout, name: 'new' }]) };
    expect(sampleStep(gated, live(), more, params, NOW).verdict).toBeNull();
    expect(
      sampleStep(gated, live(), { ...good, agents: read([]) }, { ...params, placements: null }, NOW).verdict,
    ).toBeNull();
    expect(sampleStep(gated, live(), { ...good, agents: null }, params, NOW).verdict).toBeNull();
  });
});

describe('health', () => {
  test(`fails the soak after ${FAILURES_THAT_FAIL} measured failures in a row`, () => {
    expect(soak([bad]).verdict).toBeNull();
    expect(soak([bad, bad])).toMatchObject({
      block: true,
      verdict: { kind: 'fail', reason: 'HealthFailed', message: '2 times in a row: GET /api/health answered 500' },
    });
    expect(soak([bad, pass(), bad]).verdict).toBeNull();
  });

  test('that is not measured between two failures neither counts nor ends their row', () => {
    expect(soak([bad, unknown]).verdict).toBeNull();
    expect(soak([bad, unknown, bad]).verdict).toMatchObject({ reason: 'HealthFailed' });
  });

  test(`that is not measured ${UNMEASURED_THAT_END} times in a row ends the soak as unmeasured`, () => {
    expect(soak([unknown, unknown, unknown, unknown]).verdict).toBeNull();
    expect(soak([unknown, unknown, unknown, unknown, unknown])).toMatchObject({ block: false, verdict: unknown });
    expect(soak([unknown, unknown, unknown, unknown, pass(), unknown]).verdict).toBeNull();
    expect(soak([unknown, unknown, unknown, unknown, bad, unknown]).verdict).toBeNull();
  });

  test('counts a sample only where it was measured', () => {
    expect(soak([pass(), bad, unknown]).progress).toEqual({
      ...gated,
      samples: 2,
      sampledAt: NOW + 2 * MINUTE,
      streaks: { 'health of the target': { failures: 1, unmeasured: 1 } },
    });
  });

  test('is not measured while agents cannot be read, but a failure outweighs that', () => {
    const agents = unread('not-ready', 'agents');
    const step = sampleStep(gated, live(), { ...good, agents }, params, NOW);
    expect(step.progress.samples).toBe(0);
    expect(sampleStep(gated, live(), { ...good, agents, health: bad }, params, NOW).progress.samples).toBe(1);
    expect(sampleStep(gated, live(), { ...good, agents, health: null }, params, NOW).progress.samples).toBe(0);
  });
});

describe('readiness', () => {
  const sampled = (pods: readonly Pod[], overrides: Partial<WatchedTarget> = {}, sample = good) =>
    sampleStep(gated, live({ pods, ...overrides }), sample, params, NOW);
  const streak = (step: SoakStep) => step.progress.streaks['health of the target'];

  test('that was lost is a measured failure, two of which fail the soak', () => {
    const fallen = unready([status('app', { ready: false })]);
    const first = sampled([fallen]);
    expect(streak(first)).toEqual({ failures: 1, unmeasured: 0 });
    expect(sampleStep(first.progress, live({ pods: [fallen] }), good, params, NOW)).toMatchObject({
      verdict: { reason: 'NotReady', message: '2 times in a row: pod shop/web-new-y is not ready any more' },
      block: true,
    });
  });

  test('is all there is where no other health is asked for', () => {
    expect(streak(sampled([pod()], {}, { ...good, health: null }))).toEqual({ failures: 0, unmeasured: 0 });
    expect(streak(sampled([unready([status('app', { ready: false })])], {}, { ...good, health: null }))?.failures).toBe(
      1,
    );
  });

  test('of a pod that is still coming says nothing as long as another one can be asked', () => {
    const coming = unready([status('app', { ready: false })], { name: 'replacement' });
    expect(streak(sampled([pod(), coming]))).toEqual({ failures: 0, unmeasured: 0 });
    expect(streak(sampled([coming]))).toEqual({ failures: 0, unmeasured: 1 });
  });

  test('lost by an eviction or with the node is not measured', () => {
    const evicted = unready([status('app', { ready: false })], {
      conditions: [{ type: 'DisruptionTarget', status: 'True' }],
    });
    expect(streak(sampled([evicted]))).toEqual({ failures: 0, unmeasured: 1 });
  });

  test('is not measured while the API server does not answer, or without a pod', () => {
    const interrupted = unread('unreachable', 'pods');
    expect(streak(sampled([pod()], { interrupted }))).toEqual({ failures: 0, unmeasured: 1 });
    let step: SoakStep = { progress: gated, verdict: null, block: false };
    for (let i = 0; i < UNMEASURED_THAT_END; i += 1)
      step = sampleStep(step.progress, live({ pods: [] }), good, params, NOW);
    expect(step.verdict).toEqual({
      kind: 'unmeasured',
      what: 'pods of web',
      from: 'API server',
      why: 'not-ready',
      message: 'no pod of web can be asked: there is none of the current template',
    });
    const coming = unready([], { name: 'replacement' });
    for (let i = 0; i < UNMEASURED_THAT_END; i += 1)
      step = sampleStep(step.progress, live({ pods: [coming] }), good, params, NOW);
    expect(step.verdict).toMatchObject({
      message: 'no pod of web can be asked: pod shop/replacement has not started a container yet',
    });
  });
});

describe('Prometheus checks', () => {
  const check = { name: 'errors', query: 'up', max: 5, min: 1 };
  const sampled = (value: number | null, progress = gated) => {
    const checks = [{ check, value: value === null ? unread('empty', 'check errors') : read(value) }];
    return sampleStep(progress, live(), { ...good, checks }, params, NOW);
  };
  const failures = (value: number) => sampled(value).progress.streaks['errors']?.failures;

  test('pass on their bounds and fail beyond them', () => {
    expect([failures(1), failures(5), failures(3)]).toEqual([0, 0, 0]);
    expect([failures(0.9), failures(5.1)]).toEqual([1, 1]);
  });

  test('fail the soak after two failures in a row, with the value', () => {
    expect(sampled(6, sampled(6).progress)).toMatchObject({
      block: true,
      verdict: { reason: 'CheckFailed', message: '2 times in a row: check errors is 6, above 5' },
    });
    expect(sampled(0, sampled(0).progress).verdict).toMatchObject({
      message: '2 times in a row: check errors is 0, below 1',
    });
  });

  test('may have one bound alone', () => {
    const one = (bound: object, value: number) =>
      sampleStep(
        gated,
        live(),
        { ...good, checks: [{ check: { name: 'c', query: 'q', ...bound }, value: read(value) }] },
        params,
        NOW,
      ).progress.streaks['c']?.failures;
    expect([one({ max: 1 }, -9), one({ min: 1 }, 9), one({ max: 1 }, 2), one({ min: 1 }, 0)]).toEqual([0, 0, 1, 1]);
  });

  test('without data, or with NaN, are unmeasured, five of which end the soak', () => {
    for (const value of [null, Number.NaN]) {
      let step = sampled(value);
      for (let i = 1; i < UNMEASURED_THAT_END; i += 1) {
        expect(step.verdict).toBeNull();
        step = sampled(value, step.progress);
      }
      expect(step).toMatchObject({ block: false, verdict: { kind: 'unmeasured', why: 'empty' } });
    }
    expect(sampled(Number.NaN).progress.samples).toBe(1);
  });
});

/** Of a soak that has had all the samples past its end that it may have. */
const last = { ...gated, late: EXTRA_SAMPLES };

describe('the end of a soak', () => {
  const at = (now: number, progress = gated, overrides: Partial<SoakParams> = {}, sample = good, seen = live()) =>
    sampleStep(progress, seen, sample, { ...params, ...overrides }, now);

  test('comes at its time, not before', () => {
    expect(at(UNTIL - 1).verdict).toBeNull();
    expect(at(UNTIL).verdict).toEqual({ kind: 'pass', message: 'soaked with 1 measured samples' });
  });

  test('needs the minimum of measured samples, and waits for them for a bounded time', () => {
    expect(at(UNTIL, gated, { minimumSamples: 2 }).verdict).toBeNull();
    const before = { ...gated, late: EXTRA_SAMPLES - 1 };
    expect(at(UNTIL, before, { minimumSamples: 2 }).verdict).toBeNull();
    expect(at(UNTIL, before, { minimumSamples: 2 }).progress.late).toBe(EXTRA_SAMPLES);
    expect(at(UNTIL, last, { minimumSamples: 2 })).toMatchObject({
      block: false,
      verdict: {
        kind: 'unmeasured',
        what: 'soak of web',
        why: 'timeout',
        message: 'the soak of web did not come to an end in time: 1 of at least 2 samples were measured',
      },
    });
    expect(at(UNTIL, { ...last, samples: 1 }, { minimumSamples: 2 }).verdict?.kind).toBe('pass');
    // As many as are needed may come late, where no worker ran during the soak.
    expect(at(UNTIL, last, { minimumSamples: EXTRA_SAMPLES + 1 }).verdict).toBeNull();
  });

  test('never comes on a bad or unmeasured last sample', () => {
    expect(at(UNTIL, gated, {}, { ...good, health: bad }).verdict).toBeNull();
    expect(at(UNTIL, gated, { minimumSamples: 0 }, { ...good, health: unknown }).verdict).toBeNull();
    const checks = [{ check: { name: 'c', query: 'q', max: 1 }, value: read(2) }];
    expect(at(UNTIL, gated, {}, { ...good, checks }).verdict).toBeNull();
    expect(at(UNTIL, last, {}, { ...good, health: unknown }).verdict).toMatchObject({
      message:
        'the soak of web did not come to an end in time: the last sample of health of the target: health could not be read: denied',
    });
  });

  test('is not over because no worker ran: a failure that is measured late is measured again, and counts', () => {
    const first = at(UNTIL + 60 * MINUTE, gated, {}, { ...good, health: bad });
    expect(first.verdict).toBeNull();
    const second = at(UNTIL + 61 * MINUTE, first.progress, {}, { ...good, health: bad });
    expect(second).toMatchObject({ verdict: { kind: 'fail' }, block: true });
    expect(at(UNTIL - 1).progress.late).toBe(0);
  });

  test('needs every replica', () => {
    const seen = live({ workload: deployment(2), pods: [pod()] });
    expect(at(UNTIL, gated, {}, good, seen).verdict).toBeNull();
    expect(at(UNTIL, last, {}, good, seen).verdict).toMatchObject({
      message: 'the soak of web did not come to an end in time: 1 of 2 pods are ready',
    });
  });
});

describe('samples are due', () => {
  const due = (sampledAt: number | null) => sampleDueAt({ ...gated, sampledAt }, params, NOW);
  test('at once, then every interval, and once at the very end', () => {
    expect(due(null)).toBe(NOW);
    expect(due(NOW)).toBe(NOW + MINUTE);
    expect(due(UNTIL - MINUTE / 2)).toBe(UNTIL);
    expect(due(UNTIL)).toBe(UNTIL + MINUTE);
  });
});

test('several agents that are lost are all named', () => {
  const two = { ...params, placements: [scout, { ...scout, name: 'smith' }] };
  expect(sampleStep(gated, live(), { ...good, agents: read([]) }, two, NOW).verdict).toMatchObject({
    message: 'web has lost scout, smith, which ran there before',
  });
});

test('a check without a value says which', () => {
  const checks = [{ check: { name: 'errors', query: 'q', max: 1 }, value: read(Number.NaN) }];
  expect(sampleStep(last, live(), { ...good, checks }, params, UNTIL).verdict).toMatchObject({
    from: 'Holdfast',
    message:
      'the soak of web did not come to an end in time: the last sample of errors: check errors has no value (NaN)',
  });
});

test('a soak that goes on blocks nothing, and one whose controller has not looked yet does not end', () => {
  expect(sampleStep(gated, live(), good, params, UNTIL - 1)).toMatchObject({ verdict: null, block: false });
  const unseen = live({ workload: deployment(1, { metadata: { name: 'web', uid: 'web', generation: 10 } }) });
  expect(sampleStep(gated, unseen, good, params, UNTIL)).toMatchObject({ verdict: null, block: false });
  expect(sampleStep(last, unseen, good, params, UNTIL).verdict).toMatchObject({
    message: 'the soak of web did not come to an end in time: its controller has not looked at the new template yet',
  });
});

test('no pod soaks where there is no workload or no current template', () => {
  expect(soakingPods(live({ workload: null }))).toEqual([]);
  expect(soakingPods(live({ revisions: [] }))).toEqual([]);
});
