import { describe, expect, test } from 'vitest';
import type { ContainerStatus, Pod } from '../../../src/domain/core/workload.ts';
import { read } from '../../../src/domain/core/verdict.ts';
import {
  CONDITION_SETTLES_MS,
  judgeRollout,
  type ImagePresence,
  type RolloutMoment,
  type WatchedTarget,
} from '../../../src/domain/release/judge-rollout.ts';
import {
  address,
  daemonSet,
  deployment,
  iso,
  live,
  MINUTE,
  moment,
  NEW,
  OLD,
  oldPod,
  ownedPod,
  pod,
  revision,
  statefulSet,
  status,
  unready,
  waitingFor,
} from './watched.ts';
import { digest, NOW, unread } from './world.ts';

const DEADLINE = NOW + 7 * MINUTE;

/** One replica of the new template that is not up yet: counters say so. */
function rollingTo(pods: readonly Pod[], replicas = 1): WatchedTarget {
  return live({
    workload: deployment(replicas, {
      status: {
        observedGeneration: 9,
        replicas: replicas + 1,
        updatedReplicas: 1,
        readyReplicas: replicas,
        availableReplicas: replicas,
      },
    }),
    pods,
  });
}

function judge(pods: readonly Pod[], overrides: Partial<RolloutMoment> = {}) {
  return judgeRollout(moment({ live: rollingTo(pods), ...overrides }));
}

const there: ImagePresence = { is: 'there', platforms: ['linux/amd64', 'linux/arm64/v8'], unplatformed: 0 };
const crashing = waitingFor('app', 'CrashLoopBackOff', {
  restartCount: 4,
  lastState: { terminated: { exitCode: 1, reason: 'Error' } },
});

describe('a rollout that is complete', () => {
  test('is ready with the pods of the new template', () => {
    expect(judgeRollout(moment())).toEqual({ kind: 'ready', pods: [pod()] });
  });

  test('is ready exactly at the deadline too', () => {
    expect(judgeRollout(moment({ now: DEADLINE })).kind).toBe('ready');
  });

  test('of a StatefulSet and a DaemonSet is told by the pods of their newest revision', () => {
    const set = live({ workload: statefulSet(), pods: [ownedPod(pod(), 'StatefulSet', 'web-new')] });
    expect(judgeRollout(moment({ live: set })).kind).toBe('ready');
    const daemons = live({
      workload: daemonSet(),
      revisions: [revision],
      pods: [ownedPod(pod(), 'DaemonSet', 'web-new')],
    });
    expect(judgeRollout(moment({ live: daemons })).kind).toBe('ready');
  });
});

test('H-A10 a Deployment that turns paused during the wait stops it at once with that reason', () => {
  const paused = deployment(2, {
    metadata: { name: 'web', namespace: 'shop', uid: 'web', generation: 7 },
    status: { observedGeneration: 7, updatedReplicas: 0, availableReplicas: 2 },
  });
  const seen = { ...paused, spec: { ...paused.spec, paused: true } };
  expect(judgeRollout(moment({ live: live({ workload: seen, pods: [] }) }))).toEqual({
    kind: 'failed',
    verdict: {
      kind: 'fail',
      reason: 'WorkloadPaused',
      message:
        'Deployment shop/web is paused, so nothing rolls; resume it when it may: kubectl -n shop rollout resume deployment/web',
    },
    block: false,
  });
});

describe('H-A11 an old ProgressDeadlineExceeded', () => {
  const condition = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' };
  const stale = (observedGeneration: number) =>
    live({
      workload: deployment(2, {
        status: { observedGeneration, replicas: 3, updatedReplicas: 1, availableReplicas: 2, conditions: [condition] },
      }),
      pods: [unready([status('app', { ready: false })])],
    });

  test('is not read as long as the controller has not seen the generation', () => {
    const judged = judgeRollout(moment({ live: stale(8), observedSince: NOW - MINUTE }));
    expect(judged).toEqual({
      kind: 'rolling',
      why: 'the controller of Deployment shop/web has not looked at the new template yet',
      askRegistry: false,
    });
  });

  test('is not read even where all counters of the old generation look complete', () => {
    const complete = live({
      workload: deployment(2, {
        status: {
          observedGeneration: 8,
          replicas: 2,
          updatedReplicas: 2,
          availableReplicas: 2,
          conditions: [condition],
        },
      }),
      pods: [pod('a'), pod('b')],
    });
    expect(judgeRollout(moment({ live: complete })).kind).toBe('rolling');
  });

  test('is given a settling time on the observed generation, and counts after it', () => {
    const at = (now: number) => judgeRollout(moment({ live: stale(9), observedSince: NOW, now })).kind;
    expect(at(NOW + CONDITION_SETTLES_MS - 1)).toBe('rolling');
    expect(at(NOW + CONDITION_SETTLES_MS)).toBe('failed');
  });

  test('does not count where nobody has noted since when the generation is observed', () => {
    expect(judgeRollout(moment({ live: stale(9), observedSince: null })).kind).toBe('rolling');
  });

  test('is not read as new in the wait that follows a rollback either', () => {
    expect(judgeRollout(moment({ live: stale(8), recovering: true, observedSince: NOW - MINUTE })).kind).toBe(
      'rolling',
    );
  });

  test('of another reason or another condition changes nothing', () => {
    for (const other of [
      { ...condition, reason: 'ReplicaSetUpdated' },
      { ...condition, type: 'Available' },
      { ...condition, status: 'True' },
    ]) {
      const seen = live({
        workload: deployment(2, {
          status: { observedGeneration: 9, replicas: 3, updatedReplicas: 1, availableReplicas: 2, conditions: [other] },
        }),
        pods: [],
      });
      expect(judgeRollout(moment({ live: seen, observedSince: NOW - MINUTE })).kind).toBe('rolling');
    }
  });

  test('with nothing measured about the image is unmeasured', () => {
    const seen = { ...stale(9), pods: [] };
    expect(judgeRollout(moment({ live: seen, observedSince: NOW - MINUTE })).kind).toBe('unmeasured');
  });
});

