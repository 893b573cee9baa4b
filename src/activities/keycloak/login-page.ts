import type { LoginEnd } from '../../domain/keycloak-flow/proof.ts';
import { readForms, type HtmlForm } from './html-forms.ts';

/** A page of a login. */
export interface LoginPage {
  readonly page: Extract<LoginEnd, { kind: 'page' }>['page'];
  /** The form that says what is asked for, of whichever flow or action it is; an error asks for nothing. */
  readonly form: HtmlForm | null;
}

/** Asks to set a factor up: the ids that Keycloak's login themes (26.x, `base` and all that extend it) give to the forms. */
const enrolmentForms: readonly string[] = ['kc-totp-settings-form', 'register', 'kc-recovery-codes-settings-form'];

/** What these forms ask for is no factor of a login, so that a login ends at them, whether the flow or an action shows them. */
const otherForms: readonly string[] = [
  'kc-passwd-update-form',
  'kc-update-profile-form',
  'kc-update-email-form',
  'kc-register-form',
  'kc-select-credential-form',
  'kc-reset-password-form',
];

/**
 * What a page of Keycloak asks for, by the ids of its forms and the names of their fields, never by its words, which are
 * of any language.
 *
 * @returns null where it is no page of Keycloak's own themes, or not the whole of one
 */
export function readLoginPage(html: string): LoginPage | null {
  const read = readForms(html);
  if (read === null) return null;
  const only = (id: string) => {
    const found = read.forms.filter((form) => form.id === id);
    return found.length === 1 ? found[0] : undefined;
  };
  const onlyOf = (ids: readonly string[]) => ids.map(only).find((form) => form !== undefined);
  const login = only('kc-form-login');
  if (login !== undefined) return loginForm(login);
  const otp = only('kc-otp-login-form');
  if (otp !== undefined) return has(otp, 'otp') ? { page: 'otp', form: otp } : null;
  const enrolment = onlyOf(enrolmentForms);
  // A page that looks like one, and is shown by an authenticator, is none.
  if (enrolment !== undefined) return isAction(enrolment) ? { page: 'enrolment', form: enrolment } : null;
  // Beside the form for a username it is the passkey that browsers offer in its field, and no page of its own.
  const passkey = only('webauth');
  if (passkey !== undefined) return { page: 'passkey', form: passkey };
  const other = onlyOf(otherForms);
  if (other !== undefined) return { page: isAction(other) ? 'action' : 'other', form: other };
  return read.ids.has('kc-error-message') ? { page: 'error', form: null } : null;
}

/** True for the form of a required action, which comes when the flow itself is through. */
export function isAction(form: HtmlForm): boolean {
  return form.action.includes('/login-actions/required-action?');
}

/** True where a form asks for this. */
export function has(form: HtmlForm, name: string): boolean {
  return form.fields.some((field) => field.name === name && field.type !== 'hidden');
}

function loginForm(form: HtmlForm): LoginPage | null {
  if (has(form, 'username')) return { page: 'username', form };
  return has(form, 'password') ? { page: 'password', form } : null;
}
