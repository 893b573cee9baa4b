import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Packed } from '../../domain/core/packed.ts';
import type { ReleaseAction } from '../../domain/release/actions.ts';
import type { RolloutControl } from '../../domain/release/controls.ts';
import type { ReleaseHistory } from '../../domain/release/history.ts';
import type { RolloutState, TargetRollout } from '../../domain/release/rollout.ts';
import type { ReleaseSpec } from '../../domain/release/spec.ts';
import type { ReleaseState } from '../../domain/release/state.ts';
import type { ReleaseStatus } from '../../domain/release/status.ts';
import type { Evaluation } from '../../domain/release/plan.ts';
import type { ActionAnswer } from '../hear-action.ts';

/** Everything that a release's workflows, the CLI and the worker say to each other. Names on the wire stay as they are. */

/** Workflows, reads and writes of releases. */
export const RELEASE_QUEUE = 'holdfast-release';
/** Waits of releases: slots of their own, so that idle waits never starve a rollback. */
export const RELEASE_WAIT_QUEUE = 'holdfast-release-wait';

export const RELEASE_WORKFLOW = 'releaseWorkflow';
export const PLAN_WORKFLOW = 'planRelease';

/** Workflow id of a release. */
export function releaseId(name: string): string {
  return `release/${name}`;
}

/** Workflow id of a release's rollout: one id, so that Temporal itself allows one rollout at a time. */
export function rolloutId(name: string): string {
  return `release/${name}/rollout`;
}

export interface ReleaseInput {
  readonly name: string;
  readonly spec: ReleaseSpec;
  /** Carried through continue-as-new; absent on the first run and after a terminate. */
  readonly carried?: Packed<{ readonly state: ReleaseState; readonly rollout: RolloutState | null }>;
}

export interface RolloutInput {
  readonly state: Packed<RolloutState>;
  /** Workflow id that hears of progress and outcome. */
  readonly reportTo: string;
}

export interface PlanInput {
  readonly name: string;
  readonly spec: ReleaseSpec;
}

export interface PlanOutput {
  readonly evaluation: Packed<Evaluation>;
}

type Kind = ReleaseAction['action'];
/** What a person sends for an action: the action without its name, which is the name of the message. */
export type ActionPayload = Omit<ReleaseAction, 'action'> & Record<string, unknown>;

/** The actions people may take; each is an Update and, for the Temporal UI and CLI, a Signal of the same name. */
export const ACTIONS = [
  'approve',
  'reject',
  'abort',
  'pause',
  'resume',
  'retry',
  'pin',
  'unpin',
  'block',
  'unblock',
  'setMode',
  'applySpec',
  'releaseOwnership',
  'runNow',
] as const satisfies readonly Kind[];

export const statusQuery = defineQuery<ReleaseStatus>('status');
/** The same for programs, packed where it is large. */
export const packedStatusQuery = defineQuery<Packed<ReleaseStatus>>('packedStatus');
export const historyQuery = defineQuery<ReleaseHistory>('history');

export function actionUpdate(name: Kind) {
  return defineUpdate<ActionAnswer, [ActionPayload]>(name);
}

export function actionSignal(name: Kind) {
  return defineSignal<[ActionPayload]>(name);
}

/** From a rollout to its release. */
export type RolloutReport =
  /** One target has gone on. */
  | {
      readonly rollout: string;
      readonly kind: 'target';
      readonly target: TargetRollout;
      readonly stopped: RolloutState['stopped'];
    }
  /** The whole of it: on request, and at the end. */
  | {
      readonly rollout: string;
      readonly kind: 'state';
      readonly state: Packed<RolloutState>;
      readonly finished: boolean;
    }
  /** It was sent something that it could not read, and dropped it. */
  | { readonly rollout: string; readonly kind: 'dropped'; readonly why: string };

export const rolloutReportSignal = defineSignal<[RolloutReport]>('rolloutReport');

/** From a release to its rollout: what people want of it, or to report its whole state to this workflow id from now on. */
export type RolloutMessage = RolloutControl | { readonly kind: 'report'; readonly to: string };

export const rolloutControlSignal = defineSignal<[RolloutMessage]>('control');
export const rolloutStateQuery = defineQuery<RolloutState>('rollout');