describe('H-A12 while new pods fail and old replicas are still ready', () => {
  const stuck = (reason: string): WatchedTarget =>
    live({
      workload: deployment(2, {
        status: {
          observedGeneration: 9,
          replicas: 3,
          readyReplicas: 2,
          availableReplicas: 2,
          updatedReplicas: 1,
          unavailableReplicas: 1,
          conditions: [
            { type: 'Available', status: 'True' },
            { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' },
          ],
        },
      }),
      pods: [oldPod('a'), oldPod('b'), unready([waitingFor('app', reason)])],
    });

  test('the rollout is not successful', () => {
    expect(judgeRollout(moment({ live: stuck('ContainerCreating') }))).toMatchObject({
      kind: 'rolling',
      why: '1 of 2 pods are updated; pod shop/web-new-y has not started a container yet',
    });
  });

  test('an image that the registry does not have fails at once and is blocked', () => {
    expect(judgeRollout(moment({ live: stuck('ImagePullBackOff'), presence: read({ is: 'absent' }) }))).toMatchObject({
      kind: 'failed',
      block: true,
      verdict: { reason: 'ImageAbsent' },
    });
  });

  test('a crash loop fails at once and is blocked', () => {
    expect(judgeRollout(moment({ live: stuck('CrashLoopBackOff') }))).toMatchObject({ kind: 'failed', block: true });
  });

  test.each([
    ['updated', { updatedReplicas: 1, availableReplicas: 2, replicas: 2 }, '1 of 2 pods are updated'],
    ['available', { updatedReplicas: 2, availableReplicas: 1, replicas: 2 }, '1 of 2 pods are available'],
    ['free of old replicas', { updatedReplicas: 2, availableReplicas: 2, replicas: 3 }, '1 old pod is still there'],
  ])('success needs every replica %s', (_, counters, why) => {
    const workload = deployment(2, { status: { observedGeneration: 9, ...counters } });
    const judged = judgeRollout(moment({ live: live({ workload, pods: [pod('a'), pod('b')] }) }));
    expect(judged).toEqual({ kind: 'rolling', why, askRegistry: false });
  });

  test('counters that are ahead of the pods prove nothing', () => {
    const workload = deployment(2);
    expect(judgeRollout(moment({ live: live({ workload, pods: [pod('a')] }) }))).toMatchObject({
      kind: 'rolling',
      why: '1 of 2 pods are ready',
    });
    const third = unready([status('app', { ready: false })]);
    expect(judgeRollout(moment({ live: live({ workload, pods: [pod('a'), pod('b'), third] }) }))).toMatchObject({
      kind: 'rolling',
      why: '2 of 3 pods are ready; pod shop/web-new-y runs but is not ready: containers with unready status: [app]',
    });
  });

  test('the wait has its own deadline and does not depend on a condition', () => {
    const seen = rollingTo([unready([status('app', { ready: false })])]);
    expect(judgeRollout(moment({ live: seen, now: DEADLINE - 1 })).kind).toBe('rolling');
    expect(judgeRollout(moment({ live: seen, now: DEADLINE }))).toEqual({
      kind: 'failed',
      verdict: {
        kind: 'fail',
        reason: 'RolloutTimeout',
        message:
          'Deployment shop/web did not become ready in time: 1 old pod is still there; pod shop/web-new-y runs but is not ready: containers with unready status: [app]',
      },
      block: true,
    });
  });
});

describe('H-A13 only pods of the new ReplicaSet count', () => {
  const old = oldPod('app-old-x', {
    status: {
      phase: 'Running',
      containerStatuses: [waitingFor('app', 'CrashLoopBackOff', { restartCount: 164 })],
    },
  });

  test('a crash-looping pod of the previous revision fails nothing', () => {
    const terminating = { ...old, metadata: { ...old.metadata, deletionTimestamp: iso(NOW) } };
    expect(judgeRollout(moment({ live: live({ pods: [terminating, pod()] }) }))).toEqual({
      kind: 'ready',
      pods: [pod()],
    });
    expect(judgeRollout(moment({ live: live({ pods: [old, pod()] }) })).kind).toBe('ready');
  });

  test('a terminating pod of the new revision counts for neither side', () => {
    const gone = unready([crashing]);
    const terminating = { ...gone, metadata: { ...gone.metadata, uid: 'other', deletionTimestamp: iso(NOW) } };
    expect(judgeRollout(moment({ live: live({ pods: [terminating, pod('b')] }) })).kind).toBe('ready');
    const healthy = pod();
    const leaving = { ...healthy, metadata: { ...healthy.metadata, deletionTimestamp: iso(NOW) } };
    expect(judgeRollout(moment({ live: live({ pods: [leaving] }) })).kind).toBe('rolling');
  });

  test('an evicted pod is no failure: its replacement counts', () => {
    const evicted = pod('gone', { status: { phase: 'Failed', reason: 'Evicted', containerStatuses: [crashing] } });
    expect(judgeRollout(moment({ live: live({ pods: [evicted, pod()] }) }))).toEqual({ kind: 'ready', pods: [pod()] });
  });
});

describe('H-A14 init containers', () => {
  test('one that crashes again and again fails the rollout, by its name', () => {
    const seen = unready([waitingFor('app', 'PodInitializing')], {
      init: [waitingFor('init', 'CrashLoopBackOff', { restartCount: 4 })],
    });
    expect(judge([seen])).toEqual({
      kind: 'failed',
      block: true,
      verdict: {
        kind: 'fail',
        reason: 'CrashLoopBackOff',
        message: 'container init of pod shop/web-new-y crashes again and again: 4 restarts',
      },
    });
  });

  test('one that ended with exit code 0 is healthy', () => {
    expect(judgeRollout(moment({ live: live({ pods: [pod()] }) })).kind).toBe('ready');
  });

  test('one that runs on beside the containers (a sidecar) is healthy', () => {
    const of = pod();
    const sidecar = { ...of, status: { ...of.status, initContainerStatuses: [status('init', { started: true })] } };
    expect(judgeRollout(moment({ live: live({ pods: [sidecar] }) })).kind).toBe('ready');
  });

  test('one whose image cannot be pulled fails the rollout', () => {
    const seen = unready([waitingFor('app', 'PodInitializing')], { init: [waitingFor('init', 'ErrImagePull')] });
    expect(judge([seen], { presence: read({ is: 'absent' }) })).toMatchObject({
      verdict: {
        message:
          'container init of pod shop/web-new-y cannot get its image (ErrImagePull); the registry does not have it',
      },
    });
  });
});

describe('a crash loop', () => {
  test('fails at once, says how the container ended, and blocks the image', () => {
    expect(judge([unready([crashing])])).toEqual({
      kind: 'failed',
      block: true,
      verdict: {
        kind: 'fail',
        reason: 'CrashLoopBackOff',
        message:
          'container app of pod shop/web-new-y crashes again and again: it ended with exit code 1 (Error), 4 restarts',
      },
    });
  });

  test('of a container that runs another image fails without blocking', () => {
    expect(judge([unready([{ ...crashing, name: 'proxy' }])])).toMatchObject({ kind: 'failed', block: false });
  });

  test('of the image outranks one of another container', () => {
    const pods = [unready([{ ...crashing, name: 'proxy' }], { name: 'a' }), unready([crashing], { name: 'b' })];
    expect(judge(pods)).toMatchObject({
      block: true,
      verdict: { message: expect.stringContaining('pod shop/b') as string },
    });
  });

  test('of a pod that is ready by its own word is over', () => {
    expect(
      judgeRollout(
        moment({
          live: live({
            pods: [
              pod('a', { status: { conditions: [{ type: 'Ready', status: 'True' }], containerStatuses: [crashing] } }),
            ],
          }),
        }),
      ).kind,
    ).toBe('ready');
  });

  test('that has only crashed once so far is waited for', () => {
    const once = status('app', { ready: false, state: { terminated: { exitCode: 1, reason: 'Error' } } });
    expect(judge([unready([once])])).toMatchObject({
      kind: 'rolling',
      why: expect.stringContaining(
        'container app of pod shop/web-new-y has failed: it ended with exit code 1 (Error), 0 restarts',
      ) as string,
    });
    expect(judge([unready([once])], { now: DEADLINE })).toMatchObject({ kind: 'failed', block: true });
  });
});

describe('an image that cannot be pulled', () => {
  const pulling = (reason: string, name = 'app') => [unready([waitingFor(name, reason)])];

  test('asks for the registry, and waits for its answer', () => {
    for (const reason of ['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull']) {
      expect(judge(pulling(reason))).toMatchObject({ kind: 'rolling', askRegistry: true });
    }
  });

  test('fails at once and is blocked where the registry does not have it', () => {
    expect(judge(pulling('ErrImagePull'), { presence: read({ is: 'absent' }) })).toEqual({
      kind: 'failed',
      block: true,
      verdict: {
        kind: 'fail',
        reason: 'ImageAbsent',
        message:
          'container app of pod shop/web-new-y cannot get its image (ErrImagePull); the registry does not have it',
      },
    });
  });

  test('fails at once and is blocked where it lacks the architecture of the node', () => {
    const nodes = { 'node-1': { ready: true, cordoned: false, platform: 'linux/s390x' } };
    expect(judge(pulling('ErrImagePull'), { presence: read(there), nodes })).toMatchObject({
      kind: 'failed',
      block: true,
      verdict: {
        reason: 'WrongArchitecture',
        message:
          'container app of pod shop/web-new-y cannot get its image (ErrImagePull); the node is linux/s390x, and the image has linux/amd64, linux/arm64/v8',
      },
    });
  });

  test.each([
    ['the same', 'linux/amd64', there],
    ['a variant of it', 'linux/arm64', there],
    ['an unknown one', null, there],
    ['any, with an image that tells none', 'linux/amd64', { ...there, platforms: [] }],
  ])('is not of the wrong architecture on a node of %s', (_, platform, presence) => {
    const nodes = { 'node-1': { ready: true, cordoned: false, platform } };
    expect(judge(pulling('ErrImagePull'), { presence: read(presence), nodes }).kind).toBe('rolling');
  });

  test('fails without blocking where the registry has it, once the kubelet backs off', () => {
    expect(judge(pulling('ErrImagePull'), { presence: read(there) })).toMatchObject({ kind: 'rolling' });
    expect(judge(pulling('ImagePullBackOff'), { presence: read(there) })).toMatchObject({
      kind: 'failed',
      block: false,
      verdict: {
        reason: 'ImagePullBackOff',
        message:
          'container app of pod shop/web-new-y cannot get its image (ImagePullBackOff), although the registry has it',
      },
    });
    expect(judge(pulling('ErrImagePull'), { presence: read(there), now: DEADLINE })).toMatchObject({
      kind: 'failed',
      block: false,
      verdict: { reason: 'RolloutTimeout' },
    });
  });

  test('is unmeasured where the registry does not answer, and only at the deadline', () => {
    const presence = unread('timeout', 'image');
    expect(judge(pulling('ImagePullBackOff'), { presence })).toMatchObject({ kind: 'rolling', askRegistry: true });
    expect(judge(pulling('ImagePullBackOff'), { presence, now: DEADLINE })).toMatchObject({
      kind: 'unmeasured',
      verdict: {
        why: 'timeout',
        what: 'rollout of web',
        from: 'API server',
        message:
          'Deployment shop/web did not roll out in time, and nothing measured says that it is the image: 1 old pod is still there; container app of pod shop/web-new-y cannot get its image (ImagePullBackOff); the registry does not tell: image could not be read: timeout',
      },
    });
  });

  test('is unmeasured at the deadline where nobody has asked the registry', () => {
    expect(judge(pulling('ImagePullBackOff'), { now: DEADLINE }).kind).toBe('unmeasured');
  });

  test('of another container is never blamed on the image', () => {
    const presence = read<ImagePresence>({ is: 'absent' });
    expect(judge(pulling('ImagePullBackOff', 'proxy'), { presence })).toMatchObject({ kind: 'rolling' });
    expect(judge(pulling('ImagePullBackOff', 'proxy'), { presence, now: DEADLINE }).kind).toBe('unmeasured');
  });
});

describe('a container that cannot be started', () => {
  test('fails at once where its image name is not valid', () => {
    expect(
      judge([
        unready([
          waitingFor('app', 'InvalidImageName', { state: { waiting: { reason: 'InvalidImageName', message: 'no' } } }),
        ]),
      ]),
    ).toEqual({
      kind: 'failed',
      block: false,
      verdict: {
        kind: 'fail',
        reason: 'InvalidImageName',
        message: 'container app of pod shop/web-new-y has an image name that is not valid: no',
      },
    });
  });

  test.each([
    ['CreateContainerConfigError', 'app', false],
    ['CreateContainerError', 'app', true],
    ['RunContainerError', 'app', true],
    ['RunContainerError', 'proxy', false],
    ['PreCreateHookError', 'app', true],
    ['PreStartHookError', 'app', true],
    ['PostStartHookError', 'app', true],
  ])('%s of %s is waited for, then fails; blocked: %s', (reason, name, block) => {
    const pods = [unready([waitingFor(name, reason)])];
    expect(judge(pods).kind).toBe('rolling');
    expect(judge(pods, { now: DEADLINE })).toMatchObject({
      kind: 'failed',
      block,
      verdict: {
        reason: 'RolloutTimeout',
        message: expect.stringContaining(
          `container ${name} of pod shop/web-new-y cannot be started (${reason})`,
        ) as string,
      },
    });
  });
});

describe('what comes from outside the image is waited for, and is unmeasured at the deadline', () => {
  const creating = [waitingFor('app', 'ContainerCreating')];
  const running = [status('app', { ready: false })];
  const node = (state: { ready: boolean | null; cordoned: boolean | null }) => ({
    'node-1': { ...state, platform: null },
  });
  const unscheduled = [
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' },
  ];
  const disrupted = [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }];
  const lost = unready(running);
  const cases: [string, Pod, Partial<RolloutMoment>, string][] = [
    [
      'no capacity',
      unready([], { conditions: unscheduled }),
      {},
      'pod shop/web-new-y is not scheduled: 0/3 nodes are available',
    ],
    [
      'eviction',
      unready(running, { conditions: disrupted }),
      {},
      'pod shop/web-new-y is being evicted (EvictionByEvictionAPI)',
    ],
    [
      'a node that is not ready',
      unready(running),
      { nodes: node({ ready: false, cordoned: false }) },
      'pod shop/web-new-y is on node node-1, which is not ready',
    ],
    [
      'a lost node',
      { ...lost, status: { ...lost.status, reason: 'NodeLost' } },
      {},
      'pod shop/web-new-y is on node node-1, which is not ready',
    ],
    [
      'a cordoned node',
      unready(running),
      { nodes: node({ ready: true, cordoned: true }) },
      'pod shop/web-new-y is on node node-1, which is cordoned',
    ],
    ...['FailedMount', 'FailedAttachVolume', 'FailedMapVolume', 'FailedCreatePodSandBox'].map(
      (reason): [string, Pod, Partial<RolloutMoment>, string] => [
        `a missing volume (${reason})`,
        unready(creating),
        { events: [{ podUid: 'web-new-y', reason, message: 'no' }] },
        `pod shop/web-new-y cannot be set up (${reason}): no`,
      ],
    ),
    ['nothing that started', unready(creating), {}, 'pod shop/web-new-y has not started a container yet'],
  ];
  test.each(cases)('%s', (_, seen, overrides, message) => {
    expect(judge([seen], { ...overrides, now: DEADLINE - 1 })).toMatchObject({
      kind: 'rolling',
      why: `1 old pod is still there; ${message}`,
    });
    expect(judge([seen], { ...overrides, now: DEADLINE })).toMatchObject({
      kind: 'unmeasured',
      verdict: { message: expect.stringContaining(message) as string },
    });
  });

  test('but a pod that was measured beside it still fails the rollout', () => {
    const pods = [unready([], { name: 'a', conditions: unscheduled }), unready(running, { name: 'b' })];
    expect(judge(pods, { now: DEADLINE })).toMatchObject({
      kind: 'failed',
      verdict: { message: expect.stringContaining('pod shop/b runs') as string },
    });
  });

  test('a node that was not read, or is as it should be, explains nothing', () => {
    const known = { nodes: node({ ready: true, cordoned: false }) };
    const unknown = { nodes: node({ ready: null, cordoned: null }) };
    for (const overrides of [{}, known, unknown]) {
      expect(judge([unready(running)], { ...overrides, now: DEADLINE }).kind).toBe('failed');
    }
  });

  test('an event of another pod, of another kind, or of a pod that has started explains nothing', () => {
    const event = { podUid: 'web-new-y', reason: 'FailedMount', message: 'no' };
    const why = (seen: Pod, events: RolloutMoment['events'] = []) => judge([seen], { events });
    expect(why(unready(creating), [{ ...event, podUid: 'other' }])).toMatchObject({
      why: expect.stringContaining('has not started') as string,
    });
    expect(why(unready(creating), [{ ...event, reason: 'Pulling' }])).toMatchObject({
      why: expect.stringContaining('has not started') as string,
    });
    expect(why(unready(running), [event])).toMatchObject({
      why: expect.stringContaining('runs but is not ready') as string,
    });
  });
});

