import { z } from 'zod';

/** A realm import, as far as a desired state is rendered from it. An import may hold anything else besides. */

const executionSchema = z.looseObject({
  authenticator: z.string().nullish(),
  flowAlias: z.string().nullish(),
  requirement: z.string().nullish(),
  priority: z.int().nullish(),
  authenticatorConfig: z.string().nullish(),
  authenticatorFlow: z.boolean().nullish(),
  /** As older versions spell it. */
  autheticatorFlow: z.boolean().nullish(),
});
export type ImportExecution = z.output<typeof executionSchema>;

const flowSchema = z.looseObject({
  alias: z.string().min(1),
  topLevel: z.boolean(),
  authenticationExecutions: z.array(executionSchema).nullish(),
});
export type ImportFlow = z.output<typeof flowSchema>;

export const realmImportSchema = z.looseObject({
  realm: z.string(),
  browserFlow: z.string().nullish(),
  authenticationFlows: z.array(flowSchema).nullish(),
  authenticatorConfig: z.array(z.looseObject({ alias: z.string().min(1), config: z.unknown().optional() })).nullish(),
  requiredActions: z.unknown().optional(),
});
export type RealmImport = z.output<typeof realmImportSchema>;
