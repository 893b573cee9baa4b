import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NamespaceNotFoundError } from '@temporalio/common';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadKubeConfig } from '../../../src/activities/kubernetes/kubeconfig.ts';
import { explainError } from '../../../src/starters/temporal/explain-error.ts';
import { explainWorkerError } from '../../../src/starters/worker-error.ts';
import { createLogger } from '../../../src/worker/logger.ts';
import { runHere } from './run-here.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-starting-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a kubeconfig that is not there is told a worker with the ways out', async () => {
  const kubeconfig = join(folder, 'none');
  const error: unknown = await loadKubeConfig({ name: 'default', kubeconfig }).catch((e: unknown) => e);
  expect(await explainWorkerError(error)).toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(
      /cluster "default": .*none cannot be used: .*; set KUBECONFIG, choose a context/,
    ) as string,
  });
});

test('a namespace that is not there is named, with the command that makes it', () => {
  const explained = explainError(new NamespaceNotFoundError('nope'), { address: 'temporal:7233', namespace: 'nope' });
  expect(explained).toMatchObject({
    exitCode: 2,
    message:
      'Temporal at temporal:7233 has no namespace nope; set TEMPORAL_NAMESPACE, or create it: temporal operator namespace create --namespace nope',
  });
});

test.each(['worker', 'dev'])(
  '%s: a Temporal configuration or a kubeconfig of no use is no surprise',
  async (command) => {
    const program = join(folder, 'temporal');
    writeFileSync(program, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const env = { TEMPORAL_PROFILE: 'staging', HOME: folder, HOLDFAST_TEMPORAL_CLI: program };
    const run = await runHere([command, '--config', join(folder, 'none.yaml')], env);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).not.toContain('unexpected');
  },
);

test('dev says nothing of what it starts before its configuration is known to be good', async () => {
  const program = join(folder, 'temporal');
  writeFileSync(program, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const config = join(folder, 'worker.yaml');
  writeFileSync(config, 'registires: {}\n');
  const run = await runHere(['dev', '--config', config], { HOLDFAST_TEMPORAL_CLI: program });
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('did you mean "registries"?');
});

test('that the worker of waits has no workflows is meant, and no warning; others are', () => {
  const lines: string[] = [];
  const log = createLogger('warn', { write: (line) => void lines.push(line) });
  log.warn('No workflows registered, not polling for workflow tasks');
  expect(lines).toEqual([]);
  log.warn('something else');
  expect(lines).toEqual([expect.stringContaining('something else')]);
});
