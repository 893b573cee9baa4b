import { randomUUID } from 'node:crypto';
import proto from '@temporalio/proto';
import { fail, pass, unmeasured, type Verdict } from '../../domain/core/verdict.ts';
import { KEYCLOAK_FLOW_QUEUE } from '../../workflows/keycloak-flow/messages.ts';
import { NODE_REBOOT_QUEUE, NODE_REBOOT_WAIT_QUEUE } from '../../workflows/node-reboot/messages.ts';
import { RELEASE_QUEUE, RELEASE_WAIT_QUEUE } from '../../workflows/release/messages.ts';
import { CliError } from '../cli-error.ts';
import type { KindName } from '../kind-names.ts';
import { span } from '../output/instants.ts';
import type { Temporal } from '../temporal/connect.ts';
import { explainError } from '../temporal/explain-error.ts';
import { countPollers, startWorker } from '../temporal/pollers.ts';
import { searchAttributes } from '../temporal/search-attributes.ts';
import type { Check } from './check.ts';

/** Windows, soaks and cooldowns are told by Temporal's clock; this far off, people's own clocks mislead them. */
const SKEW_TOLERATED_MS = 5_000;
const TIMEOUT_MS = 10_000;

/**
 * What can be wrong with Temporal once it is reached.
 *
 * @param kinds whose workers are to be there
 */
export async function temporalChecks(temporal: Temporal, kinds: readonly KindName[]): Promise<readonly Check[]> {
  return [
    await check(temporal, 'Temporal', () => server(temporal), null),
    await check(temporal, 'namespace', () => namespace(temporal), createNamespace(temporal.namespace)),
    await checkSearchAttributes(temporal),
    ...(await Promise.all(kinds.map((kind) => checkWorkers(temporal, kind)))),
    await check(temporal, 'clock', () => clock(temporal), 'let NTP set the clock here and on the Temporal server'),
  ];
}

async function server({ connection, address }: Temporal): Promise<Verdict> {
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  return pass(`${address}, version ${serverVersion === '' ? 'not told' : serverVersion}`);
}

async function namespace({ connection, namespace: name }: Temporal): Promise<Verdict> {
  const { config } = await connection.workflowService.describeNamespace({ namespace: name });
  const days = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / 86_400;
  return pass(`${name}, histories of what ended are kept for ${days} ${days === 1 ? 'day' : 'days'}`);
}

async function checkSearchAttributes(temporal: Temporal): Promise<Check> {
  const name = 'search attributes';
  const missing: [string, string][] = [];
  const verdict = await measured(temporal, name, async () => {
    const { customAttributes } = await temporal.connection.operatorService.listSearchAttributes({
      namespace: temporal.namespace,
    });
    const wrong: string[] = [];
    for (const [attribute, type] of Object.entries(searchAttributes)) {
      const found = customAttributes?.[attribute];
      if (found === undefined) missing.push([attribute, type]);
      else if (found !== valueTypes[type]) wrong.push(`${attribute} is no ${type}`);
    }
    if (missing.length > 0) wrong.unshift(`${missing.map(([attribute]) => attribute).join(', ')} missing`);
    return wrong.length === 0
      ? pass('all are registered')
      : fail('SearchAttributes', `${wrong.join('; ')}: workflows cannot start without them`);
  });
  const flags = missing.map(([attribute, type]) => `--name ${attribute} --type ${type}`).join(' ');
  const fix =
    missing.length > 0
      ? `temporal operator search-attribute create --namespace ${temporal.namespace} ${flags}`
      : 'temporal operator search-attribute list shows them; one of a wrong type is removed and created anew';
  return { name, verdict, fix };
}

const types = proto.temporal.api.enums.v1.IndexedValueType;
const valueTypes = {
  Keyword: types.INDEXED_VALUE_TYPE_KEYWORD,
  KeywordList: types.INDEXED_VALUE_TYPE_KEYWORD_LIST,
} as const;

const queues: Readonly<Record<KindName, { readonly name: string; readonly queue: string; readonly more: string }>> = {
  Release: { name: 'workers', queue: RELEASE_QUEUE, more: ` (and on ${RELEASE_WAIT_QUEUE} for waits)` },
  KeycloakFlow: { name: 'workers of login flows', queue: KEYCLOAK_FLOW_QUEUE, more: '' },
  NodeReboot: {
    name: 'workers of reboots',
    queue: NODE_REBOOT_QUEUE,
    more: ` (and on ${NODE_REBOOT_WAIT_QUEUE} for waits)`,
  },
};

function checkWorkers(temporal: Temporal, kind: KindName): Promise<Check> {
  const { name, queue, more } = queues[kind];
  const measure = async (): Promise<Verdict> => {
    const pollers = await countPollers(temporal, queue);
    if (pollers > 0) return pass(`${pollers} on ${queue}${more}`);
    return fail('NoWorker', `none polls ${queue}: nothing is looked at and nothing is carried out`);
  };
  return check(temporal, name, measure, startWorker(queue));
}

/**
 * The server's clock beside ours. Temporal tells its time to nobody, but stamps each poll: so this polls a queue that
 * nobody else knows, where there never is work, and reads when the server saw that.
 */
async function clock(temporal: Temporal): Promise<Verdict> {
  const { client, namespace: name } = temporal;
  const taskQueue = { name: `holdfast-doctor-${randomUUID()}` };
  const taskQueueType = proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW;
  const leave = new AbortController();
  const polled = client.connection.withAbortSignal(leave.signal, () =>
    client.workflowService.pollWorkflowTaskQueue({ namespace: name, taskQueue, identity: 'holdfast doctor' }),
  );
  polled.catch(() => undefined);
  try {
    for (let tries = 0; tries < 20; tries++) {
      const { pollers } = await client.workflowService.describeTaskQueue({ namespace: name, taskQueue, taskQueueType });
      const seen = pollers?.[0]?.lastAccessTime;
      if (seen) return skewVerdict(Number(seen.seconds) * 1000 + (seen.nanos ?? 0) / 1e6 - Date.now());
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return unmeasured('clock of Temporal', temporal.address, 'empty', 'the server did not tell when it saw a poll');
  } finally {
    leave.abort();
  }
}

/** @param skewMs how far the server is ahead of this machine */
export function skewVerdict(skewMs: number): Verdict {
  const apart = Math.abs(skewMs);
  if (apart <= SKEW_TOLERATED_MS) return pass(`Temporal and this machine agree within ${span(SKEW_TOLERATED_MS)}`);
  return fail(
    'ClockSkew',
    `Temporal's clock is ${span(apart)} ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's; windows and cooldowns go by Temporal's`,
  );
}

function createNamespace(name: string): string {
  return `set TEMPORAL_NAMESPACE, or create it: temporal operator namespace create --namespace ${name}`;
}

async function check(
  temporal: Temporal,
  name: string,
  measure: () => Promise<Verdict>,
  fix: string | null,
): Promise<Check> {
  return { name, verdict: await measured(temporal, name, measure), fix };
}

async function measured(temporal: Temporal, what: string, measure: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await temporal.client.withDeadline(Date.now() + TIMEOUT_MS, measure);
  } catch (error) {
    const explained = explainError(error, temporal);
    if (!(explained instanceof CliError)) throw explained;
    return unmeasured(what, temporal.address, 'error', explained.message);
  }
}
