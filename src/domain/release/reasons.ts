/*
 * The stable words with which targets say why, beside those of Held (`heldReasons`); programs may branch on them. Each
 * stands in docs/release.md, and a test says so.
 */

/** Why a target could not be judged; its phase is Unknown, or the last one known. */
export const unreadReasons = [
  'AccessDenied',
  'WorkloadMissing',
  'MarksUnreadable',
  'WorkloadUnread',
  'NotObserved',
  'LineUnresolved',
  'RegistryUnreachable',
] as const;
export type UnreadReason = (typeof unreadReasons)[number];

/** Of a target that the plan is about, beside the step that it is at. */
export const plannedReasons = ['Planned', 'Unproven', 'OutOfBand', 'Waiting', 'AwaitingApproval'] as const;
export type PlannedReason = (typeof plannedReasons)[number];

/** What was measured to be wrong with a new image: the target goes back. */
export const failureReasons = [
  'CrashLoopBackOff',
  'ImageAbsent',
  'WrongArchitecture',
  'InvalidImageName',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'RegistryUnavailable',
  'ImageInspectError',
  'SignatureValidationFailed',
  'RolloutTimeout',
  'Unhealthy',
  'NotReady',
  'Restarted',
  'Terminated',
  'CheckFailed',
  'AgentLost',
  'PlacementRefused',
  'PlacementNotRestored',
] as const;

/** How a rollout can end for a target, beside what was measured and what holds it. */
export const outcomeReasons = [
  'Unmeasured',
  'Undone',
  'LeftSpec',
  'Changed',
  'NoRollbackTarget',
  'RollbackDidNotRecover',
] as const;

/** What only a preflight finds; its message begins with one of these, or with a reason of Held. */
export const preflightFindings = ['NotReady', 'Unhealthy', 'Partitioned', 'NoRollbackTarget'] as const;

/** Events on workloads, beside `Held…` with the reason of Held. */
export const eventReasons = [
  'RollingOut',
  'Soaking',
  'Promoted',
  'RollingBack',
  'RolledBack',
  'PlacementsRestored',
  'PreflightFailed',
  'Failed',
  'Drifted',
  'Unknown',
] as const;
