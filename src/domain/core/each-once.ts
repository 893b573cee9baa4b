import type { z } from 'zod';

/**
 * A check of a list in which nothing may stand twice. The later one is told, as a problem of its own.
 *
 * @param nameOf what tells one from another, as people read it
 * @param field where in the item it stands [the item itself]
 */
export function eachOnce<T>(nameOf: (item: T) => string, ...field: readonly string[]) {
  return (items: readonly T[], context: z.RefinementCtx): void => {
    const names = items.map(nameOf);
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) === index) continue;
      context.addIssue({ code: 'custom', path: [index, ...field], message: `${name} is named already` });
    }
  };
}
