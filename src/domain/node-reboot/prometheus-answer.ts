import { z } from 'zod';
import { read, unmeasured, type Reading } from '../core/verdict.ts';
import { readAnswer } from './read-objects.ts';

/** One series of an instant query. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  /** NaN where Prometheus says so. */
  readonly value: number;
}

/** An alerting rule that Prometheus has loaded. */
export interface LoadedRule {
  readonly name: string;
  /** Its last evaluation succeeded: `unknown` before the first one. */
  readonly health: string;
  readonly lastError: string;
}

const from = 'Prometheus';

const failedSchema = z.object({ status: z.literal('error'), errorType: z.string(), error: z.string() });

/** As Go writes a float. */
const sampleValue = z.string().regex(/^(NaN|[+-]?Inf|-?\d+(\.\d+)?(e[+-]\d+)?)$/, 'expected a number');

const sampleSchema = z
  .object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), sampleValue]) })
  .transform(({ metric, value: [, value] }): Sample => ({
    labels: metric,
    value: Number(value.replace('Inf', 'Infinity')),
  }));

const vectorSchema = z.object({
  status: z.literal('success'),
  warnings: z.array(z.string()).nullish(),
  data: z.object({ resultType: z.literal('vector'), result: z.array(sampleSchema) }),
});

const ruleSchema = z.object({
  type: z.string(),
  name: z.string(),
  health: z.string(),
  lastError: z.string().nullish(),
});

const rulesSchema = z.object({
  status: z.literal('success'),
  data: z.object({
    groups: z.array(z.object({ rules: z.array(ruleSchema) })),
    groupNextToken: z.string().nullish(),
  }),
});

/**
 * Reads the series of an instant query (`/api/v1/query`), none as well: who asks knows how many there are to be. Warnings
 * make it truncated, since a federated store gives them with partial results.
 */
export function readSamples(answer: Reading<unknown>, what: string): Reading<readonly Sample[]> {
  const body = readAnswer(succeeded(answer, what), what, from, vectorSchema);
  if (body.kind === 'unmeasured') return body;
  const [warning] = body.value.warnings ?? [];
  if (warning !== undefined)
    return unmeasured(what, from, 'truncated', `${what}: the answer may be partial: ${warning}`);
  return read(body.value.data.result);
}

/** Reads the alerting rules that are loaded (`/api/v1/rules`); recording rules are left out. */
export function readRules(answer: Reading<unknown>): Reading<readonly LoadedRule[]> {
  const what = 'the rules of Prometheus';
  const body = readAnswer(succeeded(answer, what), what, from, rulesSchema);
  if (body.kind === 'unmeasured') return body;
  const { groups, groupNextToken } = body.value.data;
  if (typeof groupNextToken === 'string' && groupNextToken !== '') {
    return unmeasured(what, from, 'truncated', `${what}: there are more pages than were read`);
  }
  const rules = groups.flatMap((group) => group.rules).filter(({ type }) => type === 'alerting');
  return read(rules.map(({ name, health, lastError }) => ({ name, health, lastError: lastError ?? '' })));
}

/** An answer that says itself that it failed. */
function succeeded(answer: Reading<unknown>, what: string): Reading<unknown> {
  if (answer.kind === 'unmeasured') return answer;
  const failed = failedSchema.safeParse(answer.value);
  if (!failed.success) return answer;
  const { errorType, error } = failed.data;
  return unmeasured(what, from, errorType === 'timeout' ? 'timeout' : 'error', `${what}: ${errorType}: ${error}`);
}
