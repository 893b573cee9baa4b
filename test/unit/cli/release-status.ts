import type { ReleaseStatus } from '../../../src/domain/release/status.ts';
import type { TargetStatus } from '../../../src/domain/release/target-status.ts';

/** A target that runs what is wanted, save what a test says. */
export function target(name: string, more: Partial<TargetStatus> = {}): TargetStatus {
  const image = `registry.example.com/acme/hive:v6@sha256:${'a'.repeat(64)}`;
  return {
    name,
    cluster: 'default',
    workload: `Deployment shop/${name}`,
    phase: 'Current',
    step: null,
    reason: '',
    message: '',
    current: image,
    desired: image,
    label: 'v6-aaaaaaaaaaaa',
    applied: image,
    rollbackTo: null,
    ...more,
  };
}

/** A release at rest in Enforce, every target Current, save what a test says. */
export function releaseStatus(more: Partial<ReleaseStatus> = {}): ReleaseStatus {
  return {
    kind: 'Release',
    name: 'hive',
    mode: 'Enforce',
    effectiveMode: 'Enforce',
    modeReason: null,
    phase: 'Current',
    generation: 1,
    conditions: [],
    targets: [target('canary'), target('north')],
    waiting: null,
    plan: { release: 'hive', items: [], terms: '' },
    planHash: 'sha256:00',
    pinned: null,
    blocked: [],
    paused: null,
    rollout: null,
    lastRollouts: [],
    rollouts: 0,
    rollbacks: 0,
    changesAt: null,
    evaluatedAt: '2026-11-30T05:59:00.000Z',
    asOf: '2026-11-30T06:00:00.000Z',
    ...more,
  };
}
