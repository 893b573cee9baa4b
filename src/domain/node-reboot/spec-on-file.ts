import { parseObjectPath } from './object-path.ts';
import { nodeRebootSpec } from './spec.ts';

/**
 * A NodeReboot's spec as it stands in a file. What would not be carried out is refused there and not found out by a node: a path
 * that is not understood.
 */
export const nodeRebootOnFile = nodeRebootSpec.superRefine(({ gates }, context) => {
  for (const [index, { jsonPath }] of gates.custom.entries()) {
    const parsed = jsonPath === undefined ? null : parseObjectPath(jsonPath);
    if (parsed === null || parsed.ok) continue;
    context.addIssue({ code: 'custom', path: ['gates', 'custom', index, 'jsonPath'], message: parsed.message });
  }
});
