import { describe, expect, test } from 'vitest';
import { clientOf } from './client.ts';
import { json, startRegistry } from './scripted-registry.ts';

const page = (tags: string[] | null, next?: string) =>
  json({ name: 'app', tags }, next === undefined ? {} : { link: next });

describe('H-A01 a tag list in pages', () => {
  test('H-A01 is followed to its end by a relative link whose query is left as it is', async () => {
    const server = await startRegistry(({ url }) => {
      if (url === '/v2/app/tags/list') {
        return page(['v5.1.0', 'v5.0.9'], '</v2/app/tags/list?n=2&next_page=AbC%3D>; rel="next"');
      }
      return url === '/v2/app/tags/list?n=2&next_page=AbC%3D' ? page(['v4.9.0', 'v5.10.0']) : undefined;
    });
    expect(await clientOf(server).listTags(`${server.host}/app`)).toEqual({
      kind: 'read',
      value: ['v5.1.0', 'v5.0.9', 'v4.9.0', 'v5.10.0'],
    });
  });

  test.each([
    ['an absolute link', (host: string) => `http://${host}/v2/app/tags/list?last=a`],
    ['a link that names another scheme', (host: string) => `https://${host}/v2/app/tags/list?last=a`],
    ['a link relative to the path', () => 'list?last=a'],
    ['a query alone', () => '?last=a'],
  ])('H-A01 %s is resolved against the address of the page', async (_, target) => {
    const server = await startRegistry(({ url }) =>
      url.endsWith('?last=a') ? page(['b']) : page(['a'], `<${target(server.host)}>; rel=next`),
    );
    expect(await clientOf(server).listTags(`${server.host}/app`)).toEqual({ kind: 'read', value: ['a', 'b'] });
  });

  test('H-A01 that leads back to a page already read fails, and so does one without an end', async () => {
    const server = await startRegistry(() => page(['a'], '</v2/app/tags/list?last=a>; rel="next"'));
    const loop = await clientOf(server).listTags(`${server.host}/app`);
    expect(loop).toMatchObject({
      kind: 'unmeasured',
      why: 'error',
      message: expect.stringContaining('earlier page') as string,
    });
    let pages = 0;
    server.script = () => page([`t${pages}`], `</v2/app/tags/list?last=${pages++}>; rel="next"`);
    const endless = await clientOf(server, { maxPages: 10 }).listTags(`${server.host}/app`);
    expect(endless).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
    expect(pages).toBe(10);
  });

  test('H-A01 whose link cannot be read, or leads to another host or repository, is not taken as whole', async () => {
    const server = await startRegistry(() => page(['a'], 'garbage'));
    const listed = () => clientOf(server).listTags(`${server.host}/app`);
    expect(await listed()).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    server.script = () => page(['a'], '<http://localhost:1/v2/app/tags/list?last=a>; rel="next"');
    expect(await listed()).toMatchObject({
      kind: 'unmeasured',
      message: expect.stringContaining('another host') as string,
    });
    server.script = () => page(['a'], '</v2/other/tags/list?last=a>; rel="next"');
    expect(await listed()).toMatchObject({
      kind: 'unmeasured',
      message: expect.stringContaining('another repository') as string,
    });
  });
});

describe('H-A09 a registry that throttles in the middle of a tag list', () => {
  const html = { 'content-type': 'text/html' };
  const throttling = (retryAfter?: string) => (request: { url: string }) =>
    request.url.includes('last=')
      ? {
          status: 429,
          headers: { ...html, ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }) },
          body: '<html>slow down</html>',
        }
      : page(['v1'], '</v2/app/tags/list?last=v1>; rel="next"');

  test.each([
    ['for as long as Retry-After says', '30', 30_000],
    ['until the date of Retry-After', new Date(40_000).toUTCString(), 40_000],
    ['five seconds where it does not say', undefined, 5_000],
  ])('H-A09 fails the whole list and is left alone %s', async (_, retryAfter, until) => {
    let now = 0;
    const server = await startRegistry(throttling(retryAfter));
    const registry = clientOf(server, { clock: () => now });
    const list = () => registry.listTags(`${server.host}/app`);
    expect(await list()).toMatchObject({ kind: 'unmeasured', why: 'throttled' });
    expect(server.requests).toHaveLength(2);
    now = until - 1;
    expect(await list()).toMatchObject({ kind: 'unmeasured', why: 'throttled' });
    expect(await registry.headDigest(`${server.host}/app`, 'v1')).toMatchObject({ why: 'throttled' });
    expect(server.requests).toHaveLength(2);
    now = until;
    server.script = () => page(['v1']);
    expect(await list()).toEqual({ kind: 'read', value: ['v1'] });
  });

  test('H-A09 is asked less and less often while it goes on', async () => {
    let now = 0;
    const server = await startRegistry(() => ({ status: 429 }));
    const registry = clientOf(server, { clock: () => now });
    for (let second = 0; second < 3_600; second += 5) {
      now = second * 1_000;
      await registry.listTags(`${server.host}/app`);
    }
    expect(server.requests.length).toBeLessThan(20);
  });
});

describe('a tag list', () => {
  test('that is empty, or null as some registries write it, is read as empty', async () => {
    const server = await startRegistry(() => page([]));
    expect(await clientOf(server).listTags(`${server.host}/app`)).toEqual({ kind: 'read', value: [] });
    server.script = () => page(null);
    expect(await clientOf(server).listTags(`${server.host}/app`)).toEqual({ kind: 'read', value: [] });
  });

  test.each([
    ['of an unknown repository', json({ errors: [{ code: 'NAME_UNKNOWN' }] }, {}, 404), 'missing'],
    ['that is denied', json({ errors: [{ code: 'DENIED' }] }, {}, 403), 'denied'],
    ['that is cut short', { body: '{"tags":["v1"', breakOff: true }, 'truncated'],
    ['that ends in the middle', { body: '{"tags":["v1"' }, 'truncated'],
    ['without tags', json({ name: 'app' }), 'unparsed'],
    ['that is a web page', { body: '<html></html>' }, 'unparsed'],
    ['with no body', { body: '' }, 'empty'],
  ])('%s is unmeasured for that reason', async (_, answer, why) => {
    const server = await startRegistry(() => answer);
    expect(await clientOf(server).listTags(`${server.host}/app`)).toMatchObject({ kind: 'unmeasured', why });
  });
});
