import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { namesDigest, parseImageReference, type ImageReference } from '../../../src/domain/core/image-reference.ts';

const hex = 'a'.repeat(64);
const digest = `sha256:${hex}`;

/** The canonical text of a reference. */
function written({ registry, path, tag, digest: hash }: ImageReference): string {
  return `${registry}/${path}${tag === null ? '' : `:${tag}`}${hash === null ? '' : `@${hash}`}`;
}

describe('an image reference', () => {
  test.each([
    ['nginx', 'docker.io', 'library/nginx', null, null],
    ['nginx:1.27', 'docker.io', 'library/nginx', '1.27', null],
    ['team/app', 'docker.io', 'team/app', null, null],
    ['docker.io/nginx', 'docker.io', 'library/nginx', null, null],
    ['index.docker.io/team/app:v1', 'docker.io', 'team/app', 'v1', null],
    ['localhost/app', 'localhost', 'app', null, null],
    ['localhost:5000/app', 'localhost:5000', 'app', null, null],
    ['127.0.0.1:5000/team/app:v6-latest', '127.0.0.1:5000', 'team/app', 'v6-latest', null],
    [`registry.example.com/a/b/c:v1@${digest}`, 'registry.example.com', 'a/b/c', 'v1', digest],
    [`registry.example.com/a@${digest}`, 'registry.example.com', 'a', null, digest],
    ['[::1]:5000/app:v1', '[::1]:5000', 'app', 'v1', null],
    ['Registry/app', 'Registry', 'app', null, null],
    ['a__b/c-d.e--f', 'docker.io', 'a__b/c-d.e--f', null, null],
  ])('%s is taken apart as the container runtimes do it', (text, registry, path, tag, digest) => {
    expect(parseImageReference(text)).toEqual({ ok: true, value: { registry, path, tag, digest } });
  });

  test.each([
    ['', 'repository', 'empty'],
    ['https://registry.example.com/app', 'registry', 'scheme'],
    ['registry_x.example.com/app', 'registry', 'no host'],
    ['registry.example.com:70000/app', 'registry', 'no host'],
    ['registry.example.com:/app', 'registry', 'no host'],
    ['registry.example.com/', 'repository', 'empty'],
    ['registry.example.com//app', 'repository', 'empty'],
    ['team/App', 'repository', 'capitals'],
    ['team/app-', 'repository', 'no path component'],
    ['team/a..b', 'repository', 'no path component'],
    ['team/app:', 'tag', 'expected'],
    ['team/app:-v1', 'tag', 'expected'],
    [`team/app:${'x'.repeat(129)}`, 'tag', '128'],
    ['team/app@', 'digest', 'sha256'],
    ['team/app@sha256:abc', 'digest', '64'],
    [`team/app@sha256:${hex.toUpperCase()}`, 'digest', 'lower-case'],
    [`team/app@${digest}@${digest}`, 'digest', '64'],
    [`registry.example.com/${'a'.repeat(256)}`, 'repository', '255'],
    ['team/app v1', 'repository', 'no path component'],
    ['team/app\n', 'repository', 'no path component'],
  ])('%j is refused, and the wrong part is named', (text, part, message) => {
    const parsed = parseImageReference(text);
    expect(parsed).toMatchObject({ ok: false, part });
    expect(parsed.ok ? '' : parsed.message).toContain(message);
  });

  test('that is very long is not repeated whole', () => {
    const said = (text: string) => {
      const parsed = parseImageReference(text);
      return parsed.ok ? '' : parsed.message;
    };
    expect(said('A'.repeat(101))).toContain(`"${'A'.repeat(100)}…" is no image reference`);
    expect(said('A'.repeat(100))).toContain(`"${'A'.repeat(100)}" is no image reference`);
  });

  test.each([
    ['registry.example.com:65535/app', true],
    ['registry.example.com:65536/app', false],
    [`registry.example.com/${'a'.repeat(255 - 'registry.example.com/'.length)}`, true],
    [`registry.example.com/${'a'.repeat(256 - 'registry.example.com/'.length)}`, false],
  ])('%s is at its limit: %s', (text, ok) => {
    expect(parseImageReference(text).ok).toBe(ok);
  });

  const component = fc.stringMatching(/^[a-z0-9]{1,8}(?:[._-][a-z0-9]{1,4})?$/);
  const reference = fc.record({
    registry: fc.oneof(
      fc.constantFrom('docker.io', 'localhost', '[::1]', '[fd00::1]:443'),
      fc.stringMatching(/^[a-z0-9]{1,8}\.[a-z]{2,4}(?::[1-9][0-9]{1,3})?$/),
    ),
    path: fc.array(component, { minLength: 2, maxLength: 4 }).map((parts) => parts.join('/')),
    tag: fc.option(fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,20}$/)),
    digest: fc.option(fc.stringMatching(/^[0-9a-f]{64}$/).map((hash) => `sha256:${hash}`)),
  });

  property.prop([reference])('reads back what it writes', (value) => {
    expect(parseImageReference(written(value))).toEqual({ ok: true, value });
  });

  property.prop([fc.string({ maxLength: 300 })])('any text is parts or a message, and parts are canonical', (text) => {
    const parsed = parseImageReference(text);
    if (!parsed.ok) expect(parsed.message).toContain(parsed.part);
    else expect(parseImageReference(written(parsed.value))).toEqual(parsed);
  });
});

test('a digest is named by all of it or by at least its first twelve digits', () => {
  expect(namesDigest(digest, digest)).toBe(true);
  expect(namesDigest(`sha256:${'a'.repeat(12)}`, digest)).toBe(true);
  expect(namesDigest('a'.repeat(12), digest)).toBe(true);
  expect(namesDigest('a'.repeat(11), digest)).toBe(false);
  expect(namesDigest('b'.repeat(12), digest)).toBe(false);
  expect(namesDigest('', digest)).toBe(false);
  expect(namesDigest('a'.repeat(12), null)).toBe(false);
});
