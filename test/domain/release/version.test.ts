import { describe, expect, test } from 'vitest';
import { labelOf, majorOf, majorOfTag, parseVersion, versionOf } from '../../../src/domain/release/version.ts';
import { digest } from './world.ts';

describe('the version of an image', () => {
  test.each([
    ['v6.1.2', null, '6.1.2'],
    ['6.1.2', '7.0.0', '6.1.2'],
    ['v6-latest', '6.4.0', '6.4.0'],
    ['v6-latest', 'v6.4.0', '6.4.0'],
    ['v6-latest', '22.04', '6'],
    ['v6-latest', null, '6'],
    ['edge', '6.4.0', '6.4.0'],
    ['edge', null, null],
    ['edge', 'main', null],
    [null, '6.4.0', '6.4.0'],
    [null, null, null],
    ['v6.1.2-rc.1', null, '6.1.2-rc.1'],
  ])('tag %s with version label %s is %s', (tag, label, version) => {
    expect(versionOf(tag, label)).toBe(version);
  });

  test.each([
    ['v6-latest', '6'],
    ['6-latest', '6'],
    ['v6', '6'],
    ['6', '6'],
    ['6.1', '6'],
    ['v12.3-alpine', '12'],
    ['6.10-alpine', '6'],
    ['6.1.20', '6'],
    ['123', '123'],
    ['1234', null],
    ['20260101', null],
    ['2026-01-01', null],
    ['6latest', null],
    ['latest', null],
    ['edge-6', null],
    ['6.', null],
    [null, null],
  ])('the name of tag %s carries major %s', (tag, major) => {
    expect(majorOfTag(tag)).toBe(major);
  });

  test('is semver only with three numbers', () => {
    expect(parseVersion('v1.2.3')?.version).toBe('1.2.3');
    for (const tag of ['v1.2', '1', 'v1.2.3.4', 'x1.2.3', 'v01.2.3', '']) expect(parseVersion(tag)).toBeNull();
  });

  test('has a major, alone or in full', () => {
    expect(majorOf('6')).toBe(6);
    expect(majorOf('12.3.4-rc.1')).toBe(12);
  });
});

describe('what people call an image', () => {
  test.each([
    ['v6-latest', '04d1e1ea4bdf99c0ffee', 'v6-04d1e1ea4bdf'],
    ['edge', '04d1e1ea4bdf99c0ffee', 'edge-04d1e1ea4bdf'],
    ['latest-edge', '04d1e1ea4bdf', 'latest-edge-04d1e1ea4bdf'],
    ['v6-latest-arm', '04d1e1ea4bdf', 'v6-latest-arm-04d1e1ea4bdf'],
    ['v6-latest', 'abc', 'v6-abc'],
    ['v6.1.2', '04d1e1ea4bdf', 'v6.1.2'],
    ['6.1.2-rc.1', null, '6.1.2-rc.1'],
    ['v6-latest', null, 'v6-sha256-ab0000000000'],
    ['v6-latest', '', 'v6-sha256-ab0000000000'],
    [null, '04d1e1ea4bdf99', '04d1e1ea4bdf'],
    [null, null, 'sha256-ab0000000000'],
  ])('tag %s at revision %s is %s', (tag, revision, label) => {
    expect(labelOf(tag, revision, digest('ab'))).toBe(label);
  });
});
