import { describe, expect, test } from 'vitest';
import { read } from '../../../src/domain/core/verdict.ts';
import { observationFingerprint } from '../../../src/domain/release/fingerprint.ts';
import type { Marks, Observation, ResolvedLine, WorkloadSnapshot } from '../../../src/domain/release/observation.ts';
import {
  digest,
  image,
  managed,
  NOW,
  observe,
  REPOSITORY,
  resolved,
  seen,
  spec,
  unread,
  workload,
  writer,
} from './world.ts';

const KEY = `${REPOSITORY}:v6-latest`;
const IMAGE = image('v6-latest', 'a0');
const BLOCK = { image: digest('d1'), at: '2026-03-02T10:00:00Z', reason: 'x' };

const FREEZE = { from: '2026-01-01T00:00:00Z', until: '2026-02-01T00:00:00Z', reason: 'audit' };

const base: Observation = {
  ...observe(spec({ incumbents: [{ namespace: 'ops', name: 'nightly' }] }), resolved('b1'), {
    'web-1': managed(IMAGE),
    'web-2': managed(IMAGE),
  }),
  images: { [IMAGE]: read({ version: '6.0.0', label: 'v6-a0', revision: 'a0' }) },
};

function withLine(overrides: Partial<ResolvedLine>): Observation {
  return { ...base, lines: { [KEY]: read(resolved('b1', overrides)) } };
}

function withWorkload(overrides: Partial<WorkloadSnapshot>): Observation {
  return { ...base, targets: { ...base.targets, 'web-1': seen(managed(IMAGE, overrides)) } };
}

function withMarks(overrides: Partial<Marks>): Observation {
  return withWorkload({ marks: { ...managed(IMAGE).marks, ...overrides } });
}

const known = observationFingerprint(base);

