import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../src/domain/core/verdict.ts';
import {
  architectureGate,
  architecturesFor,
  mayRunOn,
  whatIsThere,
  type NodeFacts,
  type NodeRequirement,
  type PodScheduling,
  type Taint,
  type Toleration,
} from '../../../src/domain/release/architectures.ts';

function node(overrides: Partial<NodeFacts> = {}): NodeFacts {
  return { name: 'n1', labels: {}, taints: [], architecture: 'amd64', operatingSystem: 'linux', ...overrides };
}

function runs(pod: PodScheduling, overrides: Partial<NodeFacts>): boolean {
  return mayRunOn(pod, node(overrides));
}

function requiring(requirement: NodeRequirement): PodScheduling {
  return { nodeSelectorTerms: [{ matchExpressions: [requirement] }] };
}

describe('the architectures of the nodes that pods may run on', () => {
  test('are each named once, in order', () => {
    const nodes = [node({ architecture: 'arm64' }), node(), node({ name: 'n3' })];
    expect(architecturesFor({}, nodes)).toEqual(['amd64', 'arm64']);
    expect(architecturesFor({}, [])).toEqual([]);
    expect(architecturesFor({ nodeSelector: { pool: 'x' } }, nodes)).toEqual([]);
  });

  test('name the system where it is not Linux', () => {
    expect(architecturesFor({}, [node({ operatingSystem: 'windows' }), node()])).toEqual(['amd64', 'windows/amd64']);
  });

  test('follow the node selector', () => {
    const labels = { pool: 'a', zone: 'x' };
    expect(runs({ nodeSelector: {} }, { labels })).toBe(true);
    expect(runs({ nodeSelector: { pool: 'a' } }, { labels })).toBe(true);
    expect(runs({ nodeSelector: { pool: 'a', zone: 'y' } }, { labels })).toBe(false);
    expect(runs({ nodeSelector: { other: 'a' } }, { labels })).toBe(false);
  });

  test('follow a node that is named', () => {
    expect(runs({ nodeName: 'n1', nodeSelector: { no: 'match' } }, {})).toBe(true);
    expect(runs({ nodeName: 'n2' }, {})).toBe(false);
    expect(runs({ nodeName: '' }, {})).toBe(true);
  });

  test.each<[string, NodeRequirement, Record<string, string>, boolean]>([
    ['In', { key: 'k', operator: 'In', values: ['a', 'b'] }, { k: 'b' }, true],
    ['In', { key: 'k', operator: 'In', values: ['a'] }, { k: 'b' }, false],
    ['In, absent', { key: 'k', operator: 'In', values: ['a'] }, {}, false],
    ['In, without values', { key: 'k', operator: 'In' }, { k: 'a' }, false],
    ['NotIn', { key: 'k', operator: 'NotIn', values: ['a'] }, { k: 'a' }, false],
    ['NotIn', { key: 'k', operator: 'NotIn', values: ['a'] }, { k: 'b' }, true],
    ['NotIn, absent', { key: 'k', operator: 'NotIn', values: ['a'] }, {}, true],
    ['Exists', { key: 'k', operator: 'Exists' }, { k: '' }, true],
    ['Exists', { key: 'k', operator: 'Exists' }, {}, false],
    ['DoesNotExist', { key: 'k', operator: 'DoesNotExist' }, {}, true],
    ['DoesNotExist', { key: 'k', operator: 'DoesNotExist' }, { k: 'a' }, false],
    ['Gt', { key: 'k', operator: 'Gt', values: ['9'] }, { k: '10' }, true],
    ['Gt', { key: 'k', operator: 'Gt', values: ['10'] }, { k: '10' }, false],
    ['Gt, no number', { key: 'k', operator: 'Gt', values: ['1'] }, { k: 'ten' }, false],
    ['Gt, no number to compare', { key: 'k', operator: 'Gt', values: ['x'] }, { k: '10' }, false],
    ['Gt, absent', { key: 'k', operator: 'Gt', values: ['1'] }, {}, false],
    ['Gt, without values', { key: 'k', operator: 'Gt' }, { k: '1' }, false],
    ['Gt, half a number', { key: 'k', operator: 'Gt', values: ['1'] }, { k: '10x' }, false],
    ['Gt, something before a number', { key: 'k', operator: 'Gt', values: ['1'] }, { k: 'x10' }, false],
    ['Gt, negative', { key: 'k', operator: 'Gt', values: ['-2'] }, { k: '-1' }, true],
    ['Lt', { key: 'k', operator: 'Lt', values: ['10'] }, { k: '9' }, true],
    ['Lt', { key: 'k', operator: 'Lt', values: ['10'] }, { k: '10' }, false],
    ['an operator of tomorrow', { key: 'k', operator: 'Near' }, {}, true],
  ])('follow required affinity: %s', (_name, requirement, labels, expected) => {
    expect(runs(requiring(requirement), { labels })).toBe(expected);
  });

  test('take any of several terms, and all requirements of one', () => {
    const a: NodeRequirement = { key: 'a', operator: 'Exists' };
    const b: NodeRequirement = { key: 'b', operator: 'Exists' };
    const both = { nodeSelectorTerms: [{ matchExpressions: [a, b] }] };
    const either = { nodeSelectorTerms: [{ matchExpressions: [a] }, { matchExpressions: [b] }] };
    expect(runs(both, { labels: { a: '' } })).toBe(false);
    expect(runs(both, { labels: { a: '', b: '' } })).toBe(true);
    expect(runs(either, { labels: { b: '' } })).toBe(true);
    expect(runs(either, { labels: {} })).toBe(false);
  });

  test('follow the name of a node in affinity', () => {
    const named = (key: string) => ({
      nodeSelectorTerms: [{ matchFields: [{ key, operator: 'In', values: ['n1'] }] }],
    });
    expect(runs(named('metadata.name'), {})).toBe(true);
    expect(runs(named('metadata.name'), { name: 'n2' })).toBe(false);
    expect(runs(named('metadata.other'), {})).toBe(false);
    const fieldAndLabel = {
      nodeSelectorTerms: [
        {
          matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }],
          matchExpressions: [{ key: 'a', operator: 'Exists' }],
        },
      ],
    };
    expect(runs(fieldAndLabel, {})).toBe(false);
    expect(runs(fieldAndLabel, { labels: { a: '' } })).toBe(true);
  });

  test('take a term without requirements for none, as the API does', () => {
    expect(runs({ nodeSelectorTerms: [{}] }, {})).toBe(false);
    expect(runs({ nodeSelectorTerms: [] }, {})).toBe(false);
  });

  const gpu: Taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' };
  test.each<[string, Toleration[], Taint, boolean]>([
    ['nothing', [], gpu, false],
    ['the same', [{ key: 'gpu', operator: 'Equal', value: 'yes', effect: 'NoSchedule' }], gpu, true],
    ['the same, operator left out', [{ key: 'gpu', value: 'yes' }], gpu, true],
    ['another value', [{ key: 'gpu', value: 'no' }], gpu, false],
    ['another key', [{ key: 'cpu', value: 'yes' }], gpu, false],
    ['another effect', [{ key: 'gpu', value: 'yes', effect: 'NoExecute' }], gpu, false],
    ['any value', [{ key: 'gpu', operator: 'Exists' }], gpu, true],
    ['any value of another key', [{ key: 'cpu', operator: 'Exists' }], gpu, false],
    ['everything', [{ operator: 'Exists' }], gpu, true],
    ['everything of one effect', [{ operator: 'Exists', effect: 'NoExecute' }], gpu, false],
    ['an operator of tomorrow', [{ key: 'x', operator: 'Near' }], gpu, true],
    ['an empty value', [{ key: 'gpu' }], { key: 'gpu', effect: 'NoExecute' }, true],
    ['an empty value for a taint that has one', [{ key: 'gpu' }], gpu, false],
    ['a second one', [{ key: 'x' }, { key: 'gpu', value: 'yes' }], gpu, true],
    ['nothing, of a mere preference', [], { key: 'gpu', effect: 'PreferNoSchedule' }, true],
  ])('follow taints; tolerated is %s', (_name, tolerations, taint, expected) => {
    expect(runs({ tolerations }, { taints: [taint] })).toBe(expected);
  });

  test('need every taint tolerated', () => {
    const other: Taint = { key: 'other', effect: 'NoExecute' };
    expect(runs({ tolerations: [{ key: 'gpu', operator: 'Exists' }] }, { taints: [gpu, other] })).toBe(false);
    expect(runs({}, { taints: [other] })).toBe(false);
    expect(runs({}, { taints: [] })).toBe(true);
  });

  test.each([
    'node.kubernetes.io/not-ready',
    'node.kubernetes.io/unreachable',
    'node.kubernetes.io/unschedulable',
    'node.kubernetes.io/memory-pressure',
    'node.kubernetes.io/disk-pressure',
    'node.kubernetes.io/pid-pressure',
    'node.kubernetes.io/network-unavailable',
    'node.kubernetes.io/out-of-service',
    'node.cloudprovider.kubernetes.io/uninitialized',
    'node.cloudprovider.kubernetes.io/shutdown',
  ])('count a node that %s keeps away only for now', (key) => {
    expect(runs({}, { taints: [{ key, effect: 'NoSchedule' }] })).toBe(true);
  });
});

