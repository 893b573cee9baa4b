import type { UnmeasuredCause } from '../../domain/core/verdict.ts';

/** What came back for one HTTP request: an answer of some status, or none. */
export type Answer = HttpAnswer | NoAnswer;

export interface HttpAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly contentType: string;
  /** From the Retry-After header. */
  readonly retryAfterMs?: number;
  readonly body: string;
}

/** No complete answer. The message names codes and durations only, never headers, bodies or addresses with credentials. */
export interface NoAnswer {
  readonly kind: 'none';
  readonly cause: UnmeasuredCause;
  /** False when it is certain that no byte of the request left. */
  readonly sent: boolean;
  readonly message: string;
  /** Whether asking again may help. */
  readonly retryable: boolean;
}

/** A request that got no answer. */
export function noAnswer(
  cause: UnmeasuredCause,
  message: string,
  { sent, retryable }: { sent: boolean; retryable: boolean },
): NoAnswer {
  return { kind: 'none', cause, message, sent, retryable };
}

/**
 * `Retry-After` as milliseconds: seconds, or an HTTP date held against `now`.
 * @returns undefined when the header is absent or neither.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header.trim()) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
