import { z } from 'zod';
import { desiredStateSchema, type DesiredState } from './desired.ts';
import { keycloakFlowSpec, type KeycloakFlowSpec } from './spec.ts';

/**
 * A KeycloakFlow's spec as it stands in a file: what is declared is in it, or in a file of its own that it names, as
 * `holdfast render` keeps it current.
 */
export const keycloakFlowOnFile = z
  .strictObject({
    ...keycloakFlowSpec.shape,
    desired: desiredStateSchema.optional().describe('What the realm is to be, in place.'),
    desiredFile: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .describe('A file with what the realm is to be, from the folder of this file on.'),
  })
  .superRefine(({ desired, desiredFile }, context) => {
    if ((desired === undefined) !== (desiredFile === undefined)) return;
    const both = desired !== undefined;
    const message = both ? 'expected desired or desiredFile, not both' : 'expected desired, or desiredFile';
    context.addIssue({ code: 'custom', path: both ? ['desiredFile'] : [], message });
  });

type OnFile = z.output<typeof keycloakFlowOnFile>;

/** The whole spec, once what it names was read. */
export function withDesired(
  { desiredFile: _named, desired: _inPlace, ...spec }: OnFile,
  desired: DesiredState,
): KeycloakFlowSpec {
  return { ...spec, desired };
}
