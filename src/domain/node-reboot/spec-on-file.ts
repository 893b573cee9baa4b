import { z } from 'zod';
import { parseObjectPath } from './object-path.ts';
import { nodeRebootSpec } from './spec.ts';

/**
 * A NodeReboot's spec as it stands in a file. What this version would not carry out is refused there and not found out by a
 * node: a method that it does not use, a path that it does not understand.
 */
export const nodeRebootOnFile = nodeRebootSpec
  .safeExtend({
    method: z
      .strictObject({
        pod: z
          .strictObject({})
          .describe('A privileged pod on the node itself, with the image that the worker is told.'),
        command: z
          .never({ error: () => 'method command is not carried out by this version: write method: { pod: {} }' })
          .optional(),
      })
      .prefault({ pod: {} }),
  })
  .superRefine(({ gates }, context) => {
    for (const [index, { jsonPath }] of gates.custom.entries()) {
      const parsed = jsonPath === undefined ? null : parseObjectPath(jsonPath);
      if (parsed === null || parsed.ok) continue;
      context.addIssue({ code: 'custom', path: ['gates', 'custom', index, 'jsonPath'], message: parsed.message });
    }
  });
