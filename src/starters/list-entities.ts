import { CliError } from './cli-error.ts';
import type { Temporal } from './temporal/connect.ts';
import { explainError } from './temporal/explain-error.ts';

/** One entity that runs; without a status it did not answer, and `problem` says why. */
export type Listed<Status> =
  | { readonly name: string; readonly status: Status; readonly problem: null }
  | { readonly name: string; readonly status: null; readonly problem: string };

const AT_ONCE = 20;

/**
 * Every entity of a kind that runs, by name.
 *
 * @param type of the workflow
 * @param prefix of its ids, such as `release/`
 * @param ask for the status of one
 */
export async function listEntities<Status>(
  temporal: Temporal,
  type: string,
  prefix: string,
  ask: (name: string) => Promise<Status>,
): Promise<readonly Listed<Status>[]> {
  const names: string[] = [];
  const query = `WorkflowType = "${type}" AND ExecutionStatus = "Running"`;
  for await (const { workflowId } of temporal.client.workflow.list({ query })) {
    if (workflowId.startsWith(prefix)) names.push(workflowId.slice(prefix.length));
  }
  names.sort();
  const listed: Listed<Status>[] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const answers = await Promise.all(names.slice(at, at + AT_ONCE).map((name) => answerOf(temporal, name, ask)));
    listed.push(...answers);
    if (answers.length < AT_ONCE || answers.some((answer) => answer.status !== null)) continue;
    // Nobody is there: the rest would be as silent, a wait after the other.
    const rest = names.slice(at + AT_ONCE);
    return [...listed, ...rest.map((name) => ({ name, status: null, problem: 'not asked: none before it answered' }))];
  }
  return listed;
}

async function answerOf<Status>(
  temporal: Temporal,
  name: string,
  ask: (name: string) => Promise<Status>,
): Promise<Listed<Status>> {
  try {
    return { name, status: await ask(name), problem: null };
  } catch (error) {
    const explained = explainError(error, temporal);
    if (!(explained instanceof CliError)) throw explained;
    return { name, status: null, problem: explained.message };
  }
}
