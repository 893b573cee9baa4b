import { describe, expect, test } from 'vitest';
import {
  annotationNames,
  applyMarksPatch,
  managedByOf,
  marksPatchToAnnotations,
  noMarks,
  parseMarks,
} from '../../../src/domain/release/marks.ts';
import type { BlockMark, Marks } from '../../../src/domain/release/observation.ts';
import { digest, marks } from './world.ts';

const OBJECT = 'Deployment shop/web';
const PLACEMENT = { name: 'a1', backend: 'b', model: 'm', effort: 'high', paused: false };
const BLOCK: BlockMark = { image: digest('d1'), at: '2026-03-02T10:00:00.000Z', reason: 'CrashLoopBackOff' };

function parsed(annotations: Record<string, string> | undefined): Marks {
  const reading = parseMarks(annotations, OBJECT);
  if (reading.kind !== 'read') throw new Error(reading.message);
  return reading.value;
}

function written(patch: Record<string, string | null>): Record<string, string> {
  return Object.fromEntries(Object.entries(patch).filter((e): e is [string, string] => e[1] !== null));
}

describe('reading the marks of an object', () => {
  test('finds none where there are no annotations', () => {
    expect(parsed(undefined)).toEqual(noMarks);
    expect(parsed({ 'deployment.kubernetes.io/revision': '3' })).toEqual(noMarks);
  });

  test('reads every annotation by its own name', () => {
    expect(
      parsed({
        'holdfast.dev/managed-by': 'release/hive',
        'holdfast.dev/applied': 'applied',
        'holdfast.dev/version': 'version',
        'holdfast.dev/previous-image': 'previous image',
        'holdfast.dev/previous-version': 'previous version',
        'holdfast.dev/upgraded-at': 'upgraded at',
        'holdfast.dev/passed': 'passed',
        'holdfast.dev/rolled-back-from': 'from',
        'holdfast.dev/rolled-back-at': 'at',
        'holdfast.dev/blocked': JSON.stringify([
          { ...BLOCK, cooldownUntil: '2026-03-03T06:00:00.000Z', cooldownOnly: true },
        ]),
        'holdfast.dev/placements': JSON.stringify([PLACEMENT]),
      }),
    ).toEqual({
      managedBy: 'release/hive',
      applied: 'applied',
      version: 'version',
      previousImage: 'previous image',
      previousVersion: 'previous version',
      upgradedAt: 'upgraded at',
      passed: 'passed',
      rolledBackFrom: 'from',
      rolledBackAt: 'at',
      blocked: [{ ...BLOCK, cooldownUntil: '2026-03-03T06:00:00.000Z', cooldownOnly: true }],
      placements: [PLACEMENT],
    });
  });

  test('takes an empty annotation for none', () => {
    expect(
      parsed({ [annotationNames.applied]: '', [annotationNames.blocked]: '', [annotationNames.placements]: '' }),
    ).toEqual(noMarks);
  });

  test.each([
    ['that is not JSON', '[{', 'it is not JSON'],
    ['that is no list', '{}', ': Invalid input: expected array, received object'],
    ['without an image', '[{"at":"2026-03-02T10:00:00Z","reason":""}]', '0.image: '],
    ['with an empty image', '[{"image":"","at":"2026-03-02T10:00:00Z","reason":""}]', '0.image: '],
    ['without a time', '[{"image":"x","reason":""}]', '0.at: '],
    ['whose time is none', '[{"image":"x","at":"soon","reason":""}]', '0.at: expected an instant'],
    [
      'whose cooldown is none',
      '[{"image":"x","at":"2026-03-02","reason":"","cooldownUntil":"x"}]',
      '0.cooldownUntil: ',
    ],
    ['with a false flag', '[{"image":"x","at":"2026-03-02","reason":"","cooldownOnly":false}]', '0.cooldownOnly: '],
  ])('never takes a list of blocks %s for an empty one', (_what, text, why) => {
    const reading = parseMarks({ [annotationNames.blocked]: text }, OBJECT);
    expect(reading).toMatchObject({
      kind: 'unmeasured',
      what: 'annotation holdfast.dev/blocked of Deployment shop/web',
      from: 'API server',
      why: 'unparsed',
    });
    expect(reading).toHaveProperty('message', expect.stringContaining(`cannot be read: ${why}`));
    expect(reading).toHaveProperty('message', expect.stringContaining('correct it, or remove it'));
  });

  test('reports placements that cannot be understood', () => {
    expect(parseMarks({ [annotationNames.placements]: '[{"name":"a"}]' }, OBJECT)).toMatchObject({
      kind: 'unmeasured',
      why: 'unparsed',
      what: 'annotation holdfast.dev/placements of Deployment shop/web',
    });
    expect(
      parseMarks({ [annotationNames.placements]: JSON.stringify([{ ...PLACEMENT, name: '' }]) }, OBJECT).kind,
    ).toBe('unmeasured');
  });
});

