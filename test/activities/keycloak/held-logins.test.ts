import { expect, inject, test } from 'vitest';
import { keycloakOf } from '../../lab/parts/keycloak.ts';
import { heldPages } from './held-login.ts';
import { sumOf } from './held-users.ts';
import { throughHoldfast } from './logins-through-change.ts';

/** For each page and moment; bench/keycloak-logins.ts holds fifty. */
const each = 3;

test('people who are on a page of the login go on: undisturbed while another flow is built, and to no error page when it is bound and rolled back', async () => {
  const moments = await throughHoldfast(await keycloakOf(inject('lab')), each);
  expect(moments).toHaveLength(5);
  for (const { when, counts } of moments) {
    const { completed, askedAgain, errorPage, elsewhere } = sumOf(counts);
    expect({ when, errorPage, elsewhere }).toEqual({ when, errorPage: 0, elsewhere: 0 });
    expect(completed + askedAgain).toBe(each * heldPages.length);
  }
  for (const { when, counts } of moments.slice(0, 2)) {
    expect({ when, ...sumOf(counts) }).toMatchObject({ when, completed: each * heldPages.length });
  }
});
