import { unpack } from '../../domain/core/packed.ts';
import type { Evaluation } from '../../domain/release/plan.ts';
import type { ReleaseSpec } from '../../domain/release/spec.ts';
import {
  PLAN_WORKFLOW,
  RELEASE_QUEUE,
  releaseId,
  type PlanInput,
  type PlanOutput,
} from '../../workflows/release/messages.ts';
import { askOnce, type OneLook, type PlanPatience } from '../temporal/ask-once.ts';
import type { Temporal } from '../temporal/connect.ts';

/**
 * What Enforce would do now for a spec, through the worker; nothing is written.
 *
 * @param say hears that no worker works, where that is so
 * @throws CliError, undetermined, where no worker took it up, or came to an end with it, in time
 */
export async function askPlan(
  temporal: Temporal,
  name: string,
  spec: ReleaseSpec,
  say: (line: string) => void,
  patience: PlanPatience,
): Promise<Evaluation> {
  const input: PlanInput = { name, spec };
  const look: OneLook = {
    type: PLAN_WORKFLOW,
    object: releaseId(name),
    taskQueue: RELEASE_QUEUE,
    input,
    summary: `Plan of release ${name}`,
  };
  const { evaluation } = await askOnce<PlanOutput>(temporal, look, say, patience);
  return unpack(evaluation);
}
