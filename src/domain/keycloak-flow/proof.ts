import { fail, pass, unmeasured, type Reading, type Verdict } from '../core/verdict.ts';
import type { FlowTree, TreeRow } from './tree.ts';

/**
 * Whom a proof logs in as. `member` has a password and is asked for nothing more, `administrator` has a password and an
 * OTP, `bareAdministrator` is an administrator with neither passkey nor OTP.
 */
export const proofRoles = ['member', 'administrator', 'bareAdministrator'] as const;
export type ProofRole = (typeof proofRoles)[number];

/** What a login is tried with, and what it must come to. */
interface ProofCheck {
  /** Who may show it, the first that the spec names. */
  readonly roles: readonly ProofRole[];
  /** In words, for evidence. */
  readonly what: string;
  readonly expects: 'code' | 'noCode' | 'enrolment';
}

/** Everything that a proof may show. */
export const proofChecks = {
  usernameAlone: { roles: ['member', 'administrator'], what: 'a username alone', expects: 'noCode' },
  wrongPassword: { roles: ['member', 'administrator'], what: 'a wrong password', expects: 'noCode' },
  memberLogsIn: { roles: ['member'], what: 'a member with password', expects: 'code' },
  missingSecondFactor: { roles: ['administrator'], what: 'an administrator with password alone', expects: 'noCode' },
  administratorLogsIn: { roles: ['administrator'], what: 'an administrator with password and OTP', expects: 'code' },
  bareAdministrator: {
    roles: ['bareAdministrator'],
    what: 'an administrator with neither passkey nor OTP',
    expects: 'enrolment',
  },
} as const satisfies Record<string, ProofCheck>;
export type ProofCheckName = keyof typeof proofChecks;

/**
 * Where a login ended: at a code, or at a page. `enrolment` is a page that asks to set a factor up, `action` that of any
 * other required action: who comes to either is through the flow.
 */
export type LoginEnd =
  | { readonly kind: 'code' }
  | {
      readonly kind: 'page';
      readonly page: 'username' | 'password' | 'otp' | 'passkey' | 'enrolment' | 'action' | 'error' | 'other';
    };

/** What each check came to; one that was not tried is absent. */
export type ProofReadings = Readonly<Partial<Record<ProofCheckName, Reading<LoginEnd>>>>;

/** What a proof came to. Not made is not passed, and not failed either. Plain JSON. */
export type ProofOutcome =
  | { readonly kind: 'passed'; readonly shown: readonly string[] }
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string }
  | { readonly kind: 'notMade'; readonly reason: string; readonly message: string };

const secondFactors = ['auth-otp-form', 'webauthn-authenticator', 'auth-recovery-authn-code-form'];
const passwords = ['auth-password-form', 'auth-username-password-form'];

/**
 * The checks that a tree is to be put to: logins by password where it has a password form, and the second factor where
 * it asks anybody for one.
 *
 * @param roles whom the spec names; a tree that asks everybody for a second factor has no member
 */
export function requiredChecks(tree: FlowTree, roles: readonly ProofRole[]): ProofCheckName[] {
  const enabled = enabledRows(tree).map((row) => row.name);
  if (!enabled.some((name) => passwords.includes(name))) return ['usernameAlone'];
  if (!enabled.some((name) => secondFactors.includes(name))) return ['usernameAlone', 'wrongPassword', 'memberLogsIn'];
  const member: ProofCheckName[] = roles.includes('member') ? ['memberLogsIn'] : [];
  return [
    'usernameAlone',
    'wrongPassword',
    ...member,
    'missingSecondFactor',
    'administratorLogsIn',
    'bareAdministrator',
  ];
}

/** Who shows a check; null where the spec names nobody who could. */
export function roleFor(check: ProofCheckName, roles: readonly ProofRole[]): ProofRole | null {
  return proofChecks[check].roles.find((role) => roles.includes(role)) ?? null;
}

/** Rows that neither are DISABLED nor stand in a sub-flow that is. */
function enabledRows(tree: FlowTree): TreeRow[] {
  const off: boolean[] = [];
  return tree.filter((row) => {
    off.length = row.level;
    const around = off.includes(true);
    const disabled = row.requirement === 'DISABLED';
    if (row.kind === 'flow') off[row.level] = disabled;
    return !around && !disabled;
  });
}

/**
 * Judges a proof. One login that ended as it must not outweighs everything; one that was not seen leaves it not made.
 *
 * @param required what `requiredChecks` says of the candidate's tree
 */
export function judgeProof(required: readonly ProofCheckName[], readings: ProofReadings): ProofOutcome {
  // Whatever was seen counts, asked for or not: a code that nobody should have got is never no matter.
  const names = [...new Set([...required, ...(Object.keys(readings) as ProofCheckName[])])];
  const verdicts = names.map((name) => ({ name, verdict: judgeCheck(name, readings[name]) }));
  for (const { verdict } of verdicts) {
    if (verdict.kind === 'fail') return { kind: 'failed', reason: verdict.reason, message: verdict.message };
  }
  const shown: string[] = [];
  for (const { name, verdict } of verdicts) {
    if (verdict.kind === 'unmeasured') {
      const message = `the login of ${proofChecks[name].what} was not shown: ${verdict.message}`;
      return { kind: 'notMade', reason: 'NotShown', message };
    }
    if (verdict.kind === 'pass') shown.push(verdict.message ?? '');
  }
  const positive = names.some((name) => proofChecks[name].expects === 'code');
  return positive
    ? { kind: 'passed', shown }
    : {
        kind: 'notMade',
        reason: 'NoLogin',
        message: 'no login by password is part of this flow, so that none was shown to work',
      };
}

function judgeCheck(name: ProofCheckName, reading: Reading<LoginEnd> | undefined): Verdict {
  if (reading === undefined) return unmeasured('a login', 'Holdfast', 'empty', 'it was not tried');
  if (reading.kind === 'unmeasured') return reading;
  return judgeEnd(proofChecks[name], reading.value);
}

function judgeEnd({ what, expects }: ProofCheck, end: LoginEnd): Verdict {
  if (end.kind === 'code') {
    return expects === 'code'
      ? pass(`${what}: logged in`)
      : fail('LoginWithoutFactor', `${what} logged in, which must not be`);
  }
  switch (expects) {
    case 'code':
      return fail('LoginRefused', `${what} did not log in: it ended at the ${end.page} page`);
    case 'noCode':
      if (end.page === 'enrolment' || end.page === 'action') {
        const message = `${what} came through the flow, to a required action, which must not be`;
        return fail('LoginWithoutFactor', message);
      }
      return pass(`${what}: no code, ended at the ${end.page} page`);
    case 'enrolment':
      return end.page === 'enrolment'
        ? pass(`${what}: no code, and only the enrolment page`)
        : fail('NotEnrolment', `${what} came to the ${end.page} page instead of the enrolment page`);
  }
}

/** A proof that could not be begun, with what is missing for it. */
export function proofNotMade(reason: string, message: string): ProofOutcome {
  return { kind: 'notMade', reason, message };
}

/** A proof in words. */
export function describeProof(proof: ProofOutcome | null): string {
  if (proof === null) return 'no login was shown yet';
  switch (proof.kind) {
    case 'passed':
      return `the login proof passed (${proof.shown.length} logins)`;
    case 'failed':
      return `the login proof failed: ${proof.message}`;
    case 'notMade':
      return `the login proof was not made: ${proof.message}`;
  }
}
