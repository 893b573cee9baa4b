/**
 * The three answers a reading can give. Everything that Holdfast decides goes through this type, so that the compiler
 * makes each caller say what it does when something could not be measured.
 */
export type Verdict = Pass | Fail | Unmeasured;

/** Measured, and as it should be. */
export interface Pass {
  readonly kind: 'pass';
  /** What was seen, for the evidence. */
  readonly message?: string;
}

/** Measured, and not as it should be. */
export interface Fail {
  readonly kind: 'fail';
  /** One CamelCase word that programs may branch on, such as `CrashLoopBackOff`. */
  readonly reason: string;
  /** A sentence for people, which names the thing. */
  readonly message: string;
}

/** Not measured. Never a reason to roll back, bind, reboot, delete or proceed. */
export interface Unmeasured {
  readonly kind: 'unmeasured';
  /** What could not be measured, such as `GET /api/health of pod shop/web-7d9f`. */
  readonly what: string;
  /** From where it was tried, such as `API server pod proxy`. */
  readonly from: string;
  /** Why it could not be measured. */
  readonly why: UnmeasuredCause;
  /** A sentence for people. */
  readonly message: string;
}

/**
 * Denied, missing, timed out, truncated and empty are different things, and none of them is a value. `not-served`: the
 * server does not know the kind of thing, so that it cannot say that one of them is absent.
 */
export type UnmeasuredCause =
  | 'denied'
  | 'missing'
  | 'not-served'
  | 'timeout'
  | 'unreachable'
  | 'truncated'
  | 'empty'
  | 'unparsed'
  | 'throttled'
  | 'not-ready'
  | 'error';

/** A passing verdict. */
export function pass(message?: string): Pass {
  return message === undefined ? { kind: 'pass' } : { kind: 'pass', message };
}

/** A measured failure. */
export function fail(reason: string, message: string): Fail {
  return { kind: 'fail', reason, message };
}

/** A reading that could not be made. */
export function unmeasured(what: string, from: string, why: UnmeasuredCause, message: string): Unmeasured {
  return { kind: 'unmeasured', what, from, why, message };
}

/**
 * Several verdicts as one: a failure outweighs what could not be measured, which outweighs passes. No verdicts at all
 * is unmeasured: an empty list proves nothing.
 */
export function allOf(verdicts: readonly Verdict[], what: string): Verdict {
  const failed = verdicts.find((v) => v.kind === 'fail');
  if (failed) return failed;
  const unknown = verdicts.find((v) => v.kind === 'unmeasured');
  if (unknown) return unknown;
  if (verdicts.length === 0) return unmeasured(what, 'Holdfast', 'empty', `nothing was read for ${what}`);
  return pass(
    verdicts
      .map((v) => (v.kind === 'pass' ? v.message : undefined))
      .filter((m) => m !== undefined)
      .join('; '),
  );
}

/** A value that was read, or why it could not be. */
export type Reading<T> = { readonly kind: 'read'; readonly value: T } | Unmeasured;

/** A successful reading. */
export function read<T>(value: T): Reading<T> {
  return { kind: 'read', value };
}

/** Tells what could not be measured from what was asked for. */
export function isUnmeasured(value: object): value is Unmeasured {
  return 'kind' in value && value.kind === 'unmeasured';
}
