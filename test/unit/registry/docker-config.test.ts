import { expect, test } from 'vitest';
import { findDockerEntry, parseDockerConfig } from '../../../src/activities/registry/docker-config.ts';

const entry = (username: string) => ({ auth: Buffer.from(`${username}:a:b`).toString('base64') });
const userOf = (auths: object, registry: string, path: string) => {
  const found = findDockerEntry(parseDockerConfig(JSON.stringify({ auths }), 'test'), registry, path);
  return found?.kind === 'basic' ? found.username : null;
};

test.each([
  ['registry.example.com', 'registry.example.com'],
  ['https://registry.example.com', 'registry.example.com'],
  ['http://registry.example.com/v2/', 'registry.example.com'],
  ['registry.example.com:5000', 'registry.example.com:5000'],
  ['https://index.docker.io/v1/', 'docker.io'],
  ['docker.io', 'docker.io'],
  ['*.example.com', 'registry.example.com'],
  ['registry.example.com/team', 'registry.example.com'],
])('the key %s serves %s', (key, registry) => expect(userOf({ [key]: entry('u') }, registry, 'team/app')).toBe('u'));

test.each([
  ['registry.example.com', 'registry.example.com:5000'],
  ['example.com', 'registry.example.com'],
  ['*.example.com', 'a.b.example.com'],
  ['*.example.com', 'registry.example.com.evil.test'],
  ['registry.example.com/tea', 'registry.example.com'],
  ['docker.io', 'registry.example.com'],
])('the key %s does not serve %s', (key, registry) =>
  expect(userOf({ [key]: entry('u') }, registry, 'team/app')).toBeNull(),
);

test('the longest path wins, then the exact host', () => {
  const auths = { '*.example.com': entry('any'), 'r.example.com': entry('host'), 'r.example.com/team': entry('team') };
  expect(userOf(auths, 'r.example.com', 'team/app')).toBe('team');
  expect(userOf(auths, 'r.example.com', 'other/app')).toBe('host');
  expect(userOf(auths, 's.example.com', 'other/app')).toBe('any');
});

test('a password may hold colons, and an empty entry leads to the store', () => {
  const config = parseDockerConfig(JSON.stringify({ auths: { a: entry('u'), b: {} }, credsStore: 'desktop' }), 'test');
  expect(findDockerEntry(config, 'a', 'x')).toEqual({ kind: 'basic', username: 'u', password: 'a:b' });
  expect(findDockerEntry(config, 'b', 'x')).toEqual({ kind: 'helper', helper: 'desktop', server: 'b' });
  expect(findDockerEntry(config, 'docker.io', 'x')).toMatchObject({ server: 'https://index.docker.io/v1/' });
});
