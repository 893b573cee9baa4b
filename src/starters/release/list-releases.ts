import type { ReleaseStatus } from '../../domain/release/status.ts';
import { RELEASE_WORKFLOW, releaseId } from '../../workflows/release/messages.ts';
import { CliError } from '../cli-error.ts';
import type { Temporal } from '../temporal/connect.ts';
import { explainError } from '../temporal/explain-error.ts';
import { askStatus } from './release-client.ts';

/** One release that runs; without a status it did not answer, and `problem` says why. */
export type Listed =
  | { readonly name: string; readonly status: ReleaseStatus; readonly problem: null }
  | { readonly name: string; readonly status: null; readonly problem: string };

const ANSWER_TIMEOUT_MS = 10_000;
const AT_ONCE = 20;

/** Every release that runs, by name. */
export async function listReleases(temporal: Temporal): Promise<readonly Listed[]> {
  const names: string[] = [];
  const query = `WorkflowType = "${RELEASE_WORKFLOW}" AND ExecutionStatus = "Running"`;
  for await (const { workflowId } of temporal.client.workflow.list({ query })) {
    if (workflowId.startsWith(releaseId(''))) names.push(workflowId.slice(releaseId('').length));
  }
  names.sort();
  const listed: Listed[] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const answers = await Promise.all(names.slice(at, at + AT_ONCE).map((name) => ask(temporal, name)));
    listed.push(...answers);
    if (answers.length < AT_ONCE || answers.some((answer) => answer.status !== null)) continue;
    // Nobody is there: the rest would be as silent, a wait after the other.
    const rest = names.slice(at + AT_ONCE);
    return [...listed, ...rest.map((name) => ({ name, status: null, problem: 'not asked: none before it answered' }))];
  }
  return listed;
}

async function ask(temporal: Temporal, name: string): Promise<Listed> {
  try {
    return { name, status: await askStatus(temporal, name, ANSWER_TIMEOUT_MS), problem: null };
  } catch (error) {
    const explained = explainError(error, temporal);
    if (!(explained instanceof CliError)) throw explained;
    return { name, status: null, problem: explained.message };
  }
}
