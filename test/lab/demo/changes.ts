import { shortHash } from '../../../src/domain/core/plan-hash.ts';
import type { ReleaseStatus } from '../../../src/domain/release/status.ts';
import type { Tone } from './timeline.ts';

/** One line of the timeline. */
export interface Happening {
  readonly text: string;
  readonly tone: Tone;
}

/**
 * What has changed of a release as a whole between two looks at its status: rollouts, what is waited for, what is
 * blocked. Its targets tell of themselves, by events.
 */
export function changesOf(before: ReleaseStatus | null, after: ReleaseStatus): readonly Happening[] {
  return [...rollouts(before, after), ...blocks(before, after), ...phases(before, after)];
}

const tones = {
  Promoted: 'good',
  RolledBack: 'bad',
  Failed: 'bad',
  Aborted: 'waits',
  Held: 'waits',
} as const satisfies Record<ReleaseStatus['lastRollouts'][number]['outcome'], Tone>;

function rollouts(before: ReleaseStatus | null, after: ReleaseStatus): Happening[] {
  const { rollout } = after;
  const known = new Set(before?.lastRollouts.map(({ id }) => id) ?? []);
  const ended = after.lastRollouts.filter(({ id }) => !known.has(id));
  const begun = rollout !== null && rollout.id !== before?.rollout?.id;
  return [
    ...ended.map(({ id, outcome, message }): Happening => {
      return { text: `rollout ${id} ended: ${outcome}: ${message}`, tone: tones[outcome] };
    }),
    ...(begun
      ? [{ text: `rollout ${rollout.id} begins: plan ${shortHash(rollout.planHash)}`, tone: 'plain' } as const]
      : []),
  ];
}

function blocks(before: ReleaseStatus | null, after: ReleaseStatus): Happening[] {
  const known = new Set(before?.blocked.map(({ image }) => image) ?? []);
  return after.blocked
    .filter(({ image }) => !known.has(image))
    .map(({ image }) => ({ text: `blocked: ${image}`, tone: 'bad' }));
}

function phases(before: ReleaseStatus | null, { phase, waiting, targets }: ReleaseStatus): Happening[] {
  if (phase === before?.phase) return [];
  if (phase === 'AwaitingApproval' && waiting !== null) return [{ text: `waits for ${waiting.for}`, tone: 'waits' }];
  if (phase !== 'Current') return [];
  const labels = [...new Set(targets.map(({ label }) => label ?? ''))].join(', ');
  return [{ text: `every target runs what is wanted: ${labels}`, tone: 'good' }];
}
