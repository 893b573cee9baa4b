import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until `check` gives something other than null, false or undefined, and returns it.
 *
 * @param what named in the error when the time is over, as in "the node is Ready"
 * @param timeoutMs milliseconds to wait at most
 * @param everyMs milliseconds between two checks
 * @throws Error when the time is over, with the message of the last error that `check` threw; an error that `check` marks
 *   by throwing {@link GaveUp} ends the wait at once
 */
export async function waitFor<T>(
  what: string,
  check: () => Promise<T | null | false | undefined> | T | null | false | undefined,
  timeoutMs = 60_000,
  everyMs = 100,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await check();
      if (value !== null && value !== undefined && value !== false) return value;
      lastError = undefined;
    } catch (error) {
      if (error instanceof GaveUp) throw error;
      lastError = error;
    }
    if (Date.now() > deadline) {
      const because = lastError instanceof Error ? `: ${lastError.message}` : '';
      throw new Error(`${what}: not within ${timeoutMs / 1000} s${because}`);
    }
    await sleep(everyMs);
  }
}

/** Ends a {@link waitFor} at once: what is waited for cannot come any more. */
export class GaveUp extends Error {
  override readonly name = 'GaveUp';
}
