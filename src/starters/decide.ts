import { redact } from '../domain/core/redact.ts';
import { formatObjectName, type ObjectName } from './object-name.ts';
import { printData, type Format } from './output/data.ts';
import { print } from './output/print.ts';
import { sendAction, type ActionName } from './release/release-client.ts';
import { withTemporal } from './temporal/connect.ts';
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
 */
export async function decide(
  object: ObjectName,
  action: ActionName,
  details: Readonly<Record<string, unknown>>,
  options: DecisionOptions,
): Promise<void> {
  const by = whoAsks(options.as);
  const given = Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
  const payload = { by, reason: redact(options.reason), ...given };
  const answer = await withTemporal((temporal) => sendAction(temporal, object.name, action, payload));
  if (options.output === 'table') print(`${formatObjectName(object)}: ${answer.by} ${answer.message}`);
  else printData(options.output, { object: formatObjectName(object), ...answer });
}
