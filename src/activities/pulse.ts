/** Wakes one waiter when something has happened. Happenings before and between waits are not lost, and count once. */
export interface Pulse {
  happened(): void;
  /** Returns at the next happening, or after `ms`. Throws the signal's reason at once when it aborts. */
  next(ms: number, signal: AbortSignal): Promise<void>;
}

/** Longest that a timer of Node can wait. */
const MOST_MS = 2 ** 31 - 1;

export function createPulse(): Pulse {
  let pending = false;
  let wake: (() => void) | null = null;
  return {
    happened() {
      pending = true;
      wake?.();
    },
    async next(ms, signal) {
      signal.throwIfAborted();
      if (!pending && ms > 0) {
        const woken = Promise.withResolvers<void>();
        const stop = () => woken.resolve();
        const timer = setTimeout(stop, Math.min(ms, MOST_MS));
        wake = stop;
        signal.addEventListener('abort', stop, { once: true });
        await woken.promise;
        wake = null;
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
      }
      pending = false;
      signal.throwIfAborted();
    },
  };
}
