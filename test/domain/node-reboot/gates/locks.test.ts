import { expect, test } from 'vitest';
import { isDaemonLockHeld } from '../../../../src/domain/node-reboot/gates/locks.ts';

const created = '2026-06-01T03:00:00Z';

test('NR-12 a lock of kured is held as it writes it for one node, and for several', () => {
  const one = { nodeID: 'n2', metadata: { unschedulable: false }, created, TTL: 0 };
  expect(isDaemonLockHeld(JSON.stringify(one))).toBe(true);
  expect(isDaemonLockHeld(JSON.stringify({ maxOwners: 2, locks: [one] }))).toBe(true);
});

test('a lock of kured with room for several nodes is free when its last holder has gone', () => {
  expect(isDaemonLockHeld(JSON.stringify({ maxOwners: 2, locks: [] }))).toBe(false);
  expect(isDaemonLockHeld(JSON.stringify({ maxOwners: 2, locks: null }))).toBe(false);
});

test('a lock that kured would call expired, and one that nobody understands, are held', () => {
  const expired = { nodeID: 'n2', created: '2020-01-01T00:00:00Z', TTL: 1 };
  expect(isDaemonLockHeld(JSON.stringify(expired))).toBe(true);
  for (const text of ['', '{}', '[]', 'null', 'n2', '{"locks":{}}']) expect(isDaemonLockHeld(text)).toBe(true);
});
