import { redact } from '../domain/core/redact.ts';
import type { ReleaseStatus } from '../domain/release/status.ts';
import { askStatusOf, requireAction, sendActionTo, type AnyActionName, type Status } from './by-kind.ts';
import { CliError } from './cli-error.ts';
import { sayOnInterrupt } from './interrupt.ts';
import type { AwaitDecision } from './keycloak-flow/await-decision.ts';
import { formatObjectName, type ObjectName } from './object-name.ts';
import { printData, type Format } from './output/data.ts';
import { print } from './output/print.ts';
import { withTemporal, type Temporal } from './temporal/connect.ts';
import { explainError } from './temporal/explain-error.ts';
import { whoAsks } from './who.ts';

/** What every command that decides takes. */
export interface DecisionOptions {
  readonly as?: string | undefined;
  readonly reason: string;
  readonly output: Format;
}

/** Looks what came of a decision, by kind, where that is seen soon; gives the status to print for programs. */
export interface AfterDecision {
  readonly Release?: (temporal: Temporal, before: ReleaseStatus) => Promise<ReleaseStatus>;
  readonly KeycloakFlow?: AwaitDecision;
  /** What follows takes an hour, and has a status of its own. */
  readonly NodeReboot?: undefined;
}

/**
 * Sends a decision as an Update and says what came of it. What is stale, malformed or about nothing that is there is
 * refused by the workflow, with the reason.
 *
 * @param details the action's own fields; undefined ones are left out
 */
export async function decide(
  object: ObjectName,
  action: AnyActionName,
  details: Readonly<Record<string, unknown>>,
  options: DecisionOptions,
  after: AfterDecision = {},
): Promise<void> {
  requireAction(object, action);
  const by = whoAsks(options.as);
  const given = Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
  const payload = { by, reason: redact(options.reason), ...given };
  let sent = false;
  const answered = sayOnInterrupt(() => (sent ? mayTakeEffect(object) : `Left; ${nothingDecided}`));
  try {
    await withTemporal(async (temporal) => {
      const before = after[object.kind] === undefined ? null : await statusBefore(temporal, object, action);
      sent = true;
      const answer = await sendActionTo(temporal, object, action, payload);
      answered();
      if (options.output === 'table') print(`${formatObjectName(object)}: ${answer.by} ${answer.message}`);
      const followed = before === null ? undefined : await follow(temporal, before, after);
      if (options.output === 'table') return;
      const status = followed ?? (await askStatusOf(temporal, object));
      printData(options.output, { object: formatObjectName(object), ...answer, status });
    });
  } finally {
    answered();
  }
}

async function follow(temporal: Temporal, before: Status, after: AfterDecision): Promise<Status | undefined> {
  switch (before.kind) {
    case 'Release':
      return after.Release?.(temporal, before);
    case 'KeycloakFlow':
      return after.KeycloakFlow?.(temporal, before);
    case 'NodeReboot':
      return undefined;
  }
}

const nothingDecided = 'nothing was sent, so that nothing was decided';

function mayTakeEffect(object: ObjectName): string {
  return `Left; whether it takes effect is not known; look: holdfast status ${formatObjectName(object)}`;
}

/** How it is before the decision, which is not sent where that cannot be asked. */
async function statusBefore(temporal: Temporal, object: ObjectName, action: AnyActionName): Promise<Status> {
  try {
    return await askStatusOf(temporal, object);
  } catch (error) {
    const explained = explainError(error, temporal);
    if (!(explained instanceof CliError)) throw error;
    const byHand =
      action === 'rollback'
        ? '; where people are locked out, go back without Holdfast: docs/keycloak-flow.md, "Locked out"'
        : '';
    throw new CliError(explained.exitCode, `${nothingDecided}: ${explained.message}${byHand}`);
  }
}
