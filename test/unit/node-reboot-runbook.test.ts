import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { actionNames } from '../../src/domain/node-reboot/actions.ts';
import { cordonMark, readLockByHand, releaseLockByHand } from '../../src/domain/node-reboot/by-hand.ts';
import { gatesSchema } from '../../src/domain/node-reboot/gates-spec.ts';
import { campaignPhases } from '../../src/domain/node-reboot/status.ts';
import { stands, textOf, wordsToldBy } from './runbook-words.ts';

const runbook = textOf('docs/node-reboot.md');

/** Words in the code that nobody is told as a phase or reason. */
const others = new Set(
  [
    'Enforce Shadow NodeReboot Prometheus Longhorn KubeVirt Unknown True None Z In NotIn Exists DoesNotExist',
    'Pod Node DaemonSet Deployment StatefulSet ReplicaSet ReplicaSets ConfigMap PodDisruptionBudget Volume Replica Cluster',
    'PersistentVolume PersistentVolumeClaim ALERTS ECONNREFUSED SIGKILL',
    'VirtualMachineInstance LiveMigratable AlwaysAllow Background Pending Succeeded Failed Never Ready NotReady Cordoned',
    'PerNode PerCampaign LonghornVolumeDegraded LonghornVolumeFaulted KubeNodeNotReady NodeExporterDown Infinity Inf',
  ].flatMap((line) => line.split(' ')),
);

const sources = ['src/domain/node-reboot', 'src/domain/node-reboot/gates', 'src/activities/node-reboot']
  .flatMap((folder) => readdirSync(new URL(`../../${folder}`, import.meta.url)).map((name) => `${folder}/${name}`))
  .filter((path) => path.endsWith('.ts') && !/host-readiness|prometheus-answer/.test(path));

test.each(sources)('every word with which %s says why stands in the runbook of reboots', (source) => {
  expect(wordsToldBy(source).filter((word) => !others.has(word) && !stands(word, runbook))).toEqual([]);
});

describe('the runbook of reboots', () => {
  test('has every phase, every gate and every action', () => {
    const gates = ['nodes', 'locks', 'drain', ...Object.keys(gatesSchema.shape)];
    const verbs = actionNames.filter((name) => name !== 'applySpec' && name !== 'runNow');
    const commands = verbs.map((name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
    expect([...campaignPhases, ...gates, ...commands].filter((word) => !stands(word, runbook))).toEqual([]);
  });

  test('has each gate of the spec under the names by which one is set aside', () => {
    const [, section = ''] = runbook.split('## Gates');
    const rows = [...section.matchAll(/^\| ([\w.]+) \|/gm)].map(([, gate = '']) => gate);
    const named = Object.keys(gatesSchema.shape).filter((gate) => !rows.some((row) => row.split('.')[0] === gate));
    expect(named).toEqual([]);
    expect(rows).toEqual(expect.arrayContaining(['host.logindCap', 'host.packageManager', 'host.kernel']));
  });

  test('has the commands of the lock as the lock itself has them', () => {
    expect(runbook).toContain(releaseLockByHand);
    expect(runbook).toContain(readLockByHand);
    expect(runbook).toContain(`kubectl annotate node NODE ${cordonMark}-`);
  });
});
