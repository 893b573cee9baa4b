import { describe, expect, test } from 'vitest';
import { deployedImage, imageParts, sameContent, sameRepository } from '../../../src/domain/release/deployed-image.ts';
import { digest } from './world.ts';

const D = digest('d1');

describe('an image as it is deployed', () => {
  test('has repository, tag and digest; a bare digest has no tag', () => {
    const resolved = { repository: 'registry.example.com/app', tag: 'v6', digest: D };
    expect(deployedImage(resolved)).toBe(`registry.example.com/app:v6@${D}`);
    expect(deployedImage({ ...resolved, tag: null })).toBe(`registry.example.com/app@${D}`);
  });

  test('is read in its parts, and has none where it is no reference', () => {
    expect(imageParts(`registry.example.com:5000/app:v6@${D}`)).toMatchObject({ tag: 'v6', digest: D });
    expect(imageParts('app')).toMatchObject({ tag: null, digest: null });
    expect(imageParts('Not An Image')).toEqual({ tag: null, digest: null });
  });

  test.each<[string, string, boolean]>([
    [`app:v1@${D}`, `app:v2@${D}`, true],
    [`app@${D}`, `app:v2@${D}`, true],
    [`app:v1@${D}`, `docker.io/library/app:v1@${D}`, true],
    [`app:v1@${D}`, `app:v1@${digest('d2')}`, false],
    [`app:v1@${D}`, `team/app:v1@${D}`, false],
    [`r1.example.com/app@${D}`, `r2.example.com/app@${D}`, false],
    ['app:v1', 'app:v1', false],
    [`app:v1`, `app:v1@${D}`, false],
    ['Not An Image', `app@${D}`, false],
    [`app@${D}`, 'Not An Image', false],
    ['Not An Image', 'Not An Image', false],
  ])('%s and %s have the same content: %s', (a, b, same) => {
    expect(sameContent(a, b)).toBe(same);
  });

  test.each<[string, string, boolean]>([
    [`app:v1@${D}`, 'app', true],
    ['app:v1', 'docker.io/library/app', true],
    ['r1.example.com/app', 'r2.example.com/app', false],
    ['app', 'team/app', false],
    ['Not An Image', 'app', false],
    ['app', 'Not An Image', false],
  ])('%s and %s are of one repository: %s', (a, b, same) => {
    expect(sameRepository(a, b)).toBe(same);
  });
});
