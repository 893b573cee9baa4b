import type { TargetAddress } from '../../domain/release/address.ts';
import type { TargetEvent } from '../../domain/release/events.ts';
import type { Placement } from '../../domain/release/observation.ts';
import type { ObservationOnTheWire } from '../../domain/release/observation-wire.ts';
import type { LastWrite, MarksPatch, Result, StuckPod, WriteResult } from '../../domain/release/rollout.ts';
import type { Incumbent } from '../../domain/release/incumbents.ts';
import type { Agents, Check, Health, ReleaseSpec } from '../../domain/release/spec.ts';

/**
 * The single calls of a release, as its workflows see them (by `import type` only). Each is safe to repeat: Temporal
 * runs an activity again whenever it cannot know how the last try ended.
 *
 * Reads and waits never throw for what the outside says (that is a Verdict or a Reading); they throw only for
 * cancellation and for faults of ours.
 */
export interface ReleaseActivities {
  /** Reads once everything that one evaluation needs. */
  observe(input: ObserveInput): Promise<ObservationOnTheWire>;
  /**
   * Reads every `pollIntervalMs` and returns the first observation whose fingerprint is not `known`, or the last one when
   * `until` has come. One activity in the history however long it waits. Heartbeats.
   */
  awaitChange(input: ObserveInput & AwaitChange): Promise<ObservationOnTheWire>;
  /** Reads what must hold before a target is touched, and what is needed to bring it back. Writes nothing. */
  preflight(input: PreflightInput): Promise<ResultOf<'preflight'>>;
  /**
   * Writes image and marks in one patch, after reading the incumbents again and only where the image still is `from` and
   * no other run of the release has written since; reads the object back. Finding image and marks already as wanted, by
   * an earlier try or by a run before a reset, is `written` with `repeated`.
   */
  writeImage(input: WriteImageInput): Promise<WriteResult>;
  /** Writes marks alone, in one patch, without touching the pod template; only where the image is the one they are about. */
  writeMarks(input: WriteMarksInput): Promise<WriteResult>;
  /** Watches workload and pods until the rollout is proven or has failed; then asks the gate. Heartbeats. */
  watchRollout(input: WatchRolloutInput): Promise<WatchRolloutResult>;
  /** Watches through the soak and returns on the first failure, or when it has passed. Heartbeats. */
  watchSoak(input: WatchSoakInput): Promise<ResultOf<'watchSoak'>>;
  /** Writes back the placements that the swap has moved, agent by agent, and reads them again. */
  restorePlacements(input: RestorePlacementsInput): Promise<ResultOf<'restorePlacements'>>;
  /** Deletes a pod that keeps a StatefulSet from going back; only that one, by uid. One that is gone is `written`. */
  deletePod(input: DeletePodInput): Promise<WriteResult>;
  /** Kubernetes events on the targets' workloads. Best effort: a refused event is returned, never thrown. */
  emitEvents(input: EmitEventsInput): Promise<EmitEventsResult>;
}

export type ResultOf<K extends Result['of']> = Extract<Result, { of: K }>;

export interface ObserveInput {
  /** Name of the release, without `release/`. */
  readonly release: string;
  readonly spec: ReleaseSpec;
  /** A person's pin, which outranks the spec's; null where there is none. */
  readonly pin: string | null;
}

export interface AwaitChange {
  readonly known: string;
  readonly pollIntervalMs: number;
  /** Epoch milliseconds. */
  readonly until: number;
}

export interface PreflightInput {
  readonly release: string;
  readonly target: TargetAddress;
  /** The image as the plan saw it. */
  readonly from: string;
  readonly health: Health;
  readonly agents: Agents;
  /** Recorded human override: the running image need not pass the gate. */
  readonly skipGate: boolean;
  readonly incumbents: readonly Incumbent[];
}

export interface WriteImageInput {
  readonly release: string;
  readonly target: TargetAddress;
  readonly from: string;
  readonly to: string;
  readonly marks: MarksPatch;
  /** As the preflight saw it. Null for a rollback, which goes by the image alone: nothing may keep a bad one in place. */
  readonly lastWrite: LastWrite | null;
  /** Read again right before the write; one that is active or unreadable refuses it. Empty for a rollback. */
  readonly incumbents: readonly Incumbent[];
}

export interface WriteMarksInput {
  readonly release: string;
  readonly target: TargetAddress;
  /** What the marks are about; null for marks that hold whatever the image is. */
  readonly image: string | null;
  readonly marks: MarksPatch;
}

export interface WatchRolloutInput {
  readonly release: string;
  readonly target: TargetAddress;
  /** `repo:tag@sha256:…` that the template must have all the while. */
  readonly image: string;
  readonly health: Health;
  readonly agents: Agents;
  /** Placements before the change; agents that were there must be there again. Null where not read. */
  readonly placements: readonly Placement[] | null;
  /** Epoch milliseconds by which the new pods must be ready. */
  readonly deadline: number;
  /** From ready pods to a passed gate. */
  readonly gateTimeoutMs: number;
  /** The way back is watched: a pod that keeps a StatefulSet from going back is told at once as `stuck`. */
  readonly recovering: boolean;
}

export type WatchRolloutResult = ResultOf<'watchRollout'> & { readonly stuck: StuckPod | null };

export interface WatchSoakInput {
  readonly release: string;
  readonly target: TargetAddress;
  readonly image: string;
  readonly health: Health;
  readonly agents: Agents;
  readonly placements: readonly Placement[] | null;
  /** Restart counts per `podUid/container` when the gate passed. */
  readonly restarts: Readonly<Record<string, number>>;
  readonly checks: readonly Check[];
  readonly probeIntervalMs: number;
  readonly minimumSamples: number;
  /** Epoch milliseconds at which the soak may pass. */
  readonly until: number;
}

export interface RestorePlacementsInput {
  readonly release: string;
  readonly target: TargetAddress;
  readonly image: string;
  readonly agents: Agents;
  readonly placements: readonly Placement[];
}

export interface DeletePodInput {
  readonly release: string;
  readonly target: TargetAddress;
  readonly pod: string;
  readonly uid: string;
}

export interface EmitEventsInput {
  readonly release: string;
  readonly events: readonly TargetEvent[];
}

export interface EmitEventsResult {
  readonly refused: readonly { readonly key: string; readonly message: string }[];
}
