import type { RolloutStep, TargetView } from './plan.ts';
import type { RolloutState, TargetRollout } from './rollout.ts';

/** One target as `status` shows it: what the last evaluation found, overlaid with what a rollout does with it. */
export interface TargetStatus extends Omit<TargetView, 'desiredLabel'> {
  /** What people call the wanted image. */
  readonly label: string | null;
}

/** Steps of a rollout as people see them; those that are ours alone belong to the step before. */
export const shownSteps: Readonly<Record<TargetRollout['step'], RolloutStep | null>> = {
  Waiting: null,
  Preflight: 'Preflight',
  Approval: 'Approval',
  Patching: 'Patching',
  Rolling: 'Rolling',
  Restoring: 'Rolling',
  Soaking: 'Soaking',
  Passing: 'Soaking',
  RollingBack: 'RollingBack',
  Recovering: 'Recovering',
  Done: null,
};

/** The targets of a release in the order of its spec. */
export function targetStatuses(views: readonly TargetView[], rollout: RolloutState | null): readonly TargetStatus[] {
  const rolling = new Map(rollout?.targets.map((t) => [t.item.target, t]) ?? []);
  return views.map((view) => {
    const target = rolling.get(view.name);
    const { desiredLabel, ...shown } =
      target === undefined || rollout === null ? view : overlaid(view, target, rollout);
    return { ...shown, label: desiredLabel };
  });
}

function overlaid(view: TargetView, target: TargetRollout, rollout: RolloutState): TargetView {
  const { item, outcome, rollbackTo } = target;
  const common = { ...view, desired: item.to, desiredLabel: item.toLabel };
  if (outcome !== null) {
    const back = target.wentBack && rollbackTo !== null;
    return {
      ...common,
      phase: outcome.phase,
      step: null,
      reason: outcome.reason,
      message: outcome.message,
      current: back ? rollbackTo.image : target.changed ? item.to : view.current,
      rollbackTo: rollbackTo?.image ?? view.rollbackTo,
    };
  }
  const step = target.wentBack ? 'Recovering' : shownSteps[target.step];
  if (step === null) return { ...common, phase: 'Pending', step, reason: 'Waiting', message: waitsFor(rollout) };
  const asked = step === 'Approval';
  return {
    ...common,
    phase: asked ? 'Pending' : 'RollingOut',
    step,
    reason: asked ? 'AwaitingApproval' : (target.failure?.reason ?? step),
    message: asked ? `${item.toLabel} waits for an approval` : (target.failure?.message ?? says(step, item.toLabel)),
    current: target.wentBack && rollbackTo !== null ? rollbackTo.image : target.changed ? item.to : item.from,
    rollbackTo: rollbackTo?.image ?? view.rollbackTo,
  };
}

function waitsFor(rollout: RolloutState): string {
  if (rollout.stopped !== null) return `not started: ${rollout.stopped.message}`;
  return 'waits for the targets before it';
}

function says(step: RolloutStep, label: string): string {
  switch (step) {
    case 'Preflight':
      return `the running image is checked before ${label} is rolled`;
    case 'Approval':
    case 'Patching':
      return `${label} is written`;
    case 'Rolling':
      return `${label} rolls; its gate follows`;
    case 'Soaking':
      return `${label} passed its gate and soaks`;
    case 'RollingBack':
      return 'the way back is written';
    case 'Recovering':
      return 'waits until the image before is healthy again';
  }
}
