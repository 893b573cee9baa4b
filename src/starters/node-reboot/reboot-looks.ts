import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeRebootStatus } from '../../domain/node-reboot/status.ts';
import type { Temporal } from '../temporal/connect.ts';
import { patiently } from '../temporal/patiently.ts';
import { askRebootStatus } from './reboot-client.ts';

const EVERY_MS = 1_000;
const LOOK_TIMEOUT_MS = 15_000;

/**
 * Looks at a NodeReboot again and again, until the signal aborts or the caller stops. Outlives restarts of worker and
 * server; looking costs nothing in the workflow's history.
 *
 * @param say hears why a look was not to be had
 * @throws CliError, undetermined, after five minutes without one
 */
export async function* rebootLooks(
  temporal: Temporal,
  name: string,
  options: { readonly signal: AbortSignal; readonly say: (line: string) => void },
): AsyncGenerator<{ readonly status: NodeRebootStatus }, void, undefined> {
  const { signal, say } = options;
  const attempt = patiently(temporal, say);
  while (!signal.aborted) {
    const status = await attempt(() => askRebootStatus(temporal, name, LOOK_TIMEOUT_MS));
    if (status !== null) yield { status };
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
