import { own } from '../core/own.ts';
import { blockOfImage } from './block-list.ts';
import { command } from './commands.ts';
import { held, settled, wants, type Consideration, type PlacedTarget } from './consideration.ts';
import { desiredHold } from './desired-hold.ts';
import { imageParts } from './deployed-image.ts';
import { hold, workloadHold, type Hold } from './hold.ts';
import { SECOND_WRITER_DRIFTS, writerOf } from './remember-target.ts';
import { targetName } from './spec.ts';

/**
 * A target on which somebody else's image is. It goes to what is wanted or, where that may not be rolled, back to what
 * was applied; and a writer that puts its own back again and again is left alone and named.
 *
 * @param baseline the image that was applied, or adopted before the first write
 */
export function driftedTarget(of: PlacedTarget, baseline: string): Consideration {
  const { memory, image, desired, wanted, workload } = of;
  const { drifts } = memory;
  if (drifts !== null && drifts.count >= SECOND_WRITER_DRIFTS && drifts.lastImage !== '') {
    return held(
      of,
      hold(
        'SecondWriter',
        `${drifts.writer} has put its own image back ${drifts.count} times (now ${image}); stop it from writing the image, then ${command('retry', of.state.name)}`,
      ),
    );
  }

  const what = `${writerOf(workload)} wrote ${image}; ${memory.applied === null ? 'the target had' : 'this release applied'} ${baseline}`;
  const stays = (against: Hold): Consideration =>
    settled(of, 'Drifted', against.reason, `${what}; ${against.message}`, against.until);

  const onWorkload = workloadHold(workload);
  if (onWorkload !== null) return stays(onWorkload);

  const onDesired = desiredHold(of);
  if (onDesired === null) {
    const action = image === desired ? 'verify' : 'roll';
    // A pin says so, since it may be rolled although it is blocked.
    const why = wanted.line.pin === null ? 'drift' : 'pin';
    return wants(of, 'Drifted', { action, to: desired, toLabel: wanted.resolved.label, why }, what);
  }
  if (desired === baseline) return stays(onDesired);

  const label = labelOfBaseline(of, baseline);
  const noWayBack = baselineHold(of, baseline, label);
  if (noWayBack !== null) {
    return stays({ ...onDesired, message: `${onDesired.message}; and going back is not possible: ${noWayBack}` });
  }
  const back = { action: 'roll', to: baseline, toLabel: label, why: 'drift' } as const;
  return { ...wants(of, 'Drifted', back, `${what}; ${onDesired.message}`), until: onDesired.until };
}

/** Going back to what was applied needs no guard but these: it ran here before. */
function baselineHold(of: PlacedTarget, baseline: string, label: string): string | null {
  const block = blockOfImage(of.state, baseline, label, of.now);
  if (block !== null) return `${label}, which was applied before, is blocked by ${block.by}`;
  return of.stops.holdFor(targetName(of.spec), baseline)?.message ?? null;
}

function labelOfBaseline({ images, memory }: PlacedTarget, baseline: string): string {
  const facts = own(images, baseline);
  if (facts?.kind === 'read') return facts.value.label;
  return memory.appliedVersion ?? imageParts(baseline).tag ?? baseline;
}