describe('a pod that is not ready at the deadline', () => {
  const since = (startedAt: number | null): ContainerStatus =>
    status('app', { ready: false, state: { running: startedAt === null ? {} : { startedAt: iso(startedAt) } } });
  const at = (startedAt: number | null, overrides: Partial<RolloutMoment> = {}) =>
    judge([unready([since(startedAt)])], { now: DEADLINE, ...overrides }).kind;

  test('was measured where it had half of the time at least, and was not otherwise', () => {
    expect(at(NOW + 3.5 * MINUTE)).toBe('failed');
    expect(at(NOW + 3.5 * MINUTE + 1)).toBe('unmeasured');
  });

  test('was measured where its start, or the start of the wait, is not known', () => {
    expect(at(null)).toBe('failed');
    const { since: _, ...withoutSince } = moment({ live: rollingTo([unready([since(DEADLINE - 1)])]), now: DEADLINE });
    expect(judgeRollout(withoutSince).kind).toBe('failed');
  });

  test('had its time from its first start, however often it has restarted', () => {
    const restarted = status('app', {
      ready: false,
      state: { running: { startedAt: iso(DEADLINE - 1) } },
      lastState: { terminated: { exitCode: 1, startedAt: iso(NOW) } },
    });
    expect(judge([unready([restarted])], { now: DEADLINE }).kind).toBe('failed');
  });
});

