import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { nextLink } from '../../../src/activities/registry/link-header.ts';
import { retryAfterMs } from '../../../src/activities/registry/retry-after.ts';
import { parseWwwAuthenticate } from '../../../src/activities/registry/www-authenticate.ts';

const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);

describe('WWW-Authenticate', () => {
  test.each([
    ['Basic realm="a registry"', [{ scheme: 'basic', params: { realm: 'a registry' } }]],
    [
      'Bearer realm="https://auth.example.com/token",service="registry",scope="repository:a/b:pull,push"',
      [
        {
          scheme: 'bearer',
          params: { realm: 'https://auth.example.com/token', service: 'registry', scope: 'repository:a/b:pull,push' },
        },
      ],
    ],
    [
      'Negotiate, Basic realm="x", BEARER realm = "y" , service=z',
      [
        { scheme: 'negotiate', params: {} },
        { scheme: 'basic', params: { realm: 'x' } },
        { scheme: 'bearer', params: { realm: 'y', service: 'z' } },
      ],
    ],
    [
      'Negotiate YWJj==, Basic realm="x"',
      [
        { scheme: 'negotiate', params: {} },
        { scheme: 'basic', params: { realm: 'x' } },
      ],
    ],
    [
      'Basic realm="a \\"quoted\\" one, with = and ,"',
      [{ scheme: 'basic', params: { realm: 'a "quoted" one, with = and ,' } }],
    ],
    ['Basic realm="first", realm="second"', [{ scheme: 'basic', params: { realm: 'first' } }]],
    ['', []],
    ['"garbage"', []],
  ])('%s', (header, challenges) => expect(parseWwwAuthenticate(header)).toEqual(challenges));

  const challenge = fc.record({
    scheme: name,
    params: fc.dictionary(name, fc.string({ maxLength: 20 }), { minKeys: 1 }),
  });

  property.prop([fc.array(challenge, { maxLength: 4 })])('reads back every challenge that is written', (challenges) => {
    const header = challenges
      .map(({ scheme, params }) => {
        const written = Object.entries(params).map(([key, value]) => `${key}="${value.replace(/["\\]/g, '\\$&')}"`);
        return `${scheme} ${written.join(', ')}`;
      })
      .join(', ');
    const plain = challenges.map(({ scheme, params }) => ({ scheme, params: { ...params } }));
    expect(parseWwwAuthenticate(header)).toEqual(plain);
  });

  property.prop([fc.string({ maxLength: 200 })])('any text is read to its end', (text) => {
    expect(Array.isArray(parseWwwAuthenticate(text))).toBe(true);
  });
});

describe('Link', () => {
  test.each([
    ['</v2/a/tags/list?n=2>; rel="next"', '/v2/a/tags/list?n=2'],
    ['<a,b;c>; rel=next', 'a,b;c'],
    ['<first>; rel="first", <second>; title="a, \\"b\\""; rel="prev next"', 'second'],
    ['<a>; REL=NEXT', 'a'],
    ['<a>; rel="last"', null],
    ['', null],
  ])('%s', (header, target) => expect(nextLink(header)).toBe(target));

  test.each(['/v2/a', '<a', '<a> rel="next"', '<a>; rel="next" garbage'])(
    '%s is refused, not read as the end',
    (header) => {
      expect(() => nextLink(header)).toThrow(RangeError);
    },
  );

  property.prop([fc.webUrl({ withQueryParameters: true }), fc.array(fc.webUrl(), { maxLength: 3 })])(
    'gives the next target exactly as written',
    (next, others) => {
      const links = [...others.map((url) => `<${url}>; rel="alternate"`), `<${next}>; rel="next"`];
      expect(nextLink(links.join(', '))).toBe(next);
    },
  );
});

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    ['120', 120_000],
    ['999999999', 3_600_000],
    ['Thu, 01 Jan 1970 00:01:40 GMT', 40_000],
    ['Thu, 01 Jan 1970 00:00:40 GMT', 0],
    ['soon', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    [null, undefined],
  ])('%s', (header, ms) => expect(retryAfterMs(header, 60_000)).toBe(ms));
});
