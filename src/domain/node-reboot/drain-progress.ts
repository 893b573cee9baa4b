import { counted } from '../core/counted.ts';
import { own } from '../core/own.ts';
import type { DrainPlan } from './drain-plan.ts';
import { podName, type PodReading } from './pod.ts';

/** How often each pod was asked to go, by its uid. Plain JSON. */
export type DrainProgress = Readonly<Record<string, EvictionTries>>;

export interface EvictionTries {
  readonly count: number;
  /** Of the last one, epoch milliseconds. */
  readonly at: number;
  /** What the API server said last, such as the budget that allows nothing; null where it accepted. */
  readonly refusal: string | null;
}

/** With the first of these already at most six tries of a pod fall into any minute. */
const firstPauseMs = 11_000;
const longestPauseMs = 30_000;

/**
 * When a pod may be asked to go once more: the pauses grow from 11 to 30 seconds.
 *
 * @returns epoch milliseconds
 */
export function nextTryAt({ count, at }: Pick<EvictionTries, 'count' | 'at'>): number {
  return at + Math.min(firstPauseMs * 1.5 ** Math.max(0, count - 1), longestPauseMs);
}

/** The pods of a plan that are to be evicted now: none as long as anything blocks. */
export function dueEvictions(plan: DrainPlan, progress: DrainProgress, now: number): readonly PodReading[] {
  if (plan.blockers.length > 0) return [];
  return plan.evict.filter(({ uid }) => {
    const tries = own(progress, uid);
    return tries === undefined || now >= nextTryAt(tries);
  });
}

/**
 * One more try of a pod.
 *
 * @param refusal what the API server said; null where it accepted
 * @param now when it was tried, epoch milliseconds
 */
export function noteTry(
  progress: DrainProgress,
  { uid }: Pick<PodReading, 'uid'>,
  refusal: string | null,
  now: number,
): DrainProgress {
  return { ...progress, [uid]: { count: (own(progress, uid)?.count ?? 0) + 1, at: now, refusal } };
}

/** What a drain still waits for, one pod a sentence, with what was said of it last. */
export function describeWaiting({ evict, leaving, blockers }: DrainPlan, progress: DrainProgress): string {
  const refused = evict.map((pod) => {
    const tries = own(progress, pod.uid);
    if (tries === undefined) return `pod ${podName(pod)} was not asked to go yet`;
    const asked = `pod ${podName(pod)} was asked to go ${counted(tries.count, 'time')}`;
    return tries.refusal === null ? `${asked} and stays` : `${asked}: ${tries.refusal}`;
  });
  const ending = leaving.map((pod) => `pod ${podName(pod)} is ending`);
  return [...blockers.map(({ message }) => message), ...refused, ...ending].join('; ');
}