describe('what has not been read, or is not there', () => {
  test('a target that was not read yet is waited for, then unmeasured', () => {
    const seen = live({ complete: false, interrupted: unread('unreachable', 'pods') });
    expect(judgeRollout(moment({ live: seen, now: DEADLINE - 1 }))).toEqual({
      kind: 'rolling',
      why: 'Deployment shop/web has not been read yet',
      askRegistry: false,
    });
    expect(judgeRollout(moment({ live: seen, now: DEADLINE }))).toMatchObject({
      kind: 'unmeasured',
      verdict: {
        message:
          'Deployment shop/web did not roll out in time, and nothing measured says that it is the image: Deployment shop/web has not been read yet; what is known may be old: pods could not be read: unreachable',
      },
    });
  });

  test('a workload that is gone is unmeasured at once', () => {
    expect(judgeRollout(moment({ live: live({ workload: null }) }))).toEqual({
      kind: 'unmeasured',
      verdict: {
        kind: 'unmeasured',
        what: 'Deployment shop/web',
        from: 'API server',
        why: 'missing',
        message: 'Deployment shop/web does not exist any more',
      },
    });
  });

  test('a ReplicaSet that is not made yet is waited for, then unmeasured', () => {
    const seen = live({ revisions: [] });
    expect(judgeRollout(moment({ live: seen }))).toMatchObject({
      kind: 'rolling',
      why: 'the controller of Deployment shop/web has not made its pods yet',
    });
    expect(judgeRollout(moment({ live: seen, now: DEADLINE })).kind).toBe('unmeasured');
  });

  test('zero replicas prove nothing', () => {
    const seen = live({ workload: deployment(0), pods: [] });
    expect(judgeRollout(moment({ live: seen }))).toMatchObject({
      kind: 'rolling',
      why: 'it has zero replicas, so there is nothing to verify',
    });
    expect(judgeRollout(moment({ live: seen, now: DEADLINE })).kind).toBe('unmeasured');
    const none = live({ workload: daemonSet({ desiredNumberScheduled: 0 }), revisions: [revision], pods: [] });
    expect(judgeRollout(moment({ live: none })).kind).toBe('rolling');
  });

  test('a workload without replicas in its spec has one, and a DaemonSet that does not tell has one', () => {
    const { replicas: _, ...spec } = deployment().spec;
    expect(judgeRollout(moment({ live: live({ workload: { ...deployment(), spec } }) })).kind).toBe('ready');
    const { desiredNumberScheduled: __, ...status } = daemonSet().status ?? {};
    const daemons = live({
      workload: { ...daemonSet(), status },
      revisions: [revision],
      pods: [ownedPod(pod(), 'DaemonSet', 'web-new')],
    });
    expect(judgeRollout(moment({ live: daemons })).kind).toBe('ready');
  });

  test('counters that are missing are zero', () => {
    const workload = deployment(1, { status: { observedGeneration: 9 } });
    expect(judgeRollout(moment({ live: live({ workload }) }))).toMatchObject({ why: '0 of 1 pods are updated' });
    const daemons = live({
      workload: { ...daemonSet(), status: { observedGeneration: 9, desiredNumberScheduled: 1 } },
      revisions: [revision],
      pods: [],
    });
    expect(judgeRollout(moment({ live: daemons }))).toMatchObject({ why: '0 of 1 pods are updated' });
  });

  test('old pods of a DaemonSet count by its own counters', () => {
    const daemons = live({
      workload: daemonSet({ currentNumberScheduled: 2 }),
      revisions: [revision],
      pods: [ownedPod(pod(), 'DaemonSet', 'web-new')],
    });
    expect(judgeRollout(moment({ live: daemons }))).toMatchObject({ why: '1 old pod is still there' });
  });
});

