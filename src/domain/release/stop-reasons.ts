/**
 * Reasons of measured verdicts that say nothing about the image: somebody else has changed the workload while it was
 * watched. Never a reason to write over what they did.
 */
export const IMAGE_CHANGED = 'ImageChanged';
export const WORKLOAD_PAUSED = 'WorkloadPaused';

/** True where a failed verdict is about what somebody did to the workload, not about the image. */
export function notOfTheImage(reason: string): boolean {
  return reason === IMAGE_CHANGED || reason === WORKLOAD_PAUSED;
}
