import type { PlacedTarget } from './consideration.ts';
import { sameContent } from './deployed-image.ts';
import { architectureHold, blockHold, instant, workloadHold, type Hold } from './hold.ts';
import { baselineOf } from './remember-target.ts';
import { targetName } from './spec.ts';
import { versionHold, versionOfImage } from './version-guard.ts';
import type { WantedImage } from './wanted-image.ts';

/** What keeps the wanted image from being rolled. What is there already by content needs none of the guards of a change. */
export function desiredHold(of: PlacedTarget): Hold | null {
  return (
    workloadHold(of.workload) ??
    blockHold(of.state.name, of.wanted) ??
    changeHold(of, baselineOf(of.memory) ?? of.image) ??
    of.stops.holdFor(targetName(of.spec), of.desired)
  );
}

function changeHold(of: PlacedTarget, from: string): Hold | null {
  if (sameContent(from, of.desired)) return null;
  const version = versionOfImage(from, of.images);
  return (
    versionHold(of.state.name, of.wanted, from, version, of.spec.allowMajorChange) ??
    architectureHold(of.wanted, of.seen) ??
    ageHold(of.wanted)
  );
}

function ageHold(wanted: WantedImage): Hold | null {
  if (wanted.agesAt === null) return null;
  return {
    reason: 'MinimumAge',
    message: `${wanted.resolved.label} is old enough at ${instant(wanted.agesAt)}`,
    until: wanted.agesAt,
  };
}
