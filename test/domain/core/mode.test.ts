import { describe, expect, test } from 'vitest';
import { mayWrite, modes, modeSchema, narrower, plans } from '../../../src/domain/core/mode.ts';

describe('modes', () => {
  test('only Enforce writes', () => {
    expect(modes.filter(mayWrite)).toEqual(['Enforce']);
  });

  test('Shadow and Enforce plan, Observe does not', () => {
    expect(modes.filter(plans)).toEqual(['Shadow', 'Enforce']);
  });

  test('of two modes the one that allows less wins, whichever comes first', () => {
    expect(narrower('Enforce', 'Shadow')).toBe('Shadow');
    expect(narrower('Shadow', 'Enforce')).toBe('Shadow');
    expect(narrower('Observe', 'Shadow')).toBe('Observe');
    expect(narrower('Enforce', 'Enforce')).toBe('Enforce');
  });

  test('a mode is spelt exactly so', () => {
    expect(modeSchema.safeParse('Shadow').success).toBe(true);
    expect(modeSchema.safeParse('shadow').success).toBe(false);
  });
});
