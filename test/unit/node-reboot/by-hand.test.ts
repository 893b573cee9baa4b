import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cordonMark, handCommands, nodeCommand } from '../../../src/domain/node-reboot/by-hand.ts';
import { newVisit, visitPhases, type Visit } from '../../../src/domain/node-reboot/visit.ts';
import { before, NOW } from '../../domain/node-reboot/world.ts';

const visit: Visit = { ...newVisit('n1', 'libc6', null, NOW), before };
const outPhases = ['Rebooting', 'Returning', 'Checking', 'Uncordoning'] as const;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-by-hand-'));
  // It writes down what it was asked, and answers with what the files `lock` and `boot` hold.
  const kubectl = [
    ...['#!/bin/sh', `case "$*" in *node-reboot-lock*run*) exec cat '${folder}/lock' ;; esac`],
    ...[
      `echo "$*" >> '${folder}/calls'`,
      `[ "$1" = get ] && cat '${folder}/boot'`,
      `[ ! -e "${folder}/fails-$1" ]`,
      '',
    ],
  ].join('\n');
  writeFileSync(join(folder, 'kubectl'), kubectl);
  chmodSync(join(folder, 'kubectl'), 0o755);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What kubectl is asked, but whose the lock is, when this is pasted on a cluster whose node runs that boot. */
function pasted(text: string, boot: string, variables: Record<string, string> = {}, lock = 'run-1/n1'): string[] {
  writeFileSync(join(folder, 'boot'), boot);
  writeFileSync(join(folder, 'lock'), lock);
  rmSync(join(folder, 'calls'), { force: true });
  const env = { ...variables, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` };
  spawnSync('sh', { input: `${text}\n`, env, encoding: 'utf8' });
  if (!existsSync(join(folder, 'calls'))) return [];
  return readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
}

const ways = [
  ['as lines, as the lock has them', '\n'],
  ['as one line, as messages have them', ' '],
] as const;

describe.each(ways)('the commands for a person, pasted %s', (_, between) => {
  test.each(visitPhases)('do all that they say in phase %s', (phase) => {
    const lines = handCommands({ run: 'run-1', visit: { ...visit, phase } });
    const calls = pasted(lines.join(between), 'another-boot');
    expect(calls).toHaveLength(lines.length - 1);
    expect(calls.at(-1)).toBe('-n holdfast patch configmap node-reboot-lock --type=merge -p {"data":null}');
  });

  test.each(outPhases)(
    'give nothing back in phase %s on the boot that was to end, nor where nobody answers',
    (phase) => {
      const text = handCommands({ run: 'run-1', visit: { ...visit, phase } }).join(between);
      for (const boot of [before.bootId, '']) {
        expect(pasted(text, boot)).toEqual([expect.stringMatching(/^get node n1 /) as string]);
      }
    },
  );

  test.each(['Checking', 'Uncordoning', 'Restoring'] as const)(
    'do not uncordon a node that failed in phase %s, before somebody has said that this one may work as it is',
    (phase) => {
      const stoppedFor = { reason: 'MemoryLost', message: `it's "16 %"\n; touch ${folder}/run` };
      const text = handCommands({ run: 'run-1', visit: { ...visit, phase, stoppedFor } }).join(between);
      expect(pasted(text, 'another-boot').join()).not.toContain('uncordon');
      expect(pasted(text, 'another-boot', { AS_IT_IS: 'n2' }).join()).not.toContain('uncordon');
      expect(pasted(text, 'another-boot', { AS_IT_IS: 'n1' })).toContain('uncordon n1');
      expect(existsSync(join(folder, 'run'))).toBe(false);
    },
  );

  test.each(['/', 'run-2/n1', 'run-1/n2', ''])(
    'do nothing where the lock says %j: it is not of this turn any more',
    (lock) => {
      for (const phase of visitPhases) {
        const text = handCommands({ run: 'run-1', visit: { ...visit, phase } }).join(between);
        expect(pasted(text, 'another-boot', {}, lock)).toEqual([]);
      }
    },
  );

  test('keep the lock where the node could not be given back', () => {
    writeFileSync(join(folder, 'fails-uncordon'), '');
    const calls = pasted(
      handCommands({ run: 'run-1', visit: { ...visit, phase: 'Draining' } }).join(between),
      before.bootId,
    );
    expect(calls).toEqual(['uncordon n1']);
  });
});

test('what a node calls its boot is run by no shell', () => {
  const bootId = `x'; touch ${folder}/run; echo 'y`;
  const text = handCommands({
    run: 'run-1',
    visit: { ...visit, phase: 'Returning', before: { ...before, bootId } },
  }).join(' ');
  pasted(text, 'another-boot');
  expect(existsSync(join(folder, 'run'))).toBe(false);
  // It is one word: it is found to be the same boot.
  expect(pasted(text, bootId)).toHaveLength(1);
});

test('the part about the node is a command by itself, and leaves the lock alone', () => {
  const draining = nodeCommand({ ...visit, phase: 'Draining' });
  expect(pasted(draining, before.bootId)).toEqual(['uncordon n1', `annotate node n1 ${cordonMark}-`]);
  expect(nodeCommand({ ...visit, phase: 'Settling' })).toBe('');
  expect(() => execFileSync('sh', ['-nc', nodeCommand({ ...visit, phase: 'Returning' })])).not.toThrow();
});
