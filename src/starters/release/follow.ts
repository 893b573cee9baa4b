import { setTimeout as sleep } from 'node:timers/promises';
import type { ReleaseActivities } from '../../activities/release/port.ts';
import type { ReleaseStatus } from '../../domain/release/status.ts';
import { releaseId } from '../../workflows/release/messages.ts';
import type { Temporal } from '../temporal/connect.ts';
import { patiently } from '../temporal/patiently.ts';
import { askStatus } from './release-client.ts';

const EVERY_MS = 1_000;
const LOOK_TIMEOUT_MS = 15_000;

/** One look at a release. */
export interface Look {
  readonly status: ReleaseStatus;
  /** True where it has evaluated everything that it was told before the look, and rolls nothing. */
  readonly atRest: boolean;
}

/** The one activity of a release in which it only waits for the world to change. */
const idleActivity: keyof ReleaseActivities = 'awaitChange';

/**
 * Looks at a release again and again, until the signal aborts or the caller stops. Outlives restarts of worker and
 * server; looking costs nothing in the workflow's history.
 *
 * @param say hears why a look was not to be had
 * @throws CliError, undetermined, after five minutes without one
 */
export async function* looks(
  temporal: Temporal,
  name: string,
  options: { readonly signal: AbortSignal; readonly say: (line: string) => void },
): AsyncGenerator<Look, void, undefined> {
  const { signal, say } = options;
  const attempt = patiently(temporal, say);
  while (!signal.aborted) {
    const seen = await attempt(() => look(temporal, name));
    if (seen !== null) yield seen;
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** First whether it rests, then how it is: what was at rest before has been told all that the status tells. */
async function look(temporal: Temporal, name: string): Promise<Look> {
  const { raw } = await temporal.client.withDeadline(Date.now() + LOOK_TIMEOUT_MS, () =>
    temporal.client.workflow.getHandle(releaseId(name)).describe(),
  );
  const busy = (raw.pendingActivities ?? []).some((activity) => activity.activityType?.name !== idleActivity);
  const status = await askStatus(temporal, name, LOOK_TIMEOUT_MS);
  const atRest = !busy && (raw.pendingWorkflowTask ?? null) === null && status.rollout === null;
  return { status, atRest };
}
