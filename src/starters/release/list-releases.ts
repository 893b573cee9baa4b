import type { ReleaseStatus } from '../../domain/release/status.ts';
import { RELEASE_WORKFLOW, releaseId } from '../../workflows/release/messages.ts';
import { listEntities, type Listed } from '../list-entities.ts';
import type { Temporal } from '../temporal/connect.ts';
import { askStatus } from './release-client.ts';

const ANSWER_TIMEOUT_MS = 10_000;

/** Every release that runs, by name. */
export async function listReleases(temporal: Temporal): Promise<readonly Listed<ReleaseStatus>[]> {
  return listEntities(temporal, RELEASE_WORKFLOW, releaseId(''), (name) =>
    askStatus(temporal, name, ANSWER_TIMEOUT_MS),
  );
}
