import { redact } from '../../domain/core/redact.ts';
import type { UnmeasuredCause } from '../../domain/core/verdict.ts';
import type { Exchanged } from './exchange.ts';

/** What an answer of the admin API comes to. */
export type Judged =
  | { readonly kind: 'success'; readonly body: unknown }
  | {
      readonly kind: 'failure';
      readonly status: number | null;
      readonly why: UnmeasuredCause;
      readonly message: string;
      /** Of a write: `none` where it is certain that nothing was changed. */
      readonly effect: 'none' | 'unknown';
    };

/**
 * The one place where an answer is judged: by its status and by whether its body is one that Keycloak sends, which is
 * JSON or nothing. A page of HTML comes from whatever stands before Keycloak and says nothing about the realm, whatever
 * its status is; above all a 404 like that does not say that a flow is missing.
 */
export function judgeAnswer(exchanged: Exchanged, expects: 'json' | 'anything'): Judged {
  if (exchanged.kind === 'none') {
    const { why, message, effect } = exchanged;
    return { kind: 'failure', status: null, why, message, effect };
  }
  const { status, text } = exchanged;
  const parsed = parse(text);
  if (status >= 200 && status < 300) return judgeSuccess(status, text, parsed, expects);
  const failure = (why: UnmeasuredCause, message: string, effect: 'none' | 'unknown'): Judged => {
    return { kind: 'failure', status, why, message: `${message} (${status})`, effect };
  };
  if (status >= 300 && status < 400) {
    return failure('unparsed', 'it answered with a redirect, which is not followed; correct the url', 'unknown');
  }
  if (status === 429) return failure('throttled', 'it asks to slow down', 'none');
  if (parsed === notJson) {
    const why = status === 401 || status === 403 ? 'denied' : status >= 500 ? 'unreachable' : 'unparsed';
    return failure(why, 'it answered, and not as Keycloak does: something else stands at or before the url', 'unknown');
  }
  const said = saidBy(parsed);
  if (status === 401) return failure('denied', `the token was not accepted${said}`, 'none');
  if (status === 403) return failure('denied', `the service account may not do this${said}`, 'none');
  if (status === 404) return failure('missing', `it is not there${said}`, 'none');
  if (status === 409) return failure('error', `it is there already${said}`, 'none');
  if (status === 408) return failure('timeout', `it gave up${said}`, 'unknown');
  // Keycloak's transaction is rolled back, and yet nobody promises that.
  if (status >= 500) return failure('error', `Keycloak failed${said}`, 'unknown');
  return failure('error', `Keycloak refused it${said}`, 'none');
}

function judgeSuccess(status: number, text: string, parsed: unknown, expects: 'json' | 'anything'): Judged {
  const failure = (why: UnmeasuredCause, message: string): Judged => {
    return { kind: 'failure', status, why, message, effect: 'unknown' };
  };
  if (parsed === notJson) {
    return looksCut(text)
      ? failure('truncated', 'the answer was cut short')
      : failure('unparsed', 'the answer is not JSON: something else stands at or before the url');
  }
  if (expects === 'json' && parsed === undefined) return failure('empty', 'the answer is empty');
  return { kind: 'success', body: parsed };
}

const notJson = Symbol('not JSON');

/** Undefined where there is nothing. */
function parse(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return notJson;
  }
}

function looksCut(text: string): boolean {
  return /^\s*[[{"]/.test(text);
}

/** Keycloak's own sentence, from either of the fields that it has for one; cut and scrubbed. */
function saidBy(body: unknown): string {
  if (typeof body !== 'object' || body === null) return '';
  const fields = body as {
    readonly errorMessage?: unknown;
    readonly error_description?: unknown;
    readonly error?: unknown;
  };
  const said = [fields.errorMessage, fields.error_description, fields.error].find((value) => typeof value === 'string');
  if (said === undefined || said === '') return '';
  return `: ${redact(said.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ').slice(0, 200))}`;
}
