import { z } from 'zod';

/**
 * What a capability may do. `Observe` reads and reports, `Shadow` also says what Enforce would do, `Enforce` does it.
 * Only Enforce writes.
 */
export const modes = ['Observe', 'Shadow', 'Enforce'] as const;

/** One of the three modes. */
export type Mode = (typeof modes)[number];

/** A mode in a spec; each spec gives it the default Shadow. */
export const modeSchema = z
  .enum(modes)
  .describe('Observe reports, Shadow also plans and writes nothing, Enforce carries the plan out.');

/** True where the mode lets a capability write to the outside. */
export function mayWrite(mode: Mode): boolean {
  return mode === 'Enforce';
}

/** True where the mode asks for a plan: Shadow prints the plan that Enforce would carry out. */
export function plans(mode: Mode): boolean {
  return mode !== 'Observe';
}

/** The one of two modes that allows less. */
export function narrower(a: Mode, b: Mode): Mode {
  return modes.indexOf(a) <= modes.indexOf(b) ? a : b;
}
