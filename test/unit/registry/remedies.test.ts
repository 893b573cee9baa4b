import { expect, test } from 'vitest';
import { workerRemedies } from '../../../src/activities/registry/config.ts';
import { faultOfException, faultOfStatus, unmeasuredBy } from '../../../src/activities/registry/errors.ts';
import { redact } from '../../../src/domain/core/redact.ts';

const registry = 'localhost:5000';

test.each([
  [
    'EPROTO',
    `it does not speak TLS (EPROTO); set registries: { "localhost:5000": { plainHttp: true } } in the worker's configuration`,
  ],
  ['SELF_SIGNED_CERT_IN_CHAIN', `set registries: { "localhost:5000": { caFile: FILE } } in the worker's configuration`],
])('what a worker is to be told about %s are the lines of its configuration', (code, remedy) => {
  const { message } = unmeasuredBy('a/b:edge', registry, faultOfException(Object.assign(new Error(), { code })));
  expect(message).toContain(remedy);
});

test('credentials that are refused name where they are set, and scrubbing leaves that as it is', () => {
  const { message } = unmeasuredBy('a/b:edge', registry, faultOfStatus(401, Buffer.from('')));
  expect(message).toContain(`; set ${workerRemedies(registry).credentials}`);
  expect(redact(message)).toBe(message);
});
