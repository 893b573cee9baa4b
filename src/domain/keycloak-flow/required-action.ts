import { enrolmentAction } from './desired.ts';
import type { RequiredAction, UnregisteredAction } from './representation.ts';

/**
 * Required actions that Keycloak (26.x) makes with every realm. They are looked at and never repaired: an import with a
 * `requiredActions` block replaces the whole list, and their absence is its mark.
 */
const guarded = [
  'CONFIGURE_TOTP',
  'TERMS_AND_CONDITIONS',
  'UPDATE_PASSWORD',
  'UPDATE_PROFILE',
  'VERIFY_EMAIL',
  'VERIFY_PROFILE',
  'delete_account',
  'delete_credential',
  'update_user_locale',
  'webauthn-register',
] as const;

/** What is to be done about the enrolment action. */
export type RequiredActionState =
  | { readonly kind: 'asDeclared' }
  | { readonly kind: 'drifted'; readonly differences: readonly string[] }
  /** The server has it, the realm lacks it. It is never registered from here. */
  | { readonly kind: 'unregistered'; readonly message: string }
  /** The server does not have it: passkeys cannot be enrolled at all. */
  | { readonly kind: 'notOnServer'; readonly message: string };

/**
 * Compares the enrolment action with what is declared (enabled, and no default action).
 *
 * @param unregistered what the server has and the realm lacks, which is asked only where the action is missing
 */
export function requiredActionState(
  actions: readonly RequiredAction[],
  unregistered: readonly UnregisteredAction[],
): RequiredActionState {
  const found = actions.find((action) => action.alias === enrolmentAction);
  if (found === undefined) return missing(unregistered);
  const differences = [
    ...(found.enabled ? [] : [`${enrolmentAction} is not enabled`]),
    ...(found.defaultAction ? [`${enrolmentAction} is a default action, so that every new user is asked`] : []),
  ];
  return differences.length === 0 ? { kind: 'asDeclared' } : { kind: 'drifted', differences };
}

function missing(unregistered: readonly UnregisteredAction[]): RequiredActionState {
  const known = unregistered.find((action) => action.providerId === enrolmentAction);
  if (known === undefined) {
    const message = `${enrolmentAction} is neither in the realm nor on the server: the feature web-authn is off, so that no passkey could be enrolled`;
    return { kind: 'notOnServer', message };
  }
  const message = `required action "${known.name ?? enrolmentAction}" (${enrolmentAction}) is not registered in the realm; register it in the admin console under Authentication, Required actions`;
  return { kind: 'unregistered', message };
}

/** The default actions that are missing. They are told of and never put back. */
export function missingDefaultActions(actions: readonly RequiredAction[]): string[] {
  return guarded.filter((alias) => !actions.some((action) => action.alias === alias));
}

/** The body of the PUT: all that was read, with the two fields as they are to be. */
export function requiredActionBody(action: RequiredAction): RequiredAction {
  return { ...action, enabled: true, defaultAction: false };
}
