import { observationFingerprint } from '../../domain/release/fingerprint.ts';
import type { Observation } from '../../domain/release/observation.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import type { ImageCache } from './image-cache.ts';
import { observeRelease } from './observe.ts';
import type { AwaitChange, ObserveInput } from './port.ts';
import { sleep, type WaitContext } from '../wait-context.ts';

/** What a worker that takes over needs to know. */
export interface AwaitChangeProgress {
  /** When it was last read, epoch milliseconds. */
  readonly lastRead: number;
}

/** Waits for something to change; see ReleaseActivities.awaitChange. */
export async function awaitChangeOf(
  dependencies: ReleaseDependencies,
  images: ImageCache,
  input: ObserveInput & AwaitChange,
  { signal, resumed, progress }: WaitContext<AwaitChangeProgress>,
): Promise<Observation> {
  const clock = dependencies.clock ?? Date.now;
  // The caller has just read: the first reading is one interval away, also for a worker that takes over.
  let lastRead = resumed?.lastRead ?? clock();
  progress({ lastRead });
  for (;;) {
    const next = Math.min(lastRead + input.pollIntervalMs, input.until);
    await sleep(next - clock(), signal);
    const observation = await observeRelease(dependencies, images, input, signal);
    if (clock() >= input.until || observationFingerprint(observation) !== input.known) return observation;
    lastRead = clock();
    progress({ lastRead });
  }
}
