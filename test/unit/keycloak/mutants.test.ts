import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutants } from '../../../scripts/keycloak-mutants.ts';

test.each(mutants)('$id: the place of the mistake "$what" is still there, once', ({ file, from }) => {
  const source = readFileSync(new URL(`../../../src/domain/${file}`, import.meta.url), 'utf8');
  expect(source.split(from)).toHaveLength(2);
});
