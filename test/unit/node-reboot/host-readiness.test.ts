import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { read } from '../../../src/domain/core/verdict.ts';
import { hostFactsScript, parseHostFacts } from '../../../src/domain/node-reboot/host-facts.ts';
import { hostReadinessScript, readHostReadiness } from '../../../src/domain/node-reboot/host-readiness.ts';

const run = promisify(execFile);

const tools = {
  busctl: `case "$*" in
    *ListInhibitors) echo '{"type":"a(ssssuu)","data":[[["shutdown","kubelet","shutdown of pods","delay",0,812]]]}' ;;
    *InhibitDelayMaxUSec) echo 't 90000000' ;;
  esac`,
  lslocks: 'echo "cron 500 /run/crond.pid"; echo "dpkg 4711 /var/lib/dpkg/lock-frontend"',
  ls: 'printf "%s\\n" config-6.8.0-90-generic initrd.img-6.8.0-90-generic vmlinuz vmlinuz-6.8.0-90-generic',
};

describe('the script that asks a host, with tools that answer as those of a host do', () => {
  let bin: string;

  beforeEach(async () => {
    bin = await mkdtemp(join(tmpdir(), 'holdfast-host-'));
  });

  afterEach(() => rm(bin, { recursive: true }));

  async function ask(changes: Partial<typeof tools> = {}) {
    for (const [name, body] of Object.entries({ ...tools, ...changes })) {
      await writeFile(join(bin, name), `#!/bin/sh\n${body}\n`);
      await chmod(join(bin, name), 0o755);
    }
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    const { stdout } = await run('sh', ['-c', hostReadinessScript], { env });
    return stdout;
  }

  function understood(report: string) {
    return readHostReadiness('node-1', read(report), 90_000);
  }

  test('tells everything in one report', async () => {
    const report = await ask();
    expect(understood(report)).toEqual({
      inhibitors: read([{ what: 'shutdown', who: 'kubelet', mode: 'delay' }]),
      inhibitDelayMax: read(90_000),
      shutdownGracePeriod: read(90_000),
      packageManagers: read(['dpkg (4711)']),
      newestKernel: read('6.8.0-90-generic'),
    });
    expect(parseHostFacts('node-1', report).kind).toBe('read');
  });

  test('no lock of a package manager is read, and not missing', async () => {
    for (const lslocks of ['echo "cron 500 /run/crond.pid"', 'true']) {
      expect(understood(await ask({ lslocks })).packageManagers).toEqual(read([]));
    }
  });

  test('a tool that fails leaves what it tells missing, and nothing else', async () => {
    const report = await ask({ busctl: 'echo "Failed to connect" >&2; exit 1', lslocks: 'exit 1' });
    expect(understood(report)).toMatchObject({
      inhibitors: { kind: 'unmeasured', why: 'missing' },
      inhibitDelayMax: { kind: 'unmeasured', why: 'missing' },
      packageManagers: { kind: 'unmeasured', why: 'missing' },
      newestKernel: read('6.8.0-90-generic'),
    });
  });

  test('packages that ask again and again are told once: a report has room for 4096 bytes', async () => {
    const root = join(bin, 'run');
    await mkdir(root);
    await writeFile(join(root, 'reboot-required'), '');
    await writeFile(join(root, 'reboot-required.pkgs'), 'linux-base\nlibc6\n'.repeat(200));
    const env = { PATH: process.env['PATH'] ?? '' };
    const here = hostFactsScript.replaceAll('/run/reboot-required', join(root, 'reboot-required'));
    const { stdout } = await run('sh', ['-c', here], { env });
    expect(stdout.length).toBeLessThan(400);
    expect(parseHostFacts('node-1', stdout)).toMatchObject({
      value: { sentinel: { value: { packages: expect.arrayContaining(['libc6', 'linux-base']) as string[] } } },
    });
  });

  test('no kernel is missing', async () => {
    expect(understood(await ask({ ls: 'exit 2' })).newestKernel).toMatchObject({ kind: 'unmeasured', why: 'missing' });
  });
});
