import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { nodeRebootSpec } from '../../../src/domain/node-reboot/spec.ts';
import { readWorkerConfig } from '../../../src/worker/config.ts';
import { runHere } from './run-here.ts';

const exampleFile = fileURLToPath(new URL('../../../examples/node-reboot/node-reboot.yaml', import.meta.url));
const exampleText = readFileSync(exampleFile, 'utf8');
const scratch = mkdtempSync(join(tmpdir(), 'holdfast-reboot-spec-'));
afterAll(() => rmSync(scratch, { recursive: true }));

function specFile(spec: object): string {
  const file = join(scratch, 'node-reboot.yaml');
  const head = { apiVersion: 'holdfast.dev/v1alpha1', kind: 'NodeReboot', metadata: { name: 'control-plane' } };
  writeFileSync(file, JSON.stringify({ ...head, spec: { nodes: ['n1', 'n2'], ...spec } }));
  return file;
}

describe('a spec of reboots', () => {
  test('is valid with a gate of an operator, and refused where its path is not understood', async () => {
    const resource = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster' };
    const custom = (jsonPath: string) => ({
      gates: { custom: [{ name: 'ceph', resource, jsonPath, equals: 'HEALTH_OK', results: 1 }] },
    });
    expect(await runHere(['validate', specFile(custom('.status.ceph.health'))])).toMatchObject({ code: 0, stderr: '' });
    const run = await runHere(['validate', specFile(custom('.status..health'))]);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('spec.gates.custom[0].jsonPath');
  });

  test('names a command to reboot by, and cannot say what it runs', async () => {
    expect(await runHere(['validate', specFile({ method: { command: 'bmc' } })])).toMatchObject({ code: 0 });
    for (const method of [{ command: ['/bin/sh', '-c', 'x'] }, { command: 'bmc', pod: {} }, { command: '/bin/sh' }]) {
      const run = await runHere(['validate', specFile({ method })]);
      expect(run).toMatchObject({ code: 2, stdout: '' });
      expect(run.stderr).toContain('spec.method');
    }
  });

  test('with node instead of nodes is told so, and not that mode is a list', async () => {
    for (const spec of [
      { nodes: undefined, node: ['n1'] },
      { nodes: undefined, mode: 'Shadow', node: ['n1'] },
    ]) {
      const { stderr } = await runHere(['validate', specFile(spec)]);
      expect(stderr).toContain('unknown field "node"; did you mean "nodes"?');
      expect(stderr).not.toContain('spec.mode');
    }
    const { stderr } = await runHere(['validate', specFile({ mod: 'Shadow', mode: 'Shadow', nods: [] })]);
    expect(stderr).toContain('unknown field "mod"; did you mean "mode"?');
    const pod = await runHere(['validate', specFile({ method: { pod: { image: 'x' } } })]);
    expect(pod.stderr).toContain('no field is known here');
  });

  const resource = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster' };
  const custom = (gate: object) => ({ gates: { custom: [{ name: 'c', results: 1, ...gate }] } });
  test.each([
    [{ gates: { nfs: { servers: ['nas:/export'] } } }, 'spec.gates.nfs.servers[0]: expected the name or the address'],
    [{ gates: { nfs: { servers: ['http://u@nas'] } } }, 'spec.gates.nfs.servers[0]: expected the name or the address'],
    [custom({}), 'there is neither'],
    [custom({ query: 'up', equals: '1' }), 'there is query with equals'],
    [custom({ resource }), 'there is resource'],
    [custom({ resource: { apiVersion: 'a/v1/x', kind: 'Foo' }, jsonPath: '{.a}', equals: '' }), 'GROUP/VERSION, or v1'],
    [custom({ resource: { apiVersion: 'v1', kind: 'foo bar' }, jsonPath: '{.a}', equals: '' }), 'expected a kind'],
    [{ method: 'pod' }, 'expected { pod: {} } or { command: NAME }, got "pod"'],
    [{ incumbents: [{}, {}] }, 'kube-system/kured is named already'],
  ])('that says what cannot be is told what is expected: %j', async (spec, message) => {
    const run = await runHere(['validate', specFile(spec)]);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(message);
  });

  test('that names no nodes is refused as before', async () => {
    const run = await runHere(['validate', specFile({ selector: { matchLabels: { a: 'b' } } })]);
    expect(run.stderr).toContain('expected either nodes or selector');
  });

  test.each<[string, object, RegExp]>([
    [
      'a window in which nothing can start',
      { windows: [{ from: '22:00', to: '22:30', timeZone: 'Europe/Berlin' }], worstCase: '1h' },
      /spec\.windows: open for 30m at the longest, and worstCase is 1h: no node would ever start/,
    ],
    [
      'two gates of one name',
      { gates: { custom: ['a', 'a'].map((name) => ({ name, query: 'up', results: 1 })) } },
      /spec\.gates\.custom\[1\]\.name: gate "a" is named already/,
    ],
    ['no nodes at all', { nodes: [], neverFirst: [] }, /^(?!.*neverFirst).*spec\.nodes: /s],
  ])('with %s is refused', async (_, change, fault) => {
    const run = await runHere(['validate', specFile(change)]);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toMatch(fault);
  });

  test('has a schema for editors, which takes the example and refuses a misspelt field', async () => {
    const run = await runHere(['schema', 'nodereboot']);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const schema = z.fromJSONSchema(JSON.parse(run.stdout) as Parameters<typeof z.fromJSONSchema>[0]);
    const example = parse(exampleText) as { spec: { gates: object } };
    const withSpec = (more: object) => ({ ...example, spec: { ...example.spec, ...more } });
    expect(schema.safeParse(example)).toMatchObject({ success: true });
    expect(schema.safeParse(withSpec({ intervall: '15m' })).success).toBe(false);
  });
});

describe('the example of reboots', () => {
  test('is valid as it stands, and so is its worker configuration', async () => {
    expect(await runHere(['validate', exampleFile])).toMatchObject({ code: 0, stderr: '' });
    const config = await readWorkerConfig(exampleFile.replace('node-reboot.yaml', 'worker.yaml'));
    expect(config.nodeReboot?.hostImage).toMatch(/@sha256:/);
    expect(Object.keys(config.nodeReboot?.commands ?? {})).toContain('bmc');
    const kernels = exampleFile.replace('node-reboot.yaml', 'kernel-campaign.yaml');
    expect(await runHere(['validate', kernels])).toMatchObject({ code: 0, stderr: '' });
  });

  test('shows every field, written or as a comment', () => {
    for (const field of Object.keys(nodeRebootSpec.shape)) {
      expect(exampleText).toMatch(new RegExp(`^ *(# )?${field}:`, 'm'));
    }
    for (const gate of Object.keys(nodeRebootSpec.shape.gates.unwrap().shape)) expect(exampleText).toContain(gate);
  });
});
