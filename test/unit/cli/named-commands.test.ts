import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { redact } from '../../../src/domain/core/redact.ts';
import {
  abortCommands,
  approveCommand,
  command,
  decideCommands,
  pinCommand,
} from '../../../src/domain/release/commands.ts';
import * as reboot from '../../../src/domain/node-reboot/commands.ts';
import * as flow from '../../../src/domain/keycloak-flow/commands.ts';
import { runHere } from './run-here.ts';

const src = fileURLToPath(new URL('../../../src', import.meta.url));
const hash = `sha256:${'d1'.repeat(32)}`;
const digest = `sha256:${'b1'.repeat(32)}`;
const pending: flow.Asked['pending'] = {
  offer: {
    realm: 'shop',
    from: 'browser',
    candidate: 'browser-mfa-9f86d081884c',
    treeHash: '0',
    proof: 'notMade',
    after: null,
  },
  offerHash: hash,
  reason: 'AwaitingApproval',
  since: 0,
};
const flowVerbs = ['lift-hold', 'pause', 'resume', 'retry', 'rollback', 'status'] as const;
const rebootVerbs = ['cancel', 'pause', 'resume', 'retry', 'status'] as const;
const approvers = [{ name: 'ana', key: 'ssh-ed25519 AAAA' }];

/** Commands that take an object, without one: people who paste them are refused. */
const incomplete =
  /holdfast (?:abort|approve|block|cancel|force|history|lift-hold|pause|pin|reject|release-lock|release-ownership|resume|retry|rollback|set-mode|status|unblock|unpin)\b(?! (?:(?:release|keycloakflow|nodereboot)\/|\$\{|KIND))/;

function messagesIn(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line));
}

describe('commands that messages name', () => {
  test('have their object everywhere', () => {
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const found = files.flatMap((name) =>
      messagesIn(join(src, name))
        .filter((line) => incomplete.test(line))
        .map((line) => `${name}: ${line.trim()}`),
    );
    expect(files.length).toBeGreaterThan(200);
    expect(found).toEqual([]);
  });

  test.each([
    ...decideCommands('hive', hash, {}).split('; or '),
    abortCommands('hive').replace(' (or --roll-back)', ''),
    pinCommand('hive', { tag: 'edge', digest }),
    pinCommand('hive', { tag: 'v6.1.2', digest }),
    pinCommand('hive', { tag: null, digest }),
    command('resume', 'hive'),
    command('retry', 'hive'),
    command('release-ownership', 'hive'),
    command('set-mode', 'hive', 'Enforce'),
    command('status', 'hive'),
    command('unblock', 'hive', digest),
    command('unpin', 'hive'),
    ...flow.decideCommands({ name: 'shop', spec: {}, pending }).split('; or '),
    ...flowVerbs.map((verb) => flow.command(verb, 'shop')),
    flow.command('set-mode', 'shop', 'Enforce'),
    reboot.approveCommand('control-plane', 'n1', hash, { approvers: undefined }),
    reboot.command('release-lock', 'control-plane', '--node', 'n1'),
    reboot.command('set-mode', 'control-plane', 'Enforce'),
    ...rebootVerbs.map((verb) => reboot.command(verb, 'control-plane')),
  ])('%s is taken as it stands', async (text) => {
    const run = await runHere(text.split(' ').slice(1), { TEMPORAL_ADDRESS: '127.0.0.1:1', HOLDFAST_USER: 'ana' });
    expect(run.stderr).toMatch(/Temporal at 127\.0\.0\.1:1 cannot be reached/);
  });

  test('an approval that needs a signature is one line, from the signature on', () => {
    const line = approveCommand('hive', hash, { approvers });
    expect(line).toBe(
      `printf %s ${hash} | ssh-keygen -Y sign -n holdfast -f ~/.ssh/id_ed25519 > approval.sig && holdfast approve release/hive --plan ${hash} --signature approval.sig`,
    );
    expect(redact(line)).toBe(line);
    const bind = flow.approveCommand({ name: 'shop', spec: { approvers }, pending });
    expect(bind).toBe(
      `printf %s ${hash} | ssh-keygen -Y sign -n holdfast -f ~/.ssh/id_ed25519 > approval.sig && holdfast approve keycloakflow/shop --candidate browser-mfa-9f86d081884c --plan ${hash} --without-proof --signature approval.sig`,
    );
    expect(redact(bind)).toBe(bind);
  });
});
