import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LabEnv } from './lab.ts';

function lab(...args: string[]) {
  const env = { ...process.env, HOLDFAST_LAB_DIR: '' };
  return spawnSync(process.execPath, [join(import.meta.dirname, 'cli.ts'), ...args], { encoding: 'utf8', env });
}

test('up prints shell exports and stays, env and status tell the same, up again changes nothing, down ends it', async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'hf-cli-')));
  try {
    const up = lab('up', '--parts', 'registry', '--dir', dir);
    expect(up.stderr).toContain('no real node was asked for');
    const registry = /^export REGISTRY='(.+)'$/m.exec(up.stdout)?.[1] ?? '';
    expect((await fetch(`http://${registry}/v2/`)).status).toBe(200);

    const env = JSON.parse(lab('env', '--dir', dir, '-o', 'json').stdout) as LabEnv;
    expect(env.registry).toBe(registry);
    const status = JSON.parse(lab('status', '--dir', dir, '-o', 'json').stdout) as { processes: unknown[] };
    expect(status.processes).toMatchObject([{ name: 'registry', running: true }]);
    expect(lab('up', '--parts', 'registry', '--dir', dir).stdout).toBe(up.stdout);

    expect(lab('down', '--dir', dir).status).toBe(0);
    expect(readdirSync(dir)).toEqual(['log']);
    const again = lab('down', '--dir', dir);
    expect([again.status, again.stderr]).toEqual([1, `lab: there is no lab in ${dir}\n`]);
  } finally {
    lab('down', '--dir', dir);
    rmSync(dir, { recursive: true });
  }
});

test.each([
  [['up', '--parts', 'registry,moon'], 'No part "moon"'],
  [['up', '--nodes', 'amd64:3'], 'ARCHITECTURE=COUNT'],
  [['sideways'], "unknown command 'sideways'"],
])('%j is refused with exit code 2 and says why', (args, reason) => {
  const refused = lab(...args);
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain(reason);
});
