import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { SoakProgress } from '../../src/domain/release/judge-soak.ts';
import { rolloutId } from '../../src/workflows/release/messages.ts';
import { waitFor } from '../lab/wait.ts';
import { pendingActivity } from './pending-activity.ts';

/** What a soak has heartbeat last, as the server keeps it; null where no soak is under way. */
export async function soakProgress(client: Client, workflowId: string): Promise<SoakProgress | null> {
  const soak = await pendingActivity(client, workflowId, 'watchSoak');
  const [details] = soak?.heartbeatDetails?.payloads ?? [];
  return details ? defaultPayloadConverter.fromPayload<SoakProgress>(details) : null;
}

/** Waits until a release's soak has so many samples. */
export function sampledSoak(client: Client, release: string, samples: number): Promise<SoakProgress> {
  return waitFor(`${release} has ${samples} samples of its soak`, async () => {
    const progress = await soakProgress(client, rolloutId(release));
    return progress !== null && progress.samples >= samples ? progress : null;
  });
}
