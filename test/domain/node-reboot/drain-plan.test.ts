import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../src/domain/core/verdict.ts';
import { isDrained, neverEvicted, planDrain } from '../../../src/domain/node-reboot/drain-plan.ts';
import {
  describeWaiting,
  dueEvictions,
  nextTryAt,
  noteTry,
  type DrainProgress,
} from '../../../src/domain/node-reboot/drain-progress.ts';
import { readBudgets } from '../../../src/domain/node-reboot/gates/budgets.ts';
import { drainGate } from '../../../src/domain/node-reboot/gates/drain.ts';
import { readPods, type PodReading } from '../../../src/domain/node-reboot/pod.ts';
import { nodeRebootSpec } from '../../../src/domain/node-reboot/spec.ts';
import { podObject, type PodTerms } from './pod-object.ts';

const careful = { deleteEmptyDirData: false, deleteBarePods: false };
const scratch = [{ name: 'scratch', emptyDir: {} }];
const set = { kind: 'ReplicaSet' };

function podsOf(...terms: readonly PodTerms[]): readonly PodReading[] {
  const pods = readPods(read(terms.map(podObject)));
  if (pods.kind === 'unmeasured') throw new Error(pods.message);
  return pods.value;
}

const named = (pods: readonly { readonly name: string }[]) => pods.map(({ name }) => name);

interface BudgetTerms {
  readonly name: string;
  readonly app: string;
  readonly desired: number;
  readonly pods: number;
  readonly policy?: string;
}

function budgetsOf(...terms: readonly BudgetTerms[]) {
  const facts = readBudgets(
    read(
      terms.map(({ name, app, desired, pods, policy }) => ({
        metadata: { namespace: 'shop', name, generation: 1 },
        spec: { selector: { matchLabels: { app } }, unhealthyPodEvictionPolicy: policy },
        status: {
          observedGeneration: 1,
          disruptionsAllowed: 0,
          expectedPods: pods,
          desiredHealthy: desired,
          currentHealthy: pods,
        },
      })),
    ),
  );
  if (facts.budgets.kind === 'unmeasured') throw new Error(facts.budgets.message);
  return facts.budgets.value;
}

const seven: readonly PodTerms[] = [
  { name: 'p1', annotations: { 'kubernetes.io/config.mirror': 'x' }, owner: { kind: 'Node' } },
  { name: 'p2', owner: { kind: 'DaemonSet' }, volumes: scratch },
  { name: 'p3', phase: 'Succeeded', volumes: scratch },
  { name: 'p4', phase: 'Failed', owner: { kind: 'Job' }, volumes: scratch },
  { name: 'p5', owner: set, volumes: scratch },
  { name: 'p6' },
  { name: 'p7', owner: set },
];

