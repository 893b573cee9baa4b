import type { Mode } from '../core/mode.ts';

/** A role of `realm-management` that the service account needs. */
export interface NeededRole {
  readonly role: string;
  /** Any of these does as well, and is more than is needed. */
  readonly insteadOf: readonly string[];
  readonly why: string;
}

const reading: readonly NeededRole[] = [
  {
    role: 'view-realm',
    insteadOf: ['manage-realm'],
    why: 'reads the realm, its login flows and its required actions',
  },
  {
    role: 'view-clients',
    insteadOf: ['manage-clients'],
    why: "reads which flow each client has in place of the realm's, so that none in use is written to",
  },
  {
    role: 'view-identity-providers',
    insteadOf: ['manage-identity-providers'],
    why: 'reads which flow each identity provider leads to, so that none in use is written to',
  },
  {
    role: 'view-events',
    insteadOf: ['manage-events'],
    why: 'reads the admin events, to notice an edit that a write went over',
  },
];

const writing: NeededRole = {
  role: 'manage-realm',
  insteadOf: [],
  why: 'writes policy, required action and candidates, and binds; it holds view-realm',
};

/** The roles that a mode needs, each with the reason. Enforce needs all that Observe and Shadow need, and one that writes. */
export function neededRoles(mode: Mode): readonly NeededRole[] {
  return mode === 'Enforce' ? [...reading.filter(({ role }) => role !== 'view-realm'), writing] : reading;
}

/** What a service account has, beside what it needs. */
export interface RolesJudged {
  readonly lacking: readonly NeededRole[];
  /** Roles that nothing here needs in that mode. */
  readonly spare: readonly string[];
}

/** Composite parts of the roles above; they come with them. */
const parts = ['query-clients', 'query-realms', 'query-users', 'query-groups'];

/** @param roles of `realm-management`, as the token names them */
export function judgeRoles(roles: readonly string[], mode: Mode): RolesJudged {
  const needed = neededRoles(mode);
  const lacking = needed.filter(({ role, insteadOf }) => ![role, ...insteadOf].some((name) => roles.includes(name)));
  const wanted = new Set([...needed.map(({ role }) => role), ...reading.map(({ role }) => role), ...parts]);
  return { lacking, spare: roles.filter((role) => !wanted.has(role)) };
}
