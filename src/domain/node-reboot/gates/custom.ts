import { z } from 'zod';
import { allOf, fail, pass, read, unmeasured, type Reading, type Verdict } from '../../core/verdict.ts';
import type { GateReading } from '../gate.ts';
import type { GatesSpec } from '../gates-spec.ts';
import { parseObjectPath, valuesAt } from '../object-path.ts';
import { readSamples } from '../prometheus-answer.ts';
import { readObjects, type RawObjects } from '../read-objects.ts';

/** What came of a gate of the operator's own. */
export interface CustomFacts {
  readonly results: Reading<readonly CustomResult[]>;
}

/** One object with all that the JSONPath yields of it, or one sample with its value. */
export interface CustomResult {
  /** NAMESPACE/NAME of the object, or the labels of the sample. */
  readonly name: string;
  readonly values: readonly string[];
}

export type CustomSpec = GatesSpec['custom'][number];

const objectSchema = z.looseObject({
  metadata: z.looseObject({ namespace: z.string().optional(), name: z.string() }),
});

/** @param objects all of the gate's kind, within its namespace if it names one */
export function readCustomObjects(objects: RawObjects, { name, jsonPath = '' }: CustomSpec): CustomFacts {
  const what = `gate ${name}`;
  const parsed = parseObjectPath(jsonPath);
  if (!parsed.ok) return { results: unmeasured(what, 'the spec', 'unparsed', `${what}: ${parsed.message}`) };
  const understood = readObjects(objects, what, objectSchema);
  if (understood.kind === 'unmeasured') return { results: understood };
  const results = understood.value.map((object) => {
    const { namespace, name: own } = object.metadata;
    return { name: namespace === undefined ? own : `${namespace}/${own}`, values: valuesAt(object, parsed.path) };
  });
  return { results: read(results) };
}

/** @param answer of `/api/v1/query` for the gate's query */
export function readCustomSamples(answer: Reading<unknown>, { name }: CustomSpec): CustomFacts {
  const samples = readSamples(answer, `gate ${name}`);
  if (samples.kind === 'unmeasured') return { results: samples };
  return {
    results: read(samples.value.map(({ labels, value }) => ({ name: JSON.stringify(labels), values: [`${value}`] }))),
  };
}

/**
 * As many results as the spec says, and each of them as it says. An object of which the JSONPath yields nothing proves
 * nothing.
 */
export function customGate({ results }: CustomFacts, spec: CustomSpec): GateReading {
  return { gate: `custom.${spec.name}`, verdict: judge(results, spec), lift: liftOf(spec) };
}

function liftOf({ query, resource, jsonPath = '', equals = '' }: CustomSpec): string {
  if (query !== undefined) return `bring each sample of ${query} to 1`;
  return `bring ${jsonPath} of each ${resource?.kind ?? 'object'} to "${equals}"`;
}

function judge(results: Reading<readonly CustomResult[]>, spec: CustomSpec): Verdict {
  if (results.kind === 'unmeasured') return results;
  const count = results.value.length;
  const what = `gate ${spec.name}`;
  if (count !== spec.results) {
    const message = `${what} has ${count} results, and is to have ${spec.results}`;
    return count === 0 ? unmeasured(what, sourceOf(spec), 'empty', message) : fail('ResultsMissing', message);
  }
  if (count === 0) return pass(`${what} has no results, as it is to be`);
  const wanted = spec.equals ?? '1';
  return allOf(
    results.value.map((result) => judgeResult(result, wanted, what, sourceOf(spec))),
    what,
  );
}

function judgeResult({ name, values }: CustomResult, wanted: string, what: string, from: string): Verdict {
  if (values.length === 0) return unmeasured(what, from, 'empty', `${what}: nothing is found in ${name}`);
  if (values.every((value) => value === wanted)) return pass(`${name} is ${wanted}`);
  // What it is instead is not told: a path may lead to any field that the worker may read, and this goes to whoever sees status.
  return fail('NotAsExpected', `${what}: ${name} is to be "${wanted}", and is not`);
}

function sourceOf({ query }: CustomSpec): string {
  return query === undefined ? 'API server' : 'Prometheus';
}