describe('which pods are moved', () => {
  test('H-D02 of seven pods one is evicted, four stay, and two block, both reported together', () => {
    const plan = planDrain(podsOf(...seven), careful);
    expect(named(plan.staying)).toEqual(['p1', 'p2', 'p3', 'p4']);
    expect(named(plan.evict)).toEqual(['p7']);
    expect(plan.blockers.map(({ pod, why }) => [pod, why])).toEqual([
      ['shop/p5', 'EmptyDir'],
      ['shop/p6', 'BarePod'],
    ]);
  });

  test('H-D02 nothing is evicted as long as anything blocks', () => {
    expect(dueEvictions(planDrain(podsOf(...seven), careful), {}, 0)).toEqual([]);
  });

  test('H-D02 data and bare pods go where the spec allows it, each by its own word', () => {
    const evicted = (spec: typeof careful) => named(planDrain(podsOf(...seven), spec).evict);
    expect(evicted({ deleteEmptyDirData: true, deleteBarePods: false })).toEqual(['p5', 'p7']);
    expect(evicted({ deleteEmptyDirData: false, deleteBarePods: true })).toEqual(['p6', 'p7']);
    const all = planDrain(podsOf(...seven), { deleteEmptyDirData: true, deleteBarePods: true });
    expect(all.blockers).toEqual([]);
    expect(named(dueEvictions(all, {}, 0))).toEqual(['p5', 'p6', 'p7']);
  });

  test('a bare pod with an emptyDir needs both words', () => {
    const pods = podsOf({ name: 'both', volumes: scratch });
    expect(planDrain(pods, { deleteEmptyDirData: true, deleteBarePods: false }).blockers).toHaveLength(1);
    expect(planDrain(pods, { deleteEmptyDirData: false, deleteBarePods: true }).blockers).toHaveLength(1);
  });

  test('an emptyDir that its pod names as safe to lose does not block, and any other still does', () => {
    const annotations = { 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes': 'tmp, cache' };
    const pod = { name: 'app', owner: set, annotations };
    const volumes = (...names: string[]) => names.map((name) => ({ name, emptyDir: {} }));
    expect(named(planDrain(podsOf({ ...pod, volumes: volumes('tmp', 'cache') }), careful).evict)).toEqual(['app']);
    const blocked = planDrain(podsOf({ ...pod, volumes: volumes('tmp', 'data') }), careful);
    expect(blocked.blockers).toMatchObject([{ pod: 'shop/app', why: 'EmptyDir' }]);
  });

  test('a pod with which Holdfast asks the host blocks nothing, and one that only looks like it does', () => {
    const asking = {
      name: 'host-facts-1',
      namespace: 'holdfast-hosts',
      labels: { 'app.kubernetes.io/managed-by': 'holdfast' },
    };
    const worker = { ...asking, name: 'worker', owner: set };
    const plan = planDrain(podsOf(asking, { ...asking, name: 'other', namespace: 'shop' }, worker), careful);
    expect(named(plan.staying)).toEqual(['host-facts-1']);
    expect(plan.blockers).toMatchObject([{ pod: 'shop/other' }]);
    expect(named(plan.evict)).toEqual(['worker']);
  });

  test('a pod that is leaving is neither evicted nor a blocker', () => {
    const plan = planDrain(podsOf({ name: 'bare', terminating: true, volumes: scratch }), careful);
    expect(plan).toMatchObject({ evict: [], blockers: [] });
    expect(named(plan.leaving)).toEqual(['bare']);
  });
});

describe('whatever pods there are', () => {
  const terms = fc.record({
    phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed'),
    terminating: fc.boolean(),
    annotations: fc.constantFrom({}, { 'kubernetes.io/config.mirror': 'x' }),
    kind: fc.constantFrom(null, 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'Node'),
    volumes: fc.constantFrom([], scratch),
  });
  const words = fc.record({ deleteEmptyDirData: fc.boolean(), deleteBarePods: fc.boolean() });

  test('each stands in exactly one list, and the drain is done only when none is left to go', () => {
    fc.assert(
      fc.property(fc.array(terms, { maxLength: 8 }), words, (drawn, spec) => {
        const pods = podsOf(
          ...drawn.map(({ kind, ...rest }, index) => ({
            ...rest,
            name: `p${index}`,
            ...(kind === null ? {} : { owner: { kind } }),
          })),
        );
        const plan = planDrain(pods, spec);
        const listed = [...plan.evict, ...plan.leaving, ...plan.staying, ...plan.blockers].map(({ uid }) => uid);
        expect(listed.toSorted()).toEqual(pods.map(({ uid }) => uid).toSorted());
        expect(isDrained(plan)).toBe(plan.staying.length === pods.length);
      }),
    );
  });
});

describe('when a drain is done', () => {
  test('H-D03 not while an evicted pod is still ending, nor one that was leaving before', () => {
    const isDone = (...terms: readonly PodTerms[]) => isDrained(planDrain(podsOf(...terms), careful));
    expect(isDone({ name: 'web', owner: set })).toBe(false);
    expect(isDone({ name: 'web', owner: set, terminating: true })).toBe(false);
    expect(isDone({ name: 'bare', terminating: true })).toBe(false);
    expect(isDone({ name: 'bare' })).toBe(false);
    expect(isDone({ name: 'web', owner: set, terminating: true, phase: 'Failed' })).toBe(true);
    expect(isDone()).toBe(true);
  });

  test('H-D03 a pod of the same name is another one: it is asked for itself', () => {
    const progress = noteTry({}, { uid: 'first' }, null, 0);
    const plan = planDrain(podsOf({ name: 'db-0', uid: 'second', owner: { kind: 'StatefulSet' } }), careful);
    expect(named(dueEvictions(plan, progress, 1))).toEqual(['db-0']);
    expect(isDrained(plan)).toBe(false);
  });

  test('H-D03 pods that a DaemonSet or the kubelet keeps there, and finished ones, are not waited for', () => {
    expect(isDrained(planDrain(podsOf(...seven.slice(0, 4)), careful))).toBe(true);
    expect(isDrained(planDrain(podsOf(...seven), careful))).toBe(false);
  });

  test('NR-45 a drain that is taken up again asks only the pods that are still there', () => {
    const progress = [{ uid: 'a' }, { uid: 'b' }].reduce<DrainProgress>(
      (noted, pod) => noteTry(noted, pod, null, 0),
      {},
    );
    const plan = planDrain(podsOf({ name: 'b', owner: set, terminating: true }, { name: 'c', owner: set }), careful);
    expect(named(dueEvictions(plan, progress, 1_000))).toEqual(['c']);
  });
});

describe('how often a pod is asked to go', () => {
  test('at most six times in any minute, however long it is refused, and not less than twice', () => {
    const plan = planDrain(podsOf({ name: 'web', owner: set }), careful);
    let progress: DrainProgress = {};
    const tries: number[] = [];
    for (let now = 0; now <= 15 * 60_000; now += 100) {
      for (const pod of dueEvictions(plan, progress, now)) {
        tries.push(now);
        progress = noteTry(progress, pod, 'budget shop/web allows nothing', now);
      }
    }
    for (const from of tries.filter((at) => at <= 14 * 60_000)) {
      const within = tries.filter((at) => at >= from && at <= from + 60_000).length;
      expect(within).toBeLessThanOrEqual(6);
      expect(within).toBeGreaterThanOrEqual(2);
    }
  });

  test('the pauses grow, and no further than half a minute', () => {
    const pauses = [1, 2, 3, 4, 100].map((count) => nextTryAt({ count, at: 0 }));
    expect(pauses).toEqual([11_000, 16_500, 24_750, 30_000, 30_000]);
  });

  test('each pod by itself, under any uid', () => {
    const plan = planDrain(podsOf({ name: 'a', owner: set }, { name: 'constructor', owner: set }), careful);
    expect(named(dueEvictions(plan, noteTry({}, { uid: 'a' }, 'no', 0), 1))).toEqual(['constructor']);
  });

  test('NR-44 what a drain waits for names each pod with what was said of it', () => {
    const plan = planDrain(
      podsOf({ name: 'web', owner: set }, { name: 'new', owner: set }, { name: 'old', owner: set, terminating: true }),
      careful,
    );
    const refused = noteTry(noteTry({}, { uid: 'web' }, 'x', 0), { uid: 'web' }, 'budget shop/web allows nothing', 1);
    expect(describeWaiting(plan, refused)).toBe(
      'pod shop/web was asked to go 2 times: budget shop/web allows nothing; pod shop/new was not asked to go yet; pod shop/old is ending',
    );
  });
});

describe('before the node is cordoned', () => {
  const web = { name: 'web-1', owner: set, labels: { app: 'web' } };
  const never = (terms: PodTerms, budgets: readonly BudgetTerms[], expected: readonly string[] = []) =>
    neverEvicted(planDrain(podsOf(terms), careful), budgetsOf(...budgets), expected);

  test('H-D01 a budget that can never let a pod go is named, with the pod', () => {
    const [blocker] = never(web, [{ name: 'web', app: 'web', desired: 1, pods: 1 }]);
    expect(blocker).toMatchObject({ pod: 'shop/web-1', why: 'BudgetNeverAllows' });
    expect(blocker?.message).toContain('budget shop/web never lets pod shop/web-1 go: it wants 1 of 1 pods healthy');
  });

  test('H-D01 a budget that only allows nothing now, has no pods, or is of other pods is none of them', () => {
    expect(never(web, [{ name: 'web', app: 'web', desired: 1, pods: 2 }])).toEqual([]);
    expect(never(web, [{ name: 'web', app: 'web', desired: 0, pods: 0 }])).toEqual([]);
    expect(never(web, [{ name: 'other', app: 'other', desired: 1, pods: 1 }])).toEqual([]);
    expect(never({ ...web, namespace: 'other' }, [{ name: 'web', app: 'web', desired: 1, pods: 1 }])).toEqual([]);
  });

  test('NR-91 a budget that is expected to allow nothing is waited for: it lets go when the primary has moved', () => {
    expect(never(web, [{ name: 'web', app: 'web', desired: 1, pods: 1 }], ['shop/web'])).toEqual([]);
  });

  test('a pod with two budgets can never be evicted, whatever they allow', () => {
    const two = [
      { name: 'web', app: 'web', desired: 1, pods: 3 },
      { name: 'all', app: 'web', desired: 1, pods: 3 },
    ];
    expect(never(web, two, ['shop/web'])).toMatchObject([{ pod: 'shop/web-1', why: 'TwoBudgets' }]);
  });

  test('a pod that has not started is asked no budget, and one that is not ready not by every budget', () => {
    const strict = { name: 'web', app: 'web', desired: 1, pods: 1 };
    const sparing = { ...strict, policy: 'AlwaysAllow' };
    expect(never({ ...web, phase: 'Pending', ready: false }, [strict])).toEqual([]);
    expect(never({ ...web, ready: false }, [sparing])).toEqual([]);
    expect(never(web, [sparing])).toHaveLength(1);
    expect(never({ ...web, ready: false }, [strict])).toHaveLength(1);
  });

  describe('as a gate', () => {
    const spec = nodeRebootSpec.parse({ nodes: ['node-1'] });
    const gate = (terms: readonly PodTerms[], budgets: readonly BudgetTerms[]) =>
      drainGate({ pods: read(podsOf(...terms)), budgets: read(budgetsOf(...budgets)) }, spec).verdict;

    test('H-D01 H-D02 all that blocks is said at once: pods and budgets', () => {
      const verdict = gate([...seven, web], [{ name: 'web', app: 'web', desired: 1, pods: 1 }]);
      expect(verdict).toMatchObject({ kind: 'fail', reason: 'EmptyDir' });
      for (const name of ['shop/p5', 'shop/p6', 'shop/web-1']) expect(verdict.message).toContain(name);
    });

    test('a node whose pods can all be moved may go', () => {
      expect(gate([web], [{ name: 'web', app: 'web', desired: 1, pods: 2 }])).toMatchObject({
        kind: 'pass',
        message: '1 pods are to be moved',
      });
    });

    test('pods or budgets that could not be read are unmeasured', () => {
      const denied = unmeasured('pods', 'API server', 'denied', 'forbidden');
      expect(drainGate({ pods: denied, budgets: read([]) }, spec).verdict).toBe(denied);
      expect(drainGate({ pods: read([]), budgets: denied }, spec).verdict).toBe(denied);
    });
  });
});
