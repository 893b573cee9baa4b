import { z } from 'zod';
import { apiVersion, documentSchema } from './metadata.ts';

/** A JSON Schema as a plain object that can be printed. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of a whole document of a kind, for editors: what a person may write, so durations are text and
 * fields with a default are optional.
 *
 * @param kind the kind, such as `Release`
 * @param spec the zod schema of its `spec`
 * @param description what the kind is for, in one sentence
 */
export function jsonSchemaOf(kind: string, spec: z.ZodType, description: string): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(documentSchema(z.literal(kind), spec), {
    io: 'input',
    target: 'draft-2020-12',
  });
  return {
    $schema,
    $id: `https://${apiVersion}/${kind}.schema.json`,
    title: kind,
    description,
    ...schema,
  };
}
