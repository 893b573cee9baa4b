import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { readForms } from '../../../src/activities/keycloak/html-forms.ts';
import { readLoginPage } from '../../../src/activities/keycloak/login-page.ts';
import { recordedPage, type RecordedPage } from './recorded-pages.ts';

const html = (body: string) => `<!DOCTYPE html><html><body>${body}</body></html>`;
const action = 'https://login.example.com/realms/shop/login-actions/authenticate?execution=e';

describe('the forms of a page', () => {
  test('are read with their fields, whatever the quotes, the case and the escapes', () => {
    const page = html(
      `<FORM ID=f Action='/a?b=1&amp;c=2&#38;d=&#x22;' method="POST"><input name="u" value="a &lt; b"/><input type=hidden name=h value=1><br/><input type="radio" name="r" value="2" checked></FORM>`,
    );
    expect(readForms(page)?.forms).toEqual([
      {
        id: 'f',
        action: '/a?b=1&c=2&d="',
        method: 'post',
        fields: [
          { name: 'u', type: 'text', value: 'a < b', checked: false },
          { name: 'h', type: 'hidden', value: '1', checked: false },
          { name: 'r', type: 'radio', value: '2', checked: true },
        ],
      },
    ]);
  });

  test('that stand in a comment, a script or a text are no forms', () => {
    const page = html(
      `<!-- <form id="a"> --><script>document.write('<form id="b">')</script><textarea><form id="c"></textarea><p>1 < 2</p>`,
    );
    expect(readForms(page)).toEqual({ forms: [], ids: new Set() });
  });

  test.each([
    ['it is cut off', '<html><body><form id="f">'],
    ['it ends within a tag', '<html><body><form id="f"'],
    ['a form stands in a form', html('<form id="f"><form id="g"></form></form>')],
    ['a form is closed twice', html('<form id="f"></form></form>')],
    ['a form is not closed', html('<form id="f">')],
    ['a script does not end', html('<script>')],
    ['a comment does not end', html('<!-- ')],
    ['a quote does not end', html('<form id="f></form>')],
    ['it is no page', 'Service Unavailable'],
  ])('are not guessed at where %s', (_, text) => {
    expect(readForms(text)).toBeNull();
  });

  property.prop([
    fc.array(
      fc.constantFrom('<', '>', '"', "'", '=', '/', '!', '-', ' ', 'a', 'form', 'input', 'id', '&amp;', '</html>'),
    ),
  ])('of any text are read or not, and never fail', (parts) => {
    const read = readForms(parts.join(''));
    expect(read === null || Array.isArray(read.forms)).toBe(true);
  });
});

describe('a page of a login', () => {
  test('of a required action is told from one of the flow that has the same form', () => {
    const of = (path: string) =>
      readLoginPage(html(`<form id="kc-update-profile-form" action="${path}"></form>`))?.page;
    expect(of(action)).toBe('other');
    expect(of('https://login.example.com/realms/shop/login-actions/required-action?execution=UPDATE_PROFILE')).toBe(
      'action',
    );
  });

  test.each<[RecordedPage, string]>([
    ['both', 'username'],
    ['username', 'username'],
    ['password', 'password'],
    ['wrong', 'password'],
    ['otp', 'otp'],
    ['passkey', 'passkey'],
    ['enrolment', 'enrolment'],
    ['error', 'error'],
  ])('%s is known as %s', (name, page) => {
    const text = recordedPage(name);
    expect(readLoginPage(text)?.page).toBe(page);
    // Half of it says nothing.
    expect(readLoginPage(text.slice(0, text.length / 2))).toBeNull();
    expect(readLoginPage(text.slice(0, -10))).toBeNull();
  });

  test.each([
    ['of another theme', `<form id="sign-in" action="${action}"><input name="username"></form>`],
    ['with the form twice', `<form id="kc-form-login" action="${action}"><input name="username"></form>`.repeat(2)],
    ['that asks for nothing', `<form id="kc-form-login" action="${action}"></form>`],
    [
      'with the username in a hidden field alone',
      `<form id="kc-form-login"><input type="hidden" name="username"></form>`,
    ],
    ['of an OTP form without its field', `<form id="kc-otp-login-form" action="${action}"></form>`],
    ['that only looks like an enrolment', `<form id="kc-totp-settings-form" action="${action}"></form>`],
    ['of something else', '<h1>Welcome to nginx</h1>'],
  ])('%s is not known', (_, body) => {
    expect(readLoginPage(html(body))).toBeNull();
  });

  test('that offers a passkey in the field for the username still asks for the username', () => {
    const body = `<form id="kc-form-login" action="${action}"><input name="username"></form><form id="webauth" action="${action}"></form>`;
    expect(readLoginPage(html(body))?.page).toBe('username');
  });
});
