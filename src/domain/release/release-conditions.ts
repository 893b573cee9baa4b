import { counted } from '../core/counted.ts';
import { setCondition, type Condition } from '../core/conditions.ts';
import { incumbentHolds } from './incumbents.ts';
import type { Observation } from './observation.ts';
import type { Evaluation, TargetView } from './plan.ts';
import { releasePhase } from './release-phase.ts';
import type { ReleaseState } from './state.ts';

/** Types of a release's conditions; `Ready`, `Reconciling` and `Stalled` mean what they mean in Flux. */
export const releaseConditionTypes = [
  'Ready',
  'Reconciling',
  'Stalled',
  'RegistryReachable',
  'Degraded',
  'IncumbentActive',
] as const;
export type ReleaseConditionType = (typeof releaseConditionTypes)[number];

/** Reasons of conditions beside the release's phases and the reasons of its targets. */
export const conditionReasons = [
  'Progressing',
  'Idle',
  'NotStalled',
  'Resolved',
  'Unreachable',
  'AsExpected',
  'NoneActive',
  'Active',
] as const;

interface Said {
  readonly type: ReleaseConditionType;
  readonly status: Condition['status'];
  readonly reason: string;
  readonly message: string;
}

/**
 * The conditions after an evaluation. A condition keeps the instant of its last change as long as its status does.
 *
 * @param observation null where nothing was read, because the release is suspended
 */
export function releaseConditions(
  before: readonly Condition[],
  evaluation: Evaluation,
  observation: Observation | null,
  { spec, generation }: Pick<ReleaseState, 'spec' | 'generation'>,
  now: number,
): readonly Condition[] {
  const suspended = observation === null;
  const said: Said[] = [
    ready(evaluation, suspended),
    reconciling(evaluation),
    stalled(evaluation),
    registryReachable(evaluation),
    degraded(evaluation),
    ...(observation === null ? [] : [incumbentActive(spec, observation)]),
  ];
  return said.reduce(
    (conditions, condition) => setCondition(conditions, { ...condition, observedGeneration: generation }, now),
    before,
  );
}

function ready(evaluation: Evaluation, suspended: boolean): Said {
  const phase = releasePhase(suspended, evaluation, evaluation.targets, null, false);
  if (phase === 'Current') {
    return {
      type: 'Ready',
      status: 'True',
      reason: phase,
      message: `${counted(evaluation.targets.length, 'target runs', 'targets run')} what is wanted`,
    };
  }
  const first =
    evaluation.targets.find((t) => t.phase !== 'Current') ?? evaluation.targets.find((t) => t.reason !== '');
  const message = suspended ? (evaluation.modeReason ?? '') : first === undefined ? '' : named(first);
  return { type: 'Ready', status: phase === 'Unknown' ? 'Unknown' : 'False', reason: phase, message };
}

function reconciling(evaluation: Evaluation): Said {
  const { items } = evaluation.plan;
  const goes = goesOn(evaluation);
  const [first] = items;
  return {
    type: 'Reconciling',
    status: goes ? 'True' : 'False',
    reason: goes ? 'Progressing' : 'Idle',
    message: goes ? `${counted(items.length, 'target')} to ${first?.toLabel ?? ''}` : '',
  };
}

function goesOn(evaluation: Evaluation): boolean {
  return evaluation.plan.items.length > 0 && evaluation.effectiveMode === 'Enforce';
}

/** Nothing goes on until a person does something. */
function stalled(evaluation: Evaluation): Said {
  const stuck = goesOn(evaluation)
    ? undefined
    : evaluation.targets.find(
        (t) => t.phase === 'Failed' || t.phase === 'RolledBack' || (t.phase === 'Held' && t.reason === 'SecondWriter'),
      );
  return {
    type: 'Stalled',
    status: stuck === undefined ? 'False' : 'True',
    reason: stuck === undefined ? 'NotStalled' : reasonOf(stuck),
    message: stuck === undefined ? '' : named(stuck),
  };
}

function registryReachable(evaluation: Evaluation): Said {
  const unread = evaluation.targets.find((t) => t.reason === 'RegistryUnreachable');
  return evaluation.registryReachable
    ? { type: 'RegistryReachable', status: 'True', reason: 'Resolved', message: '' }
    : {
        type: 'RegistryReachable',
        status: 'False',
        reason: 'Unreachable',
        message: unread === undefined ? 'a line could not be resolved, as its targets say' : named(unread),
      };
}

function degraded(evaluation: Evaluation): Said {
  const bad = evaluation.targets.filter((t) => t.phase === 'RolledBack' || t.phase === 'Failed');
  const [first] = bad;
  return {
    type: 'Degraded',
    status: first === undefined ? 'False' : 'True',
    reason: first === undefined ? 'AsExpected' : reasonOf(first),
    message: first === undefined ? '' : named(first),
  };
}

function incumbentActive(spec: ReleaseState['spec'], observation: Observation): Said {
  const active = incumbentHolds(observation.incumbents, spec.incumbents.length);
  return {
    type: 'IncumbentActive',
    status: active.length === 0 ? 'False' : 'True',
    reason: active.length === 0 ? 'NoneActive' : 'Active',
    message: active.join('; '),
  };
}

/** A condition's reason is never empty. */
function reasonOf(target: TargetView): string {
  return target.reason === '' ? target.phase : target.reason;
}

function named(target: TargetView): string {
  return `${target.name} is ${target.phase}: ${target.message}`;
}
