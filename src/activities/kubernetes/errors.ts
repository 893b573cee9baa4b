import { redact } from '../../domain/core/redact.ts';
import { unmeasured } from '../../domain/core/verdict.ts';
import type { Unmeasured, UnmeasuredCause } from '../../domain/core/verdict.ts';
import type { Answer, HttpAnswer } from './answer.ts';
import type { InvalidCause, WriteOutcome } from './port.ts';

/**
 * The one place where an answer of the API server is judged. Decided by status code and `Status.reason` (the stable
 * part of the API, apimachinery metav1.StatusReason), never by message text. Messages for people hold the API server's
 * own sentence, cut and scrubbed; never a header or a raw body.
 */

/** The fields of a `metav1.Status` that Holdfast reads. */
export interface ApiStatus {
  readonly reason: string;
  readonly message: string;
  readonly name?: string;
  readonly retryAfterMs?: number;
  readonly causes: readonly InvalidCause[];
}

interface Judgement {
  readonly why: UnmeasuredCause;
  readonly message: string;
  /** Whether the same reading may succeed a moment later. */
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  /** What a write with this answer came to. */
  readonly write: 'conflict' | 'missing' | 'denied' | 'invalid' | 'unknown' | 'rejected';
  readonly causes: readonly InvalidCause[];
}

/** Reads a `metav1.Status` from a body; undefined when the body is something else, such as a proxy's HTML page. */
export function parseStatus(body: string): ApiStatus | undefined {
  const value = parseJson(body);
  if (!isRecord(value) || value.kind !== 'Status') return undefined;
  const details = isRecord(value.details) ? value.details : {};
  const causes = Array.isArray(details.causes) ? details.causes.filter(isRecord).map(causeOf) : [];
  const seconds = details.retryAfterSeconds;
  return {
    reason: text(value.reason) ?? '',
    message: text(value.message) ?? '',
    ...(text(details.name) === undefined ? {} : { name: text(details.name) ?? '' }),
    ...(typeof seconds === 'number' && seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {}),
    causes,
  };
}

/**
 * Judges an answer that is no success.
 * @param secret leaves the API server's own words out, since a refusal may quote the value that it refuses.
 */
export function judge(answer: Answer, secret = false): Judgement {
  if (answer.kind === 'none') {
    const write = answer.sent ? 'unknown' : 'rejected';
    return { why: answer.cause, message: answer.message, retryable: answer.retryable, write, causes: [] };
  }
  const status = parseStatus(answer.body);
  const said = status === undefined || secret ? '' : clean(status.message);
  const base = judgeCode(answer.status, status);
  const wait = answer.retryAfterMs ?? status?.retryAfterMs;
  return {
    ...base,
    message: `${said === '' ? base.message : said} (HTTP ${answer.status}${status?.reason ? ` ${status.reason}` : ''})`,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    causes: (status?.causes ?? []).map((cause) => (secret ? withoutMessage(cause) : cause)),
  };
}

type Base = Omit<Judgement, 'causes' | 'retryAfterMs'>;

