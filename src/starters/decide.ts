import { redact } from '../domain/core/redact.ts';
import type { ReleaseStatus } from '../domain/release/status.ts';
import { formatObjectName, type ObjectName } from './object-name.ts';
import { printData, type Format } from './output/data.ts';
import { print } from './output/print.ts';
import { askStatus, sendAction, type ActionName } from './release/release-client.ts';
import { withTemporal, type Temporal } from './temporal/connect.ts';
import { whoAsks } from './who.ts';

/** What every command that decides takes. */
export interface DecisionOptions {
  readonly as?: string | undefined;
  readonly reason: string;
  readonly output: Format;
}

/**
 * Sends a decision as an Update and says what came of it. What is stale, malformed or about nothing that is there is
 * refused by the workflow, with the reason.
 *
 * @param details the action's own fields; undefined ones are left out
 * @param follow looks what came of it, where that is seen at once; gives the status to print for programs
 */
export async function decide(
  object: ObjectName,
  action: ActionName,
  details: Readonly<Record<string, unknown>>,
  options: DecisionOptions,
  follow?: (temporal: Temporal, status: ReleaseStatus) => Promise<ReleaseStatus>,
): Promise<void> {
  const by = whoAsks(options.as);
  const given = Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
  const payload = { by, reason: redact(options.reason), ...given };
  await withTemporal(async (temporal) => {
    const before = follow === undefined ? null : await askStatus(temporal, object.name);
    const answer = await sendAction(temporal, object.name, action, payload);
    if (options.output === 'table') print(`${formatObjectName(object)}: ${answer.by} ${answer.message}`);
    const followed = before === null ? undefined : await follow?.(temporal, before);
    if (options.output === 'table') return;
    const status = followed ?? (await askStatus(temporal, object.name));
    printData(options.output, { object: formatObjectName(object), ...answer, status });
  });
}