describe('what somebody else does meanwhile', () => {
  test('another image in the template is named and ends the wait', () => {
    const workload = deployment(1, {
      spec: { replicas: 1, template: { spec: { containers: [{ name: 'app', image: OLD }] } } },
    });
    expect(judgeRollout(moment({ live: live({ workload }) }))).toEqual({
      kind: 'failed',
      block: false,
      verdict: {
        kind: 'fail',
        reason: 'ImageChanged',
        message: `Deployment shop/web has ${OLD} now, not ${NEW}: somebody else changed it`,
      },
    });
  });

  test('a container that is gone ends the wait', () => {
    const workload = deployment(1, {
      spec: { replicas: 1, template: { spec: { containers: [{ name: 'web', image: NEW }] } } },
    });
    expect(judgeRollout(moment({ live: live({ workload }) }))).toMatchObject({
      verdict: { message: 'Deployment shop/web has no container app any more: somebody else changed it' },
    });
  });

  test('an init container may be the target', () => {
    expect(judgeRollout(moment({ target: { ...address, container: 'init' } })).kind).toBe('ready');
  });

  test('the strategy OnDelete is unmeasured at once, save for a Deployment', () => {
    const set = statefulSet();
    const workload = { ...set, spec: { ...set.spec, updateStrategy: { type: 'OnDelete' } } };
    expect(
      judgeRollout(moment({ target: { ...address, kind: 'StatefulSet' }, live: live({ workload }) })),
    ).toMatchObject({
      kind: 'unmeasured',
      verdict: {
        why: 'not-ready',
        message: 'StatefulSet shop/web has the update strategy OnDelete by now, so nothing rolls',
      },
    });
    const rolling = { ...set, spec: { ...set.spec, updateStrategy: { type: 'RollingUpdate' } } };
    const pods = [ownedPod(pod(), 'StatefulSet', 'web-new')];
    expect(judgeRollout(moment({ live: live({ workload: rolling, pods }) })).kind).toBe('ready');
  });
});