describe('writing marks', () => {
  test('names the release that manages an object', () => {
    expect(managedByOf('hive')).toBe('release/hive');
  });

  test('sets what is given, removes what is null and leaves the rest', () => {
    expect(
      marksPatchToAnnotations(noMarks, { applied: 'image', rolledBackFrom: null, placements: [PLACEMENT] }),
    ).toEqual({
      'holdfast.dev/applied': 'image',
      'holdfast.dev/rolled-back-from': null,
      'holdfast.dev/placements': JSON.stringify([PLACEMENT]),
    });
    expect(marksPatchToAnnotations(noMarks, { placements: null })).toEqual({ 'holdfast.dev/placements': null });
    expect(marksPatchToAnnotations(noMarks, {})).toEqual({});
  });

  test('writes no field of a placement that it does not know', () => {
    const extended = { ...PLACEMENT, secret: 'x' };
    expect(marksPatchToAnnotations(noMarks, { placements: [extended] })).toEqual({
      'holdfast.dev/placements': JSON.stringify([PLACEMENT]),
    });
  });

  test('adds a block to those that are there', () => {
    const current = marks({ blocked: [{ ...BLOCK, image: 'v6.0.0' }] });
    const annotations = marksPatchToAnnotations(current, { block: [BLOCK] });
    expect(Object.keys(annotations)).toEqual(['holdfast.dev/blocked']);
    expect(parsed(written(annotations)).blocked).toEqual([{ ...BLOCK, image: 'v6.0.0' }, BLOCK]);
  });

  test('keeps the later end of a cooldown when an image is blocked again', () => {
    const early = '2026-03-02T20:00:00.000Z';
    const late = '2026-03-03T20:00:00.000Z';
    const again = { ...BLOCK, reason: 'by a person' };
    const blocked = (before: string | undefined, after: string | undefined): unknown =>
      applyMarksPatch(marks({ blocked: [before === undefined ? BLOCK : { ...BLOCK, cooldownUntil: before }] }), {
        block: [after === undefined ? again : { ...again, cooldownUntil: after }],
      }).blocked;
    expect(blocked(late, undefined)).toEqual([{ ...again, cooldownUntil: late }]);
    expect(blocked(undefined, early)).toEqual([{ ...again, cooldownUntil: early }]);
    expect(blocked(early, late)).toEqual([{ ...again, cooldownUntil: late }]);
    expect(blocked(late, early)).toEqual([{ ...again, cooldownUntil: late }]);
    expect(blocked(undefined, undefined)).toEqual([again]);
  });

  test('removes the annotation when the last block is lifted', () => {
    const current = marks({ blocked: [BLOCK] });
    expect(marksPatchToAnnotations(current, { unblock: [BLOCK.image] })).toEqual({ 'holdfast.dev/blocked': null });
    expect(applyMarksPatch(current, { unblock: [BLOCK.image] }).blocked).toEqual([]);
    expect(applyMarksPatch(current, { unblock: ['v1'] }).blocked).toEqual([BLOCK]);
  });

  test('keeps reasons short enough that annotations fit the object', () => {
    const long = { ...BLOCK, reason: 'x'.repeat(201) };
    const [kept] = applyMarksPatch(noMarks, { block: [long] }).blocked;
    expect(kept?.reason).toBe(`${'x'.repeat(199)}…`);
    const fits = { ...BLOCK, reason: 'x'.repeat(200) };
    expect(applyMarksPatch(noMarks, { block: [fits] }).blocked).toEqual([fits]);
  });

  test('reading back gives what the patch says', () => {
    const current = marks({ applied: 'old', blocked: [{ ...BLOCK, image: 'v1' }], rolledBackFrom: 'x' });
    const patch = {
      managedBy: 'release/hive',
      applied: 'new',
      rolledBackFrom: null,
      passed: '',
      placements: [PLACEMENT],
      block: [{ ...BLOCK, cooldownUntil: '2026-03-03T20:00:00.000Z', cooldownOnly: true as const }],
      unblock: ['v1'],
    };
    const annotations = written(marksPatchToAnnotations(current, patch));
    expect(parsed(annotations)).toEqual(applyMarksPatch(current, patch));
    expect(applyMarksPatch(current, patch)).toMatchObject({ applied: 'new', rolledBackFrom: null, passed: null });
    expect(applyMarksPatch(current, { version: 'v' })).toEqual({ ...current, version: 'v' });
  });
});
