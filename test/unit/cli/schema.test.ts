import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { releaseSpec } from '../../../src/domain/release/spec.ts';
import { jsonSchemaOf } from '../../../src/domain/core/json-schema.ts';
import { kinds } from '../../../src/starters/kinds.ts';
import { runCli } from './run-cli.ts';

const example = parse(readFileSync(new URL('../../../examples/release.yaml', import.meta.url), 'utf8')) as {
  spec: Record<string, unknown>;
};

const flowExample = parse(
  readFileSync(new URL('../../../examples/keycloak-flow/keycloak-flow.yaml', import.meta.url), 'utf8'),
) as { spec: Record<string, unknown> };

async function releaseSchema(): Promise<z.ZodType> {
  const run = await runCli(['schema', 'Release']);
  expect(run).toMatchObject({ code: 0, stderr: '' });
  return z.fromJSONSchema(JSON.parse(run.stdout) as Parameters<typeof z.fromJSONSchema>[0]);
}

describe('schema', () => {
  test('accepts the example and refuses a misspelt field and a wrong unit', async () => {
    const schema = await releaseSchema();
    expect(schema.safeParse(example)).toMatchObject({ success: true });
    const misspelt = { ...example, spec: { ...example.spec, imgae: 'x' } };
    expect(schema.safeParse(misspelt).success).toBe(false);
    const days = { ...example, spec: { ...example.spec, soak: '1d' } };
    expect(schema.safeParse(days).success).toBe(false);
  });

  test('of a login flow accepts the example, and refuses a misspelt field', async () => {
    const run = await runCli(['schema', 'KeycloakFlow']);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const schema = z.fromJSONSchema(JSON.parse(run.stdout) as Parameters<typeof z.fromJSONSchema>[0]);
    const { desiredFile, ...rest } = flowExample.spec;
    expect(desiredFile).toBe('desired.yaml');
    expect(schema.safeParse(flowExample)).toMatchObject({ success: true });
    const misspelt = { ...flowExample, spec: { ...rest, desierdFile: 'desired.yaml' } };
    expect(schema.safeParse(misspelt).success).toBe(false);
  });

  test('an unknown kind is refused with those that are known', async () => {
    const run = await runCli(['schema', 'relase']);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('did you mean release?');
  });
});

interface Node {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node | boolean;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly allOf?: readonly Node[];
}

/** The paths of all fields that an editor has nothing to say of. */
function undescribed(node: Node, path = ''): string[] {
  const fields = Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}.${name}`;
    return [...(field.description === undefined ? [at] : []), ...undescribed(field, at)];
  });
  const { items, additionalProperties: values, anyOf = [], oneOf = [], allOf = [] } = node;
  const inner = [items, values, ...anyOf, ...oneOf, ...allOf].filter((one) => typeof one === 'object');
  return [...new Set([...fields, ...inner.flatMap((one) => undescribed(one, path))])];
}

test.each(['NodeReboot'] as const)('every field of a %s says in an editor what it is', (kind) => {
  const { properties } = jsonSchemaOf(kind, kinds[kind], '') as { properties: { spec: Node } };
  expect(undescribed(properties.spec)).toEqual([]);
});

describe('the example', () => {
  test('shows every field of a release and of a target, written or as a comment', () => {
    const text = readFileSync(new URL('../../../examples/release.yaml', import.meta.url), 'utf8');
    const fields = [...Object.keys(releaseSpec.shape), ...Object.keys(releaseSpec.shape.targets.element.shape)];
    for (const field of fields) {
      // Of the three kinds of workload the third is only named.
      if (field === 'daemonSet') expect(text).toContain('daemonSet');
      else expect(text).toMatch(new RegExp(`^ *(# )?(- )?${field}:`, 'm'));
    }
  });
});
