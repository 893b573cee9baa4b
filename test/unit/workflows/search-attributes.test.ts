import { describe, expect, test } from 'vitest';
import { releaseSearchAttributes } from '../../../src/workflows/release/search-attributes.ts';
import { releaseStatus, target } from '../cli/release-status.ts';

/** Temporal terminates a workflow that sets more than this in one attribute. */
const SERVER_TAKES = 2_048;

function valuesOf(status: Parameters<typeof releaseSearchAttributes>[0]): Record<string, unknown> {
  return Object.fromEntries(releaseSearchAttributes(status).map(({ key, value }) => [key.name, value]));
}

describe('search attributes', () => {
  test.each([
    ['50 names of 44 characters', 50, (i: number) => `payments-settlement-service-eu-west-1-prod-${i}`],
    ['2000 names as long as Kubernetes allows', 2_000, (i: number) => String(i).padStart(253, 'n')],
    ['names that are not ASCII', 100, (i: number) => `${'ä€😀'.repeat(20)}${i}`],
    ['names that JSON must escape', 100, (i: number) => `${'"\\'.repeat(60)}${i}`],
  ])('stay under what the server takes: %s', (_what, count, name) => {
    const names = Array.from({ length: count }, (_, i) => name(i));
    const values = valuesOf(
      releaseStatus({
        targets: names.map((each) => target(each, { cluster: each })),
        waiting: { for: '€'.repeat(5_000), since: null, who: 'person', next: '' },
      }),
    );
    for (const value of Object.values(values)) {
      expect(Buffer.byteLength(JSON.stringify(value))).toBeLessThan(SERVER_TAKES);
    }
    for (const key of ['HoldfastTarget', 'HoldfastCluster']) {
      const [first = ''] = values[key] as string[];
      expect(first).not.toBe('');
      expect(names[0]?.startsWith(first)).toBe(true);
    }
  });

  test('name every target of a fleet with short names, each cluster once', () => {
    const names = Array.from({ length: 50 }, (_, i) => `spoke-${i}`);
    const values = valuesOf(releaseStatus({ targets: names.map((name) => target(name)) }));
    expect(values).toMatchObject({
      HoldfastTarget: names,
      HoldfastCluster: ['default'],
      HoldfastWaitingFor: 'nothing',
    });
  });
});
