import { allOf, fail, pass, unmeasured, type Reading, type Verdict } from '../../core/verdict.ts';
import type { GateReading } from '../gate.ts';
import type { GatesSpec } from '../gates-spec.ts';

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

/**
 * As many results as the spec says, and each of them as it says. An object of which the JSONPath yields nothing proves
 * nothing.
 */
export function customGate({ results }: CustomFacts, spec: CustomSpec): GateReading {
  return { gate: `custom.${spec.name}`, verdict: judge(results, spec), lift: null };
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
  // Prometheus writes a sample's 1 in this way only.
  const wanted = spec.equals ?? '1';
  return allOf(
    results.value.map((result) => judgeResult(result, wanted, what, sourceOf(spec))),
    what,
  );
}

function judgeResult({ name, values }: CustomResult, wanted: string, what: string, from: string): Verdict {
  if (values.length === 0) return unmeasured(what, from, 'empty', `${what}: nothing is found in ${name}`);
  const other = values.find((value) => value !== wanted);
  if (other === undefined) return pass(`${name} is ${wanted}`);
  return fail('NotAsExpected', `${what}: ${name} is ${JSON.stringify(other.slice(0, 80))}, and is to be "${wanted}"`);
}

function sourceOf({ query }: CustomSpec): string {
  return query === undefined ? 'API server' : 'Prometheus';
}