describe('the architecture gate', () => {
  const image = { label: 'v6-a', platforms: ['linux/amd64', 'linux/arm64/v8'], unplatformed: 0 };

  test('passes where every architecture is in the image', () => {
    expect(architectureGate(image, read(['amd64', 'arm64']))).toEqual({
      kind: 'pass',
      message: 'v6-a has amd64, arm64',
    });
  });

  test('an index with an attestation is for its one architecture alone', () => {
    // Attestations are left out where the index is read: what comes here is exactly {linux/amd64}.
    expect(architectureGate({ ...image, platforms: ['linux/amd64'] }, read(['amd64', 'arm64']))).toEqual({
      kind: 'fail',
      reason: 'Architecture',
      message: 'v6-a has no linux/arm64, which nodes of the target need; it has linux/amd64',
    });
  });

  test('an entry without platform matches nothing, and is named', () => {
    const odd = { ...image, platforms: ['linux/arm64'], unplatformed: 1 };
    expect(architectureGate(odd, read(['amd64']))).toMatchObject({
      kind: 'fail',
      message:
        'v6-a has no linux/amd64, which nodes of the target need; it has linux/arm64, plus 1 entry without platform',
    });
    expect(whatIsThere({ platforms: [], unplatformed: 2 })).toBe('no platform, plus 2 entries without platform');
  });

  test('an image whose architecture is not known passes nowhere', () => {
    expect(architectureGate({ ...image, platforms: [] }, read(['amd64']))).toMatchObject({
      kind: 'fail',
      message: 'v6-a has no linux/amd64, which nodes of the target need; it has no platform',
    });
  });

  test('does not take one architecture for another that begins alike', () => {
    expect(architectureGate({ ...image, platforms: ['linux/arm64'] }, read(['arm'])).kind).toBe('fail');
    expect(architectureGate({ ...image, platforms: ['linux/arm/v7'] }, read(['arm'])).kind).toBe('pass');
    expect(architectureGate({ ...image, platforms: ['windows/amd64'] }, read(['amd64'])).kind).toBe('fail');
    expect(architectureGate({ ...image, platforms: ['linux/amd64'] }, read(['windows/amd64']))).toMatchObject({
      message: 'v6-a has no windows/amd64, which nodes of the target need; it has linux/amd64',
    });
    expect(architectureGate({ ...image, platforms: ['windows/amd64'] }, read(['windows/amd64'])).kind).toBe('pass');
    expect(architectureGate({ ...image, platforms: [] }, read(['arm64', 'amd64']))).toMatchObject({
      message: expect.stringContaining('v6-a has no linux/arm64, linux/amd64, which') as string,
    });
  });

  test('is not passed where the nodes are not known, or none may run the pods', () => {
    const denied = unmeasured('nodes', 'API server', 'denied', 'no right to list nodes');
    expect(architectureGate(image, denied)).toBe(denied);
    expect(architectureGate(image, read([]))).toEqual({
      kind: 'unmeasured',
      what: 'architectures of the nodes that the pods may run on',
      from: 'API server',
      why: 'empty',
      message: 'no node matches the node selector, affinity and tolerations of the pods',
    });
  });
});
