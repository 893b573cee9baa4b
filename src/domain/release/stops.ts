import { command } from './commands.ts';
import { hold, type Hold } from './hold.ts';
import type { ReleaseState, TargetMemory } from './state.ts';

/** What happened to targets of the release that keeps an image from being rolled on any of them. */
export interface Stops {
  /** @returns null where nothing that happened keeps `image` from being rolled on `target` */
  holdFor(target: string, image: string): Hold | null;
}

/**
 * After a failure, an abort or a rejection no target is started for that image: later targets are never touched until a
 * person says `retry` or something else is wanted.
 *
 * @param memories by target name, in the order of the spec
 * @param gone of targets that have left the spec
 */
export function stopsOf(
  release: string,
  memories: ReadonlyMap<string, TargetMemory>,
  gone: ReleaseState['stops'] = [],
): Stops {
  const stopped = new Map<string, { readonly target: string; readonly stuck: NonNullable<TargetMemory['stuck']> }>();
  for (const [target, { stuck }] of memories) {
    if (stuck !== null && !stopped.has(stuck.image)) stopped.set(stuck.image, { target, stuck });
  }
  for (const stop of gone) if (!stopped.has(stop.stuck.image)) stopped.set(stop.stuck.image, stop);
  return {
    holdFor(target, image) {
      const by = stopped.get(image);
      return by === undefined ? null : stopHold(release, by.stuck, by.target === target ? 'here' : `on ${by.target}`);
    },
  };
}

function stopHold(release: string, stuck: NonNullable<TargetMemory['stuck']>, where: string): Hold {
  if (stuck.phase === 'Held') {
    return hold(
      stuck.reason === 'Aborted' ? 'Aborted' : 'Rejected',
      `${stuck.message} (${where}); ${command('retry', release)} tries it again`,
    );
  }
  return hold(
    'StoppedByFailure',
    `${stuck.image} ended as ${stuck.phase} ${where}: ${stuck.message}; no target is started until ${command('retry', release)}, or until another image is wanted`,
  );
}
