import type { z } from 'zod';

/** The fields of an action, or why it is refused. */
export type PayloadRead =
  { readonly ok: true; readonly payload: object } | { readonly ok: false; readonly message: string };

/**
 * Reads what came with an action off the wire.
 *
 * @param action the name of the message
 * @param payload the message's argument, of any shape
 */
export function readActionPayload(action: string, schema: z.ZodType<object>, payload: unknown): PayloadRead {
  const parsed = schema.safeParse(payload ?? {});
  if (parsed.success) return { ok: true, payload: parsed.data };
  const found = parsed.error.issues.map((issue) => `${issue.path.join('.') || action}: ${issue.message}`);
  return { ok: false, message: `${action} refused: ${found.join('; ')}` };
}
