import type { z } from 'zod';
import { read, unmeasured, type Reading } from '../core/verdict.ts';

/** Objects of a list as the API server gives them, in whole and not yet understood. */
export type RawObjects = Reading<readonly unknown[]>;

/**
 * Understands each object of a list. One that is not as expected makes the whole list unmeasured: it may be the one that
 * matters.
 *
 * @param what the list, such as `disruption budgets`
 */
export function readObjects<T>(objects: RawObjects, what: string, schema: z.ZodType<T>): Reading<readonly T[]> {
  if (objects.kind === 'unmeasured') return objects;
  const understood: T[] = [];
  for (const object of objects.value) {
    const parsed = schema.safeParse(object);
    if (!parsed.success) return odd(what, 'API server', `${nameOf(object)} cannot be understood`, parsed.error);
    understood.push(parsed.data);
  }
  return read(understood);
}

/**
 * Understands one answer.
 *
 * @param what the thing that was asked for
 * @param from who has answered
 */
export function readAnswer<T>(answer: Reading<unknown>, what: string, from: string, schema: z.ZodType<T>): Reading<T> {
  if (answer.kind === 'unmeasured') return answer;
  const parsed = schema.safeParse(answer.value);
  return parsed.success ? read(parsed.data) : odd(what, from, 'the answer cannot be understood', parsed.error);
}

function odd(what: string, from: string, message: string, error: z.ZodError): Reading<never> {
  const [issue] = error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return unmeasured(what, from, 'unparsed', `${what}: ${message}: ${where}${issue?.message ?? 'not as expected'}`);
}

function nameOf(object: unknown): string {
  if (typeof object !== 'object' || object === null || !('metadata' in object)) return 'an object without metadata';
  const { metadata } = object;
  if (typeof metadata !== 'object' || metadata === null) return 'an object without metadata';
  const { namespace, name } = metadata as { readonly namespace?: unknown; readonly name?: unknown };
  return [namespace, name].filter((part) => typeof part === 'string').join('/') || 'an object without a name';
}
