import { describe, expect, test } from 'vitest';
import { blockOf, blockOfImage } from '../../../src/domain/release/block-list.ts';
import { digest, NOW, spec } from './world.ts';

const entry = { by: 'ana', reason: '', at: NOW, cooldownUntil: 0, cooldownOnly: false };

describe('the entry that holds an image', () => {
  const state = {
    spec: spec({ blocklist: ['v9'] }),
    blocked: [
      { ...entry, image: digest('d1') },
      { ...entry, image: 'v1' },
      { ...entry, image: 'v2', cooldownOnly: true, cooldownUntil: NOW },
      { ...entry, image: 'v3', cooldownOnly: true, cooldownUntil: NOW + 1 },
    ],
  };

  test('is found by digest or label', () => {
    expect(blockOf(state, { digest: digest('d1'), label: 'x' }, NOW)?.image).toBe(digest('d1'));
    expect(blockOf(state, { digest: digest('d2'), label: 'v1' }, NOW)?.image).toBe('v1');
    expect(blockOf(state, { digest: digest('d2'), label: 'v9' }, NOW)).toMatchObject({ by: 'spec.blocklist' });
    expect(blockOf(state, { digest: digest('d2'), label: 'x' }, NOW)).toBeNull();
    expect(blockOf(state, { digest: null, label: null }, NOW)).toBeNull();
  });

  test('is found by the version, however it is written, and by no part of one', () => {
    const by = (blocked: string, version: string | null) =>
      blockOf({ spec: spec(), blocked: [{ ...entry, image: blocked }] }, { digest: null, label: 'x', version }, NOW);
    expect(by('1.4.0', '1.4.0')).not.toBeNull();
    expect(by('v1.4.0', '1.4.0')).not.toBeNull();
    expect(by('1.4', '1.4.0')).toBeNull();
    expect(by('1', '1')).toBeNull();
    expect(by('1.4.0', '1.4.0-rc.1')).toBeNull();
    expect(by('1.4.0', null)).toBeNull();
  });

  test('is a cooldown only until that is over', () => {
    expect(blockOf(state, { digest: null, label: 'v2' }, NOW)).toBeNull();
    expect(blockOf(state, { digest: null, label: 'v3' }, NOW)?.image).toBe('v3');
  });

  test('is found by what a reference alone tells', () => {
    expect(blockOfImage(state, `app:x@${digest('d1')}`, null, NOW)?.image).toBe(digest('d1'));
    expect(blockOfImage(state, `app:v1@${digest('d2')}`, null, NOW)?.image).toBe('v1');
    expect(blockOfImage(state, `app:v1@${digest('d2')}`, 'x', NOW)).toBeNull();
    expect(blockOfImage(state, `app:x@${digest('d2')}`, 'v1', NOW)?.image).toBe('v1');
    expect(blockOfImage(state, 'app', null, NOW)).toBeNull();
  });
});
