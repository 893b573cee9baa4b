import type { Observation } from '../../domain/release/observation.ts';
import { observationOnTheWire } from '../../domain/release/observation-wire.ts';
import { awaitChangeOf, type AwaitChangeProgress } from './await-change.ts';
import { atBoundary } from './boundary.ts';
import { deletePodOf } from './delete-pod.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import { emitEvents } from './emit-events.ts';
import { createImageCache } from './image-cache.ts';
import { observeRelease } from './observe.ts';
import type { ReleaseActivities, ResultOf, WatchRolloutResult } from './port.ts';
import { preflightOf } from './preflight.ts';
import { restorePlacementsOf } from './restore-placements.ts';
import { waiting } from '../wait-context.ts';
import type { SoakProgress } from '../../domain/release/judge-soak.ts';
import { watchRolloutOf, type RolloutProgress } from './watch-rollout.ts';
import { watchSoakOf } from './watch-soak.ts';
import { writeImage, writeMarks } from './write-image.ts';
import { writing } from './writing.ts';

/** The activities of releases over their ports. One set serves any number of releases; images are remembered across them. */
export function createReleaseActivities(dependencies: ReleaseDependencies): ReleaseActivities {
  const images = createImageCache(dependencies.registry);
  return {
    observe: async (input) =>
      observationOnTheWire(
        await atBoundary('observe', () => waiting(({ signal }) => observeRelease(dependencies, images, input, signal))),
      ),
    awaitChange: async (input) =>
      observationOnTheWire(
        await atBoundary('awaitChange', () =>
          waiting<AwaitChangeProgress, Observation>((context) => awaitChangeOf(dependencies, images, input, context)),
        ),
      ),
    preflight: (input) =>
      atBoundary('preflight', () => waiting(({ signal }) => preflightOf(dependencies, images, input, signal))),
    writeImage: (input) =>
      atBoundary('writeImage', () => writing((wanted, reading) => writeImage(dependencies, input, wanted, reading))),
    writeMarks: (input) =>
      atBoundary('writeMarks', () => writing((wanted, reading) => writeMarks(dependencies, input, wanted, reading))),
    watchRollout: (input) =>
      atBoundary('watchRollout', () =>
        waiting<RolloutProgress, WatchRolloutResult>((context) => watchRolloutOf(dependencies, images, input, context)),
      ),
    watchSoak: (input) =>
      atBoundary('watchSoak', () =>
        waiting<SoakProgress, ResultOf<'watchSoak'>>((context) => watchSoakOf(dependencies, input, context)),
      ),
    restorePlacements: (input) =>
      atBoundary('restorePlacements', () => waiting(({ signal }) => restorePlacementsOf(dependencies, input, signal))),
    deletePod: (input) => atBoundary('deletePod', () => writing((wanted) => deletePodOf(dependencies, input, wanted))),
    emitEvents: (input) =>
      atBoundary('emitEvents', () => waiting(({ signal }) => emitEvents(dependencies, input, signal))),
  };
}
