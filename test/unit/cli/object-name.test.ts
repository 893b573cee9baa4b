import { describe, expect, test } from 'vitest';
import { formatObjectName, parseObjectName } from '../../../src/starters/object-name.ts';

describe('KIND/NAME', () => {
  test.each(['release/hive', 'Release/hive', 'RELEASES/hive'])('%s is understood', (text) => {
    expect(parseObjectName(text)).toEqual({ kind: 'Release', name: 'hive' });
    expect(formatObjectName(parseObjectName(text))).toBe('release/hive');
  });

  test.each([
    ['hive', 'Expected KIND/NAME, such as release/hive.'],
    ['', 'Expected KIND/NAME, such as release/hive.'],
    ['keycloakflow', 'Expected KIND/NAME, such as keycloakflow/NAME.'],
    ['relase/hive', 'did you mean release?'],
    ['node/x', 'it knows: release'],
    ['release/', 'is no name of a release'],
    ['release/Hive', 'lower-case letters'],
    ['release/hive/rollout', 'is no name of a release'],
    ['release/..', 'is no name of a release'],
  ])('%j is refused with what was expected', (text, message) => {
    expect(() => parseObjectName(text)).toThrow(message);
  });
});
