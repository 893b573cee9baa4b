import { describe, expect, test } from 'vitest';
import { allOf, fail, pass, unmeasured } from '../../../src/domain/core/verdict.ts';

const bad = fail('Unhealthy', 'answered 500');
const unknown = unmeasured('health', 'pod', 'timeout', 'did not answer');

describe('several verdicts as one', () => {
  test('are a failure where one of them is, whatever could not be measured', () => {
    expect(allOf([pass('a'), unknown, bad], 'health')).toBe(bad);
  });

  test('are unmeasured where one of them is and none failed', () => {
    expect(allOf([pass('a'), unknown, pass('b')], 'health')).toBe(unknown);
  });

  test('pass with what each has said', () => {
    expect(allOf([pass('a'), pass(), pass('b')], 'health')).toEqual({ kind: 'pass', message: 'a; b' });
  });

  test('are unmeasured where there are none: an empty list proves nothing', () => {
    expect(allOf([], 'health of web-1')).toEqual({
      kind: 'unmeasured',
      what: 'health of web-1',
      from: 'Holdfast',
      why: 'empty',
      message: 'nothing was read for health of web-1',
    });
  });
});
