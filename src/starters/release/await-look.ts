import { setTimeout as sleep } from 'node:timers/promises';
import type { ReleaseStatus } from '../../domain/release/status.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import type { Temporal } from '../temporal/connect.ts';
import { askStatus } from './release-client.ts';

const PATIENCE_MS = 15_000;
const EVERY_MS = 500;

/**
 * The first status after a decision in which the release has looked at the world again. A decision is followed by a look
 * at once, save where a rollout goes on first or nothing is evaluated.
 *
 * @param before the status right before the decision
 * @returns null where it has not looked in time, or will not now
 */
export async function awaitLook(
  temporal: Temporal,
  before: ReleaseStatus,
  { patienceMs = PATIENCE_MS, everyMs = EVERY_MS } = {},
): Promise<ReleaseStatus | null> {
  if (before.rollout !== null || before.phase === 'Suspended') return null;
  for (let waited = 0; waited < patienceMs; waited += everyMs) {
    await sleep(everyMs);
    const status = await askStatus(temporal, before.name).catch(() => null);
    if (status !== null && looked(before, status)) return status;
  }
  return null;
}

function looked(before: ReleaseStatus, after: ReleaseStatus): boolean {
  if (after.rollout !== null || after.evaluatedAt !== before.evaluatedAt) return true;
  return JSON.stringify(after.targets) !== JSON.stringify(before.targets);
}

/** What a pin came to, for people, and as an exit code: that there is no such image is measured. */
export function pinOutcome(status: ReleaseStatus | null, object: string): { message: string; exitCode: ExitCode } {
  const see = `holdfast status ${object}`;
  if (status === null) {
    return { message: `what it comes to is seen at the next look: ${see}`, exitCode: exitCodes.done };
  }
  const unresolved = status.targets.find(({ reason }) => reason === 'LineUnresolved');
  if (unresolved !== undefined) return { message: unresolved.message, exitCode: exitCodes.failed };
  const unread = status.targets.find(({ reason }) => reason === 'RegistryUnreachable');
  if (unread !== undefined) return { message: unread.message, exitCode: exitCodes.undetermined };
  return { message: `it is there; follow it: ${see} --watch`, exitCode: exitCodes.done };
}
