import { expect, test } from 'vitest';
import { z } from 'zod';
import { duration } from '../../../src/domain/core/duration.ts';
import { jsonSchemaOf } from '../../../src/domain/core/json-schema.ts';
import { releaseSpec } from '../../../src/domain/release/spec.ts';

const spec = z.strictObject({
  soak: duration().prefault('10m').describe('How long a target is watched.'),
  image: z.string(),
});

test('editors get the whole document: version, kind, name and spec', () => {
  expect(jsonSchemaOf('Release', spec, 'A canary release.')).toEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://holdfast.dev/v1alpha1/Release.schema.json',
    title: 'Release',
    description: 'A canary release.',
    type: 'object',
    properties: {
      apiVersion: { type: 'string', const: 'holdfast.dev/v1alpha1', description: 'The version of this form.' },
      kind: { type: 'string', const: 'Release' },
      metadata: {
        type: 'object',
        properties: {
          name: {
            type: 'string',
            pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
            description: 'Unique among documents of its kind; becomes part of the workflow id.',
          },
        },
        required: ['name'],
        additionalProperties: false,
      },
      spec: {
        type: 'object',
        properties: {
          soak: {
            type: 'string',
            default: '10m',
            pattern: '^\\+?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$',
            examples: ['90s', '1m30s'],
            description: 'How long a target is watched.',
          },
          image: { type: 'string' },
        },
        required: ['image'],
        additionalProperties: false,
      },
    },
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    additionalProperties: false,
  });
});

test('the schema of a Release can be made, and asks only for what has no default', () => {
  const properties = jsonSchemaOf('Release', releaseSpec, 'x')['properties'] as Record<string, { required?: string[] }>;
  expect(properties['spec']?.required).toEqual(['image', 'targets']);
});