describe('H-A16 the imageID that pods report', () => {
  const running = (imageID: string) => {
    const of = pod();
    return live({ pods: [{ ...of, status: { ...of.status, containerStatuses: [status('app', { imageID })] } }] });
  };
  const index = { digest: digest('b1'), platformDigests: { 'linux/amd64': digest('b2') } };

  test('may be the digest of the platform, and is drift where it is in neither set', () => {
    const judged = (id: string) =>
      judgeRollout(moment({ live: running(`docker-pullable://reg/app@${digest(id)}`), index }));
    expect(judged('b2').kind).toBe('ready');
    expect(judged('b3')).toEqual({
      kind: 'failed',
      block: false,
      verdict: {
        kind: 'fail',
        reason: 'ImageChanged',
        message: `container app of pod shop/web-new-y runs docker-pullable://reg/app@${digest('b3')}, which is not ${NEW}`,
      },
    });
  });

  test('is not judged where the index is not known, and by the platform of its node where that is', () => {
    expect(judgeRollout(moment({ live: running(`reg/app@${digest('b3')}`) })).kind).toBe('ready');
    const nodes = { 'node-1': { ready: true, cordoned: false, platform: 'linux/arm64' } };
    expect(judgeRollout(moment({ live: running(`reg/app@${digest('b2')}`), index, nodes })).kind).toBe('failed');
  });
});

