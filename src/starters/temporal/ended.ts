import type { Temporal } from './connect.ts';

const ANSWER_TIMEOUT_MS = 10_000;

/** How an entity ended. */
export interface Ended {
  /** Such as `ended (completed 2026-11-30T07:08:12.000Z)`. */
  readonly how: string;
  /** It handed back what it owned. One that did not was ended from outside, and left all as it was at that moment. */
  readonly completed: boolean;
}

/**
 * How and when an entity ended; null while it runs.
 *
 * @param id of its workflow, such as `release/hive`
 */
export async function whenEnded(temporal: Temporal, id: string): Promise<Ended | null> {
  const { status, closeTime } = await temporal.client.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
    temporal.client.workflow.getHandle(id).describe(),
  );
  if (status.name === 'RUNNING' || status.name === 'PAUSED') return null;
  return {
    how: `ended (${status.name.toLowerCase()} ${closeTime?.toISOString() ?? ''})`,
    completed: status.name === 'COMPLETED',
  };
}
