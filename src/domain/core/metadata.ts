import { z } from 'zod';

/** The version of every document that this release reads. */
export const apiVersion = 'holdfast.dev/v1alpha1';

/** The name of a document: an RFC 1123 label, since it becomes part of workflow ids, labels and annotations. */
export const nameSchema = z
  .string()
  .regex(
    /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    'expected a name of at most 63 lower-case letters, digits and -, which begins and ends with a letter or digit',
  )
  .describe('Unique among documents of its kind; becomes part of the workflow id.');

/** What a document is, for messages. */
export const documentForm = 'a document with apiVersion, kind, metadata and spec';

/** What every document says about itself. */
export const metadataSchema = z.strictObject({ name: nameSchema });

/**
 * The schema of a whole document of a kind: `apiVersion`, `kind`, `metadata.name` and the kind's own `spec`.
 *
 * @param kind the schema of the kind's name: a literal, or an enum of all kinds while it is not known
 */
export function documentSchema<Kind extends z.ZodType, Spec extends z.ZodType>(kind: Kind, spec: Spec) {
  return z.strictObject(
    {
      apiVersion: z.literal(apiVersion).describe('The version of this form.'),
      kind,
      metadata: metadataSchema,
      spec,
    },
    { error: (issue) => (issue.code === 'invalid_type' ? `expected ${documentForm}` : undefined) },
  );
}