describe('the wait after a rollback', () => {
  test('decides nothing before its deadline, and never blocks', () => {
    expect(judge([unready([crashing])], { recovering: true }).kind).toBe('rolling');
    expect(judge([unready([crashing])], { recovering: true, now: DEADLINE })).toMatchObject({
      kind: 'failed',
      block: false,
    });
    expect(judge([unready([status('app', { ready: false })])], { recovering: true, now: DEADLINE })).toMatchObject({
      block: false,
    });
  });

  test('names the broken pod for which a StatefulSet would wait for ever', () => {
    const broken = ownedPod(unready([crashing], { name: 'web-0' }), 'StatefulSet', 'web-bad');
    const seen = live({ workload: statefulSet(1, { updatedReplicas: 0, availableReplicas: 0 }), pods: [broken] });
    expect(judgeRollout(moment({ live: seen, recovering: true }))).toEqual({
      kind: 'stuck',
      pod: { name: 'web-0', uid: 'web-0' },
    });
    expect(judgeRollout(moment({ live: seen })).kind).toBe('rolling');
  });

  test('leaves pods alone that are healthy, on their way, or not of a StatefulSet', () => {
    const workload = statefulSet(1, { updatedReplicas: 0 });
    const of = (seen: Pod) =>
      judgeRollout(
        moment({ live: live({ workload, pods: [ownedPod(seen, 'StatefulSet', 'web-bad')] }), recovering: true }),
      ).kind;
    expect(of(pod('web-0'))).toBe('rolling');
    expect(of(unready([status('app', { ready: false })]))).toBe('rolling');
    expect(of(unready([status('app', { ready: false, restartCount: 1 })]))).toBe('stuck');
    const leaving = unready([crashing]);
    expect(of({ ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: iso(NOW) } })).toBe('rolling');
    expect(judge([oldPod('old', { status: { containerStatuses: [crashing] } })], { recovering: true }).kind).toBe(
      'rolling',
    );
  });
});

