import type { Client, WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import type { ReleaseAction } from '../../src/domain/release/actions.ts';
import { releaseSpec, type ReleaseSpecInput } from '../../src/domain/release/spec.ts';
import type { ReleaseStatus } from '../../src/domain/release/status.ts';
import { createLogger } from '../../src/worker/logger.ts';
import {
  actionSignal,
  actionUpdate,
  RELEASE_QUEUE,
  releaseId,
  rolloutId,
  statusQuery,
} from '../../src/workflows/release/messages.ts';
import { releaseWorkflow } from '../../src/workflows/release/workflow.ts';
import { waitFor } from '../lab/wait.ts';
import type { ActionAnswer } from '../../src/workflows/hear-action.ts';

/** A release that runs on the lab's Temporal. */
export interface AppliedRelease {
  /** As Temporal and the targets' marks know it, without `release/`. */
  readonly name: string;
  readonly handle: WorkflowHandle<typeof releaseWorkflow>;
  status(): Promise<ReleaseStatus>;
  /** Waits until the status is as told; the last one is in the error where it never was. */
  until(what: string, holds: (status: ReleaseStatus) => boolean, timeoutMs?: number): Promise<ReleaseStatus>;
  /** Takes an action by Update, as the command line does. */
  act(action: ReleaseAction['action'], payload?: Record<string, unknown>): Promise<ActionAnswer>;
  /** Takes an action by Signal, as the Temporal UI does. */
  signal(action: ReleaseAction['action'], payload?: Record<string, unknown>): Promise<void>;
  /** Ends the release and its rollout as somebody who terminates them would; they get no chance to act. */
  terminate(): Promise<void>;
  /** Terminates what still runs and replays every history of this release against the workflows as they are. */
  end(): Promise<void>;
}

/** Who acts where a test does not say. */
const SOMEBODY = { by: 'ana', reason: '' };

/** Starts a release from a spec as people write it. */
export async function applyRelease(client: Client, name: string, spec: ReleaseSpecInput): Promise<AppliedRelease> {
  const handle = await client.workflow.start(releaseWorkflow, {
    workflowId: releaseId(name),
    taskQueue: RELEASE_QUEUE,
    args: [{ name, spec: releaseSpec.parse(spec) }],
  });
  const ids = [releaseId(name), rolloutId(name)];

  async function terminate(): Promise<void> {
    for (const id of ids) {
      try {
        await client.workflow.getHandle(id).terminate('the test is over');
      } catch (error) {
        if (!/not found|already completed/i.test(String(error))) throw error;
      }
    }
  }

  return {
    name,
    handle,
    status: () => handle.query(statusQuery),
    async until(what, holds, timeoutMs = 90_000) {
      let last: ReleaseStatus | null = null;
      try {
        return await waitFor(
          what,
          async () => {
            last = await handle.query(statusQuery);
            return holds(last) ? last : null;
          },
          timeoutMs,
        );
      } catch (error) {
        throw new Error(`${String(error)}; last status: ${JSON.stringify(last, null, 1)}`, { cause: error });
      }
    },
    act: (action, payload = {}) => handle.executeUpdate(actionUpdate(action), { args: [{ ...SOMEBODY, ...payload }] }),
    signal: (action, payload = {}) => handle.signal(actionSignal(action), { ...SOMEBODY, ...payload }),
    terminate,
    async end() {
      await terminate();
      for (const id of ids) await replayRuns(client, id);
    },
  };
}

/** Replays every run of a workflow id. @throws DeterminismViolationError where one goes another way than it went */
async function replayRuns(client: Client, workflowId: string): Promise<void> {
  const runs: string[] = [];
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) runs.push(runId);
  const workflowBundle = await bundle();
  for (const runId of runs) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    await Worker.runReplayHistory({ workflowBundle }, history, workflowId);
  }
}

let bundled: ReturnType<typeof bundleWorkflowCode> | null = null;

function bundle(): ReturnType<typeof bundleWorkflowCode> {
  bundled ??= bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)),
    logger: createLogger('error'),
  });
  return bundled;
}
