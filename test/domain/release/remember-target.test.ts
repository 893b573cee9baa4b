import { expect, test } from 'vitest';
import { unknownTarget } from '../../../src/domain/release/initial-state.ts';
import { rememberTarget } from '../../../src/domain/release/remember-target.ts';
import { digest, image, managed, marks, REPOSITORY, workload } from './world.ts';

const OURS = image('v6-latest', 'a0');
const MOVED = `registry.example.com/other/app:v1@${digest('b1')}`;

const remembered = (found: Parameters<typeof rememberTarget>[1], repository = REPOSITORY) =>
  rememberTarget(undefined, found, 'hive', repository).applied;

test('marks of ours are taken in at first sight', () => {
  expect(remembered(managed(OURS))).toBe(OURS);
});

test('also where the release follows another repository by now: the container still runs what was applied', () => {
  expect(remembered(managed(OURS), 'registry.example.com/other/app')).toBe(OURS);
});

test('also where somebody else put an image of another repository there: the line is still the same', () => {
  expect(remembered(managed(OURS, { image: MOVED }))).toBe(OURS);
  expect(remembered(managed(OURS, { image: null }))).toBe(OURS);
});

test('not where both the line and the container’s image are of another repository: they are another container’s', () => {
  expect(remembered(managed(OURS, { image: MOVED }), 'registry.example.com/other/app')).toBeNull();
  expect(remembered(managed(OURS, { image: null }), 'registry.example.com/other/app')).toBeNull();
});

test('marks without an image, or of another release, are none', () => {
  const memory = { ...unknownTarget, applied: OURS };
  const unwritten = workload(OURS, { marks: marks({ managedBy: 'release/hive' }) });
  expect(rememberTarget(memory, unwritten, 'hive', REPOSITORY)).toEqual(memory);
  expect(rememberTarget(undefined, unwritten, 'hive', REPOSITORY)).toEqual(unknownTarget);
  expect(rememberTarget(undefined, managed(OURS), 'other', REPOSITORY)).toEqual(unknownTarget);
  expect(rememberTarget(memory, managed(MOVED), 'other', REPOSITORY)).toBe(memory);
});