describe('a pod that tells little', () => {
  const bare: Pod = { metadata: { name: 'bare', uid: 'bare', ownerReferences: pod().metadata.ownerReferences ?? [] } };
  const why = (of: Pod, overrides: Partial<RolloutMoment> = {}) => judge([of], overrides);

  test('has not started, whatever it leaves out', () => {
    for (const status of [
      undefined,
      {},
      { phase: 'Pending' },
      { containerStatuses: [{ name: 'app', ready: false, restartCount: 0 }] },
    ]) {
      expect(why({ ...bare, ...(status === undefined ? {} : { status }) })).toEqual({
        kind: 'rolling',
        why: '1 old pod is still there; pod bare has not started a container yet',
        askRegistry: false,
      });
    }
  });

  test('and has started once a container ran, and is not ready without a reason', () => {
    const ran = { name: 'app', ready: false, restartCount: 1, lastState: { terminated: { exitCode: 0 } } };
    expect(why({ ...bare, status: { containerStatuses: [ran] } })).toMatchObject({
      why: '1 old pod is still there; pod bare runs but is not ready: it is not ready',
    });
    expect(why({ ...bare, status: { containerStatuses: [ran] } }, { now: DEADLINE }).kind).toBe('failed');
  });

  test('of its node, its disruption or its image proves nothing', () => {
    const pulling = {
      name: 'app',
      ready: false,
      restartCount: 0,
      state: { waiting: { reason: 'ErrImagePull', message: 'not found' } },
    };
    expect(why({ ...bare, status: { containerStatuses: [pulling] } }, { presence: read(there) })).toMatchObject({
      kind: 'rolling',
      why: expect.stringContaining(
        'container app of pod bare cannot get its image (ErrImagePull): not found',
      ) as string,
    });
    const disrupted = { conditions: [{ type: 'DisruptionTarget', status: 'True' }] };
    expect(why({ ...bare, status: disrupted })).toMatchObject({
      why: expect.stringContaining('evicted (DisruptionTarget)') as string,
    });
    const unscheduled = (more: object) => ({ conditions: [{ type: 'PodScheduled', status: 'False', ...more }] });
    expect(why({ ...bare, status: unscheduled({ reason: 'Unschedulable' }) })).toMatchObject({
      why: expect.stringMatching(/is not scheduled: Unschedulable$/) as string,
    });
    expect(why({ ...bare, status: unscheduled({}) })).toMatchObject({
      why: expect.stringMatching(/is not scheduled: $/) as string,
    });
    expect(why({ ...bare, status: { reason: 'NodeLost' } })).toMatchObject({
      why: expect.stringContaining('on node , which is not ready') as string,
    });
  });

  test('is ready by its own word alone', () => {
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    const index = { digest: digest('b1'), platformDigests: {} };
    expect(judgeRollout(moment({ live: live({ pods: [{ ...bare, status }] }), index })).kind).toBe('ready');
  });
});

test('a condition counts beside others', () => {
  const seen = live({
    workload: deployment(2, {
      status: {
        observedGeneration: 9,
        replicas: 3,
        updatedReplicas: 1,
        availableReplicas: 2,
        conditions: [
          { type: 'Available', status: 'True' },
          { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' },
        ],
      },
    }),
    pods: [],
  });
  expect(judgeRollout(moment({ live: seen, observedSince: NOW - MINUTE })).kind).toBe('unmeasured');
  const none = live({ workload: deployment(2, { status: { observedGeneration: 9 } }), pods: [] });
  expect(judgeRollout(moment({ live: none, observedSince: NOW - MINUTE })).kind).toBe('rolling');
});

test('an evicted pod of another image says nothing about what runs', () => {
  const evicted = pod('gone', {
    status: { phase: 'Failed', containerStatuses: [status('app', { imageID: `reg/app@${digest('99')}` })] },
  });
  const index = { digest: digest('b1'), platformDigests: {} };
  expect(judgeRollout(moment({ live: live({ pods: [evicted, pod()] }), index })).kind).toBe('ready');
});

test('zero replicas at the deadline say so', () => {
  expect(judgeRollout(moment({ live: live({ workload: deployment(0), pods: [] }), now: DEADLINE }))).toMatchObject({
    verdict: {
      message: expect.stringMatching(/zero replicas, so there is nothing to verify$/) as string,
    },
  });
});

test('a StatefulSet waits for a pod of which only one container is broken', () => {
  const broken = ownedPod(unready([status('proxy'), waitingFor('app', 'ImagePullBackOff')]), 'StatefulSet', 'web-bad');
  const seen = live({ workload: statefulSet(1, { updatedReplicas: 0 }), pods: [broken] });
  expect(judgeRollout(moment({ live: seen, recovering: true })).kind).toBe('stuck');
});