describe('the fingerprint of an observation', () => {
  test('is the sha256 of what was read', () => {
    expect(known).toMatch(/^[a-f0-9]{64}$/);
    expect(observationFingerprint(JSON.parse(JSON.stringify(base)) as Observation)).toBe(known);
  });

  test.each<[string, Observation]>([
    ['when it was read', { ...base, at: NOW + 1 }],
    [
      'the order in which it was read',
      { ...base, targets: Object.fromEntries(Object.entries(base.targets).reverse()) },
    ],
    ['the tags that lost', withLine({ rejected: [{ tag: 'v5', reason: 'x' }] })],
    ['the revision, which is in the label', withLine({ revision: 'other' })],
    ['the digest that pods report', withWorkload({ runningDigest: digest('99') })],
    ['the uid', withWorkload({ uid: 'other' })],
    ['how many replicas there are', withWorkload({ replicas: 7 })],
    ['the names of containers that are not at fault', withWorkload({ containers: ['app', 'log'] })],
    ['when the image was written', withWorkload({ imageWriter: { ...writer('holdfast'), time: 'later' } })],
    ['placements', withMarks({ placements: [] })],
    ['when it was upgraded', withMarks({ upgradedAt: 'x' })],
    ['the version before', withMarks({ previousVersion: 'x' })],
  ])('does not depend on %s', (_what, other) => {
    expect(observationFingerprint(other)).toBe(known);
  });

  test.each<[string, Observation]>([
    ['the digest of a line', withLine({ digest: digest('b2') })],
    ['the repository of a line', withLine({ repository: 'other' })],
    ['the tag of a line', withLine({ tag: 'other' })],
    ['the label of a line', withLine({ label: 'other' })],
    ['the version of a line', withLine({ version: null })],
    ['the platforms of a line', withLine({ platforms: [] })],
    ['entries without platform', withLine({ unplatformed: 1 })],
    ['digests of platforms', withLine({ platformDigests: { 'linux/amd64': digest('c1') } })],
    ['a freeze of all releases', { ...base, freezes: [FREEZE] }],
    ['a line that cannot be read', { ...base, lines: { [KEY]: unread() } }],
    ['a line of another name', { ...base, lines: { other: read(resolved('b1')) } }],
    [
      'the version of an image',
      { ...base, images: { [IMAGE]: read({ version: '6.0.1', label: 'v6-a0', revision: '' }) } },
    ],
    ['the label of an image', { ...base, images: { [IMAGE]: read({ version: '6.0.0', label: 'x', revision: '' }) } }],
    ['the image', withWorkload({ image: image('v6-latest', 'a1') })],
    ['the kind', withWorkload({ kind: 'StatefulSet' })],
    ['zero replicas', withWorkload({ replicas: 0 })],
    ['a paused workload', withWorkload({ paused: true })],
    ['the strategy', withWorkload({ strategy: 'Recreate' })],
    ['the writer', withWorkload({ imageWriter: writer('kubectl') })],
    ['no writer', withWorkload({ imageWriter: null })],
    ['who manages it', withMarks({ managedBy: null })],
    ['what was applied', withMarks({ applied: 'x' })],
    ['the version', withMarks({ version: 'x' })],
    ['the image before', withMarks({ previousImage: 'x' })],
    ['what passed', withMarks({ passed: 'x' })],
    ['what was rolled back', withMarks({ rolledBackFrom: 'x' })],
    ['when it was rolled back', withMarks({ rolledBackAt: 'x' })],
    ['a block', withMarks({ blocked: [BLOCK] })],
    ['the architectures', { ...base, targets: { ...base.targets, 'web-1': seen(managed(IMAGE), ['arm64']) } }],
    [
      'architectures that cannot be read',
      { ...base, targets: { ...base.targets, 'web-1': { ...seen(managed(IMAGE)), architectures: unread() } } },
    ],
    ['an incumbent', { ...base, incumbents: [{ name: 'CronJob ops/nightly', state: read('active') }] }],
    ['the name of an incumbent', { ...base, incumbents: [{ name: 'x', state: read('absent') }] }],
    ['an incumbent that cannot be read', { ...base, incumbents: [{ name: 'CronJob ops/nightly', state: unread() }] }],
  ])('depends on %s', (_what, other) => {
    expect(observationFingerprint(other)).not.toBe(known);
  });

  test('tells the digests of one platform apart', () => {
    const at = (id: string) => observationFingerprint(withLine({ platformDigests: { 'linux/amd64': digest(id) } }));
    expect(at('c1')).not.toBe(at('c2'));
  });

  test('tells freezes apart', () => {
    const others = [{}, { from: 'x' }, { until: 'x' }, { reason: 'y' }];
    const prints = others.map((other) => observationFingerprint({ ...base, freezes: [{ ...FREEZE, ...other }] }));
    expect(new Set(prints).size).toBe(prints.length);
  });

  test('tells blocks apart', () => {
    const prints = [
      [BLOCK],
      [{ ...BLOCK, image: 'v1' }],
      [{ ...BLOCK, at: 'x' }],
      [{ ...BLOCK, reason: 'y' }],
      [{ ...BLOCK, cooldownUntil: '2026-03-03T10:00:00Z' }],
      [{ ...BLOCK, cooldownOnly: true as const }],
    ].map((blocked) => observationFingerprint(withMarks({ blocked })));
    expect(new Set(prints).size).toBe(prints.length);
  });

  test('names the containers where the one that is wanted is missing', () => {
    const missing = (containers: string[]) =>
      observationFingerprint({ ...base, targets: { 'web-1': seen(workload(null, { containers })) } });
    expect(missing(['a'])).not.toBe(missing(['b']));
  });

  test('stays the same while one thing is down and says so differently', () => {
    const down = (why: Parameters<typeof unread>[0], what = 'x') =>
      observationFingerprint({ ...base, lines: { [KEY]: unread(why, what) } });
    expect(down('timeout', 'x')).toBe(down('timeout', 'y'));
    for (const why of ['unreachable', 'error', 'throttled', 'truncated', 'not-ready'] as const) {
      expect(down(why)).toBe(down('timeout'));
    }
    const told = (['denied', 'missing', 'empty', 'unparsed', 'timeout'] as const).map((why) => down(why));
    expect(new Set(told).size).toBe(told.length);
  });
});
