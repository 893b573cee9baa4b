import { CancelledFailure } from '@temporalio/activity';
import { expect, test } from 'vitest';
import { atBoundary } from '../../../src/activities/release/boundary.ts';

const spoken = 'PUT https://ada:hunter2@spoke/api failed';

test('what leaves an activity says nothing secret, as a result or as a fault', async () => {
  const result = { verdict: { kind: 'fail', reason: 'X', message: spoken }, found: null };
  const left = await atBoundary('preflight', () => Promise.resolve(result));
  expect(left).toEqual({
    ...result,
    verdict: { ...result.verdict, message: 'PUT https://[redacted]@spoke/api failed' },
  });
  await expect(atBoundary('preflight', () => Promise.reject(new Error(spoken)))).rejects.toMatchObject({
    type: 'HoldfastFault',
    message: 'preflight: PUT https://[redacted]@spoke/api failed',
    cause: undefined,
  });
});

test('a cancellation leaves as it came', async () => {
  const cancelled = new CancelledFailure('CANCELLED');
  await expect(atBoundary('observe', () => Promise.reject(cancelled))).rejects.toBe(cancelled);
});
