import { expect, test } from 'vitest';
import { formatNotification, notification } from '../../../src/domain/core/notification.ts';

test('a notification says what, about what, and is the same thing when it is said again', () => {
  const said = () => notification('RolledBack', 'page', 'Release/web, target api', 'crash loop', 'web-3');
  expect(said()).toEqual({
    what: 'RolledBack',
    severity: 'page',
    subject: 'Release/web, target api',
    text: 'crash loop',
    dedupeKey: 'RolledBack/Release/web, target api/web-3',
  });
  expect(said().dedupeKey).toBe(said().dedupeKey);
  expect(notification('RolledBack', 'page', 'Release/web, target api', 'crash loop', 'web-4').dedupeKey).not.toBe(
    said().dedupeKey,
  );
});

test('a notification carries no secrets, and no text without end', () => {
  const said = notification('Failed', 'warning', 'https://u:p@h/', 'password=hunter2', '1');
  expect(said.text).toBe('password=[redacted]');
  expect(said.subject).toBe('https://[redacted]@h/');
  expect(notification('Failed', 'info', 's', 'x y '.repeat(750), '1').text).toHaveLength(3_000);
  expect(notification('Failed', 'info', 's', `${'x y '.repeat(750)}z`, '1').text).toBe(`${'x y '.repeat(750)}…`);
});

test('as a line it begins with how much it matters', () => {
  const line = (severity: 'info' | 'warning' | 'page') =>
    formatNotification(notification('Failed', severity, 'Release/web', 'm', '1'));
  expect([line('info'), line('warning'), line('page')]).toEqual([
    'Release/web Failed: m',
    'WARNING Release/web Failed: m',
    'PAGE Release/web Failed: m',
  ]);
});
