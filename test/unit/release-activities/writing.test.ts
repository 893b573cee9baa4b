import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { writing } from '../../../src/activities/release/writing.ts';
import type { WriteResult } from '../../../src/domain/release/rollout.ts';

const unknown: WriteResult = { kind: 'unknown', message: 'no answer from https://ops:hunter2@api.test' };
const refused: WriteResult = { kind: 'refused', reason: 'Changed', message: 'no' };

function run(
  work: (signal: AbortSignal) => Promise<WriteResult>,
  info: ConstructorParameters<typeof MockActivityEnvironment>[0] = {},
): Promise<WriteResult> {
  const environment = new MockActivityEnvironment({ scheduleToCloseTimeoutMs: 0, ...info });
  return environment.run(() => writing(work));
}

describe('a write whose effect is not known', () => {
  test('is a failure that Temporal tries again, so that no history grows with the tries; its secrets stay here', async () => {
    await expect(run(() => Promise.resolve(unknown))).rejects.toMatchObject({
      type: 'WriteUnknown',
      nonRetryable: false,
      message: expect.not.stringContaining('hunter2') as string,
    });
  });

  test('marks a refusal of a later try: the earlier one may have been in effect', async () => {
    expect(await run(() => Promise.resolve(refused), { attempt: 2 })).toEqual({ ...refused, afterUnknown: true });
    expect(await run(() => Promise.resolve(refused), { attempt: 1 })).toEqual(refused);
    const written: WriteResult = { kind: 'written', repeated: true };
    expect(await run(() => Promise.resolve(written), { attempt: 2 })).toEqual(written);
  });

  test('is not begun again after its deadline, and ends before it: nobody would hear of what it writes', async () => {
    let begun = false;
    const late = run(
      () => {
        begun = true;
        return Promise.resolve(unknown);
      },
      { scheduledTimestampMs: Date.now() - 60_000, scheduleToCloseTimeoutMs: 61_000 },
    );
    await expect(late).rejects.toMatchObject({ type: 'WriteUnknown' });
    expect(begun).toBe(false);

    const slow = run(
      (signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
        ),
      { scheduledTimestampMs: Date.now(), scheduleToCloseTimeoutMs: 2_100 },
    );
    await expect(slow).rejects.toMatchObject({ type: 'WriteUnknown' });
  });

  test('that is called off ends as called off', async () => {
    const environment = new MockActivityEnvironment({
      scheduledTimestampMs: Date.now(),
      scheduleToCloseTimeoutMs: 60_000,
    });
    const running = environment.run(() =>
      writing(
        (signal) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
          ),
      ),
    );
    environment.cancel();
    await expect(running).rejects.toMatchObject({ name: 'CancelledFailure' });
  });
});