function judgeCode(code: number, status: ApiStatus | undefined): Base {
  if (code === 401)
    return { why: 'denied', message: 'the credentials were refused', retryable: false, write: 'denied' };
  if (code === 403) return { why: 'denied', message: 'forbidden', retryable: false, write: 'denied' };
  if (code === 404 && status?.reason === 'NotFound') {
    // The API server names the object that it looked for; where it does not know the resource, it names nothing.
    const why = status.name === undefined ? 'not-served' : 'missing';
    return { why, message: 'not found', retryable: false, write: 'missing' };
  }
  if (code === 404) {
    // Some other server, or a path that this one does not know: no proof that the object is absent.
    return {
      why: 'unparsed',
      message: 'a 404 that is no answer of a Kubernetes API',
      retryable: false,
      write: 'unknown',
    };
  }
  if (code === 409) return { why: 'error', message: 'conflict', retryable: false, write: 'conflict' };
  if (code === 410)
    return { why: 'error', message: 'the version asked for is gone', retryable: false, write: 'invalid' };
  if (code === 408 || code === 504)
    return { why: 'timeout', message: 'the API server timed out', retryable: true, write: 'unknown' };
  if (code === 429) return { why: 'throttled', message: 'throttled', retryable: true, write: 'rejected' };
  if (code === 500 && status?.reason === 'ServerTimeout')
    return { why: 'timeout', message: 'the API server timed out', retryable: true, write: 'unknown' };
  if (code === 500)
    return { why: 'error', message: 'internal error of the API server', retryable: true, write: 'unknown' };
  if (code === 502 || code === 503)
    return { why: 'unreachable', message: 'the API server is unavailable', retryable: true, write: 'unknown' };
  if (code > 500) return { why: 'error', message: 'error of the API server', retryable: false, write: 'unknown' };
  if (code >= 400)
    return { why: 'error', message: 'the API server refused the request', retryable: false, write: 'invalid' };
  return { why: 'unparsed', message: 'no answer that a Kubernetes API gives', retryable: false, write: 'unknown' };
}

/** A reading that failed, as a value. */
export function unmeasuredBy(what: string, from: string, answer: Answer, secret = false): Unmeasured {
  const judged = judge(answer, secret);
  return unmeasured(what, from, judged.why, `${what}: ${judged.message}`);
}

/** A write that did not succeed, as a value. */
export function outcomeOf(
  what: string,
  answer: Answer,
  secret = false,
): Exclude<WriteOutcome<never>, { kind: 'written' }> {
  const judged = judge(answer, secret);
  const message = `${what}: ${judged.message}`;
  switch (judged.write) {
    case 'conflict':
    case 'missing':
    case 'denied':
      return { kind: judged.write, message };
    case 'invalid':
      return { kind: 'invalid', message, causes: judged.causes };
    case 'unknown':
    case 'rejected':
      return {
        kind: 'unknown',
        cause: judged.why,
        message,
        ...(judged.write === 'rejected' ? { effect: 'none' as const } : {}),
        ...(judged.retryAfterMs === undefined ? {} : { retryAfterMs: judged.retryAfterMs }),
      };
  }
}

/** A 2xx whose body cannot be used: cut short or something else. A write with such an answer probably took effect. */
export function unusable(answer: HttpAnswer): { readonly why: UnmeasuredCause; readonly message: string } {
  const body = answer.body.trim();
  if (body === '') return { why: 'empty', message: `the answer (HTTP ${answer.status}) has no body` };
  // A JSON text that starts as an object and does not end as one was cut; anything else was never JSON.
  if (body.startsWith('{') && parseJson(body) === undefined) {
    const cut = !body.endsWith('}');
    return cut
      ? {
          why: 'truncated',
          message: `the answer (HTTP ${answer.status}) ends in the middle, after ${body.length} characters`,
        }
      : { why: 'unparsed', message: `the answer (HTTP ${answer.status}) is no valid JSON` };
  }
  const type = answer.contentType === '' ? 'no content type' : clean(answer.contentType);
  return {
    why: 'unparsed',
    message: `the answer (HTTP ${answer.status}, ${type}) is not the object that was asked for`,
  };
}

/** JSON, or undefined. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Text of others, fit to be shown: one line, cut, without anything that looks like a credential. */
export function clean(message: string): string {
  const line = redact(message.slice(0, 8_000)).replace(/\s+/g, ' ').trim();
  return line.length <= 500 ? line : `${line.slice(0, 499)}…`;
}

function causeOf(cause: Record<string, unknown>): InvalidCause {
  const field = text(cause.field);
  const reason = text(cause.reason);
  const message = text(cause.message);
  return {
    ...(field === undefined ? {} : { field }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message: clean(message) }),
  };
}

function withoutMessage({ field, reason }: InvalidCause): InvalidCause {
  return { ...(field === undefined ? {} : { field }), ...(reason === undefined ? {} : { reason }) };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
