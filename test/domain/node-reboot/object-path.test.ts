import { describe, expect, test } from 'vitest';
import { parseObjectPath, valuesAt } from '../../../src/domain/node-reboot/object-path.ts';

const object = {
  metadata: { name: 'a', annotations: { 'example.com/owner': 'ops' }, labels: {} },
  spec: { replicas: 3, paused: false, note: null, ports: [80, 443] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Stalled', status: 'False', reason: 'None' },
    ],
  },
};

function valuesOf(text: string): readonly string[] {
  const parsed = parseObjectPath(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return valuesAt(object, parsed.path);
}

describe('a path into an object', () => {
  test.each<[string, string[]]>([
    ['{.metadata.name}', ['a']],
    ['.metadata.name', ['a']],
    ['{$.metadata.name}', ['a']],
    ["{.metadata['name']}", ['a']],
    ['{.metadata.annotations.example\\.com/owner}', ['ops']],
    ["{.metadata.annotations['example.com/owner']}", ['ops']],
    ['{.spec.replicas}', ['3']],
    ['{.spec.paused}', ['false']],
    ['{.spec.ports}', ['[80,443]']],
    ['{.spec.ports[0]}', ['80']],
    ['{.spec.ports[-1]}', ['443']],
    ['{.spec.ports[*]}', ['80', '443']],
    ['{.status.conditions[*].type}', ['Ready', 'Stalled']],
    ['{.status.conditions[?(@.type=="Ready")].status}', ['True']],
    ["{.status.conditions[?(@.type != 'Ready')].status}", ['False']],
    ['{.status.conditions[?(@.reason=="None")].type}', ['Stalled']],
  ])('%s leads to %j', (text, values) => {
    expect(valuesOf(text)).toEqual(values);
  });

  test.each([
    '{.metadata.namespace}',
    '{.spec.note}',
    '{.spec.note.text}',
    '{.spec.ports[2]}',
    '{.spec.replicas[0]}',
    '{.metadata.name.length}',
    '{.metadata.labels[*]}',
    '{.metadata.constructor}',
    '{.status.conditions[?(@.type=="Healthy")].status}',
  ])('%s leads to nothing', (text) => {
    expect(valuesOf(text)).toEqual([]);
  });

  test.each([
    '',
    '{}',
    '{metadata}',
    '{.a..b}',
    '{.a[0:2]}',
    '{.a[?(@.b>1)]}',
    '{.a} {.b}',
    '{range .items[*]}',
    '{.a[}',
    "{.a['b}",
    '{.a.}',
  ])('%j is refused, with what was expected', (text) => {
    const parsed = parseObjectPath(text);
    expect(parsed).toMatchObject({ ok: false });
    if (!parsed.ok) expect(parsed.message).toContain('expected a path such as');
  });

  test('a long text is answered at once', () => {
    const begun = performance.now();
    for (const text of [`{.${'a'.repeat(1_000)}!`, `{.a[?(@${'.a'.repeat(490)}`, '['.repeat(1_000)]) {
      expect(parseObjectPath(text).ok).toBe(false);
    }
    expect(performance.now() - begun).toBeLessThan(200);
  });
});
