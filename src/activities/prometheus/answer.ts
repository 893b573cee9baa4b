import { read, unmeasured, type Reading, type Unmeasured, type UnmeasuredCause } from '../../domain/core/verdict.ts';

/** What the query API answers, as far as it is looked at. */
interface QueryAnswer {
  readonly status?: unknown;
  readonly errorType?: unknown;
  readonly error?: unknown;
  readonly warnings?: unknown;
  readonly data?: { readonly resultType?: unknown; readonly result?: unknown };
}

/**
 * Reads the answer to an instant query: the one number in it, or why there is none.
 *
 * The API answers 400 for a query it cannot parse, 422 for one it cannot execute and 503 for one that took too long,
 * each with a JSON body that names `errorType`; anything else comes from whatever stands in front of it.
 * (prometheus.io, HTTP API, "Format overview".)
 */
export function readAnswer(status: number, body: string, what: string, from: string): Reading<number> {
  const not = (why: UnmeasuredCause, message: string) => unmeasured(what, from, why, message);
  const answer = succeeded(status, body, not);
  return answer.kind === 'read' ? single(answer.value, not) : answer;
}

/** The whole answer of one that succeeded, not understood any further. */
export function readBody(status: number, body: string, what: string, from: string): Reading<unknown> {
  return succeeded(status, body, (why, message) => unmeasured(what, from, why, message));
}

type Not = (why: UnmeasuredCause, message: string) => Unmeasured;

function succeeded(status: number, body: string, not: Not): Reading<QueryAnswer> {
  if (status === 401 || status === 403) return not('denied', `Prometheus refused the query with ${status}`);
  if (status === 429) return not('throttled', 'Prometheus asks to slow down (429)');
  const answer = parse(body);
  if (answer === null) {
    return status === 200
      ? not('unparsed', 'the answer is not JSON: is this address a Prometheus?')
      : not(status >= 500 ? 'unreachable' : 'error', `the answer is ${status} and not JSON`);
  }
  if (answer.status !== 'success') {
    const type = text(answer.errorType) || `status ${status}`;
    return not(type === 'timeout' ? 'timeout' : 'error', `the query failed (${type}): ${text(answer.error)}`);
  }
  return read(answer);
}

function single(answer: QueryAnswer, not: Not): Reading<number> {
  // Partial results of a federated store (Thanos, Mimir) come with warnings: some of the series may be missing.
  if (Array.isArray(answer.warnings) && answer.warnings.length > 0) {
    return not('truncated', `the answer may be partial: ${text(answer.warnings[0])}`);
  }
  const { resultType, result } = answer.data ?? {};
  if (resultType === 'scalar') return number(result, not);
  if (resultType !== 'vector' || !Array.isArray(result)) {
    return not('unparsed', `the query answers with a ${text(resultType) || 'value of no type'}, not with one value`);
  }
  if (result.length === 0) return not('empty', 'the query has no data');
  if (result.length > 1) {
    return not('error', `the query answers with ${result.length} series; aggregate it to one`);
  }
  const sample: unknown = result[0];
  if (typeof sample !== 'object' || sample === null || !('value' in sample)) {
    return not('unparsed', 'the one series has no value');
  }
  return number(sample.value, not);
}

/** A sample is `[seconds, "number"]`, the number as text since it may be NaN or infinite. */
function number(sample: unknown, not: Not): Reading<number> {
  const raw: unknown = Array.isArray(sample) ? sample[1] : undefined;
  if (typeof raw !== 'string') return not('unparsed', 'the sample is not [time, "value"]');
  if (raw === 'NaN') return not('empty', 'the value is NaN: there was nothing to divide by');
  if (raw === '+Inf' || raw === 'Inf') return read(Number.POSITIVE_INFINITY);
  if (raw === '-Inf') return read(Number.NEGATIVE_INFINITY);
  const value = raw.trim() === '' ? Number.NaN : Number(raw);
  return Number.isNaN(value) ? not('unparsed', 'the value is not a number') : read(value);
}

function parse(body: string): QueryAnswer | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 300) : '';
}
