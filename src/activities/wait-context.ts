import { CancelledFailure, Context } from '@temporalio/activity';

/**
 * What a long activity needs of Temporal: to say that it is alive and how far it is, to hear that it is no longer
 * wanted, and what an earlier try had got to.
 */
export interface WaitContext<Progress> {
  /** Aborts, with the failure to be thrown as its reason, when the activity is no longer wanted. */
  readonly signal: AbortSignal;
  /** What the last try heartbeat; undefined on the first one. */
  readonly resumed: Progress | undefined;
  /** Keeps this as the progress, and heartbeats it at once and from then on. */
  readonly progress: (value: Progress) => void;
}

/** Heartbeats ride through a throttle of Temporal's own; more of them than this gain nothing. */
const MOST_MS = 20_000;
/** Where Temporal does not say how often it wants to hear. */
const DEFAULT_MS = 2_000;

/**
 * Runs a wait with heartbeats: three within each heartbeat time-out, so that one lost is no death, and at least every
 * two seconds where waits are watched closely. The heartbeats end with the work.
 */
export async function waiting<Progress, T>(work: (context: WaitContext<Progress>) => Promise<T>): Promise<T> {
  const context = Context.current();
  const resumed: Progress | undefined = context.info.heartbeatDetails as Progress | undefined;
  const timeoutMs = context.info.heartbeatTimeoutMs ?? 0;
  let latest: Progress | undefined = resumed;
  const beat = () => {
    context.heartbeat(latest);
  };
  beat();
  const timer = setInterval(beat, timeoutMs > 0 ? Math.min(timeoutMs / 3, MOST_MS) : DEFAULT_MS);
  try {
    return await work({
      signal: context.cancellationSignal,
      resumed,
      progress(value) {
        latest = value;
        beat();
      },
    });
  } finally {
    clearInterval(timer);
  }
}

/** True where the workflow wants no more of the activity; not where the worker ends, or Temporal has given it up. */
export function isCalledOff({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof CancelledFailure && reason.message === 'CANCELLED';
}

/** Waits, and throws as soon as the signal aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms <= 0) return;
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
