import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { read, unmeasured } from '../../../src/domain/core/verdict.ts';
import { methodGate } from '../../../src/domain/node-reboot/gates/method.ts';
import { commandLine, rebootCommandSchema } from '../../../src/domain/node-reboot/reboot-command.ts';

const bmc = rebootCommandSchema.parse({
  run: ['/usr/bin/ipmitool', '-H', 'bmc-{node}.example.com', '-B', '{bootId}', 'power', 'cycle'],
});
const ssh = rebootCommandSchema.parse({ run: ['/usr/bin/ssh', 'root@{address}', 'reboot'], timeout: '1m30s' });
const commands = { bmc, ssh };
const target = { node: 'n1', address: '10.0.0.7', bootId: '12b44387-8bee-490e-b500-04ed8e039e2c' };

describe('a reboot command', () => {
  test('is filled in where braces stand, also within an argument', () => {
    expect(commandLine('bmc', commands, target)).toEqual({
      ok: true,
      run: ['/usr/bin/ipmitool', '-H', 'bmc-n1.example.com', '-B', target.bootId, 'power', 'cycle'],
      timeoutMs: 60_000,
    });
    expect(commandLine('ssh', commands, { ...target, address: 'fd00::7' })).toMatchObject({
      run: ['/usr/bin/ssh', 'root@fd00::7', 'reboot'],
      timeoutMs: 90_000,
    });
  });

  test.each([
    ['a name that is an option', { ...target, node: '-oProxyCommand=x' }, 'bmc', '{node}'],
    ['a name with a space', { ...target, node: 'n1 n2' }, 'bmc', '{node}'],
    ['a boot id that is none', { ...target, bootId: '$(reboot)' }, 'bmc', '{bootId}'],
    ['a boot id that is an option', { ...target, bootId: '-abcdef0' }, 'bmc', '{bootId}'],
    ['an address that is a name', { ...target, address: '-oProxyCommand=x' }, 'ssh', '{address}'],
    ['no address at all', { ...target, address: null }, 'ssh', '{address}'],
  ])('is not filled in with %s', (_, odd, name, missing) => {
    const line = commandLine(name, commands, odd);
    expect(line).toMatchObject({
      ok: false,
      reason: 'CommandUnfilled',
      message: expect.stringContaining(missing) as string,
    });
  });

  test('needs only what stands in it', () => {
    expect(commandLine('bmc', commands, { ...target, address: null }).ok).toBe(true);
  });

  test('that the worker does not have is refused with those that it has', () => {
    expect(commandLine('talos', commands, target)).toMatchObject({
      reason: 'NoSuchCommand',
      message: 'this worker has no reboot command "talos"; it has bmc, ssh',
    });
    expect(commandLine('constructor', {}, target)).toMatchObject({
      message: 'this worker has no reboot command "constructor"; it has none',
    });
  });

  test.each([
    ['a program by its name alone', { run: ['ssh'] }, 'run.0'],
    ['a program that is filled in', { run: ['/opt/{node}'] }, 'run.0'],
    ['nothing to run', { run: [] }, 'run.0'],
    ['a shell line', { run: '/usr/bin/ssh n1 reboot' }, 'run'],
    ['braces that nothing is known for', { run: ['/usr/bin/ssh', '{hostname}'] }, 'run.1'],
    ['more time than an activity has', { run: ['/usr/bin/ssh'], timeout: '10m' }, 'timeout'],
    ['a field that there is not', { run: ['/usr/bin/ssh'], shell: true }, ''],
  ])('is refused in a configuration: %s', (_, written, path) => {
    const parsed = rebootCommandSchema.safeParse(written);
    expect(parsed.error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
    expect(z.prettifyError(parsed.error ?? new z.ZodError([]))).not.toBe('');
  });

  test('keeps braces that are no placeholder, such as those of JSON', () => {
    const redfish = rebootCommandSchema.parse({ run: ['/usr/bin/curl', '{"ResetType": "GracefulRestart"}'] });
    expect(commandLine('redfish', { redfish }, target)).toMatchObject({
      run: ['/usr/bin/curl', '{"ResetType": "GracefulRestart"}'],
    });
  });
});

describe('the gate method', () => {
  test('passes where the command is there, and otherwise says why and what lifts it', () => {
    expect(methodGate('bmc', read(commandLine('bmc', commands, target))).verdict.kind).toBe('pass');
    expect(methodGate('talos', read(commandLine('talos', commands, target)))).toMatchObject({
      gate: 'method',
      verdict: { kind: 'fail', reason: 'NoSuchCommand' },
      lift: expect.stringContaining('nodeReboot.commands') as string,
    });
    const unread = unmeasured('node n1', 'API server', 'timeout', 'no answer');
    expect(methodGate('bmc', unread).verdict).toBe(unread);
  });
});
