import { readFileSync } from 'node:fs';

/** Pages of the `keycloak.v2` login theme of Keycloak 26.7.3, as they came; host, realm and what is secret are made up. */
export type RecordedPage = 'both' | 'username' | 'password' | 'wrong' | 'otp' | 'enrolment' | 'error' | 'passkey';

export function recordedPage(name: RecordedPage): string {
  return readFileSync(new URL(`pages/${name}.page`, import.meta.url), 'utf8');
}

/** The id of the execution that a recorded page is of. */
export function executionOf(name: RecordedPage): string {
  const id = /execution=([\w-]+)&amp;/.exec(recordedPage(name))?.[1];
  if (id === undefined) throw new Error(`page ${name} is of no execution`);
  return id;
}
