import { describe, expect, test } from 'vitest';
import { matchImageId } from '../../../src/domain/release/image-id.ts';
import { digest, REPOSITORY } from './world.ts';

const CHILD = digest('8ac4');
const PARENT = digest('3f08');
const OTHER = digest('77');
const index = { digest: PARENT, platformDigests: { 'linux/amd64': CHILD, 'linux/arm64/v8': digest('99') } };

describe('H-A16 the reported imageID', () => {
  const pinned = `${REPOSITORY}:v6@${CHILD}`;

  test('is the pinned platform manifest where it carries its parent index, with a prefix', () => {
    expect(matchImageId(`docker-pullable://reg/app@${PARENT}`, pinned, index, 'linux/amd64')).toBe('same');
    expect(matchImageId(`reg/app@${PARENT}`, pinned, index, null)).toBe('same');
  });

  test('is the pinned index where it carries the manifest of the node', () => {
    const byIndex = `${REPOSITORY}@${PARENT}`;
    expect(matchImageId(`reg/app@${CHILD}`, byIndex, index, 'linux/amd64')).toBe('same');
    expect(matchImageId(`reg/app@${digest('99')}`, byIndex, index, 'linux/arm64')).toBe('same');
    expect(matchImageId(`reg/app@${CHILD}`, byIndex, index, 'linux/arm64')).toBe('different');
    expect(matchImageId(`reg/app@${CHILD}`, byIndex, index, 'linux/amd')).toBe('different');
  });

  test('is the image where both digests are equal, whatever is known', () => {
    expect(matchImageId(`reg/app@${CHILD}`, pinned, null, null)).toBe('same');
    expect(matchImageId(`docker-pullable://reg/app@${PARENT}`, `app@${PARENT}`, null, null)).toBe('same');
  });

  test('is another image where the stored index proves nothing of it', () => {
    expect(matchImageId(`reg/app@${OTHER}`, pinned, index, null)).toBe('different');
    expect(matchImageId(`reg/app@${digest('99')}`, pinned, index, null)).toBe('different');
    expect(matchImageId(`reg/app@${PARENT}`, `app@${OTHER}`, index, null)).toBe('different');
  });

  test('decides nothing where no manifest is reported, nothing is pinned, or the index is not known', () => {
    expect(matchImageId(`docker://${OTHER}`, pinned, index, null)).toBe('undecided');
    expect(matchImageId(undefined, pinned, index, null)).toBe('undecided');
    expect(matchImageId('', pinned, index, null)).toBe('undecided');
    expect(matchImageId(`reg/app@${CHILD}x`, pinned, index, null)).toBe('undecided');
    expect(matchImageId(`reg/app@${OTHER}`, `${REPOSITORY}:v6`, index, null)).toBe('undecided');
    expect(matchImageId(`reg/app@${OTHER}`, pinned, null, null)).toBe('undecided');
  });
});
