import { RegistryFault } from './errors.ts';

const firstMs = 5_000;
const longestMs = 5 * 60_000;

/** A registry that asked for fewer requests is left alone until then. */
export interface QuietTime {
  /** @throws RegistryFault `throttled` while the registry is to be left alone */
  check(): void;
  /** Notes what the registry answered. */
  note(outcome: 'answered' | RegistryFault): void;
}

/**
 * Backs off after an answer 429 for as long as `Retry-After` says, else 5 s and twice as long each time up to 5 min.
 * It is no waiting: a request in that time fails at once, so that nothing is decided and nobody is held up.
 */
export function createQuietTime(clock: () => number): QuietTime {
  let until = 0;
  let backOffMs = firstMs;
  return {
    check() {
      const leftMs = until - clock();
      if (leftMs <= 0) return;
      const message = `the registry asked for fewer requests; it is asked again in ${Math.ceil(leftMs / 1_000)} s`;
      throw new RegistryFault('throttled', message, { retryAfterMs: leftMs });
    },
    note(outcome) {
      if (outcome === 'answered') {
        backOffMs = firstMs;
        return;
      }
      if (outcome.why !== 'throttled') return;
      until = Math.max(until, clock() + (outcome.retryAfterMs ?? backOffMs));
      backOffMs = Math.min(backOffMs * 2, longestMs);
    },
  };
}
