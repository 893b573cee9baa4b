import { describe, expect, test } from 'vitest';
import { heldReasons, rolloutSteps, targetPhases } from '../../src/domain/release/plan.ts';
import {
  eventReasons,
  failureReasons,
  outcomeReasons,
  plannedReasons,
  preflightFindings,
  unreadReasons,
} from '../../src/domain/release/reasons.ts';
import { conditionReasons, releaseConditionTypes } from '../../src/domain/release/release-conditions.ts';
import { releasePhases } from '../../src/domain/release/release-phase.ts';
import { stands, textOf, wordsToldBy } from './runbook-words.ts';

const runbook = textOf('docs/release.md');

/** The first cells of the tables under a heading. */
function firstCells(heading: string): string {
  const section = runbook.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return section
    .split('\n')
    .flatMap((line) => /^\| ([^|]+) \|/.exec(line)?.[1] ?? [])
    .join('\n');
}

describe('the runbook has an entry for', () => {
  test.each<[string, string, readonly string[]]>([
    ['every phase of a release', 'Phases of a release', releasePhases],
    ['every phase and step of a target', 'Phases of a target', [...targetPhases, ...rolloutSteps]],
    [
      'every reason of a target',
      'Reasons',
      [...heldReasons, ...unreadReasons, ...plannedReasons, ...outcomeReasons, ...failureReasons],
    ],
    ['every condition and event', 'Conditions and events', [...releaseConditionTypes, ...eventReasons]],
  ])('%s', (_, heading, words) => {
    const entries = firstCells(heading);
    expect(words.filter((word) => !stands(word, entries))).toEqual([]);
  });

  test.each<[string, readonly string[]]>([
    ['every reason of a condition', conditionReasons],
    ['whatever a preflight finds', preflightFindings],
  ])('%s', (_, words) => {
    expect(words.filter((word) => !stands(word, runbook))).toEqual([]);
  });
});

/** Where reasons are made. */
const sources = [
  'domain/release/advance-rollout.ts',
  'domain/release/apply-result.ts',
  'domain/release/consider-target.ts',
  'domain/release/consideration.ts',
  'domain/release/desired-hold.ts',
  'domain/release/drifted-target.ts',
  'domain/release/events.ts',
  'domain/release/gate-plan.ts',
  'domain/release/hold.ts',
  'domain/release/judge-preflight.ts',
  'domain/release/judge-rollout.ts',
  'domain/release/judge-soak.ts',
  'domain/release/phase-events.ts',
  'domain/release/pod-trouble.ts',
  'domain/release/release-conditions.ts',
  'domain/release/release-phase.ts',
  'domain/release/rollout-control.ts',
  'domain/release/stop-reasons.ts',
  'domain/release/stops.ts',
  'domain/release/target-status.ts',
  'domain/release/time-hold.ts',
  'domain/release/version-guard.ts',
  'activities/release/agents.ts',
  'activities/release/health.ts',
  'activities/release/preflight.ts',
  'activities/release/restore-placements.ts',
  'activities/release/watch-rollout.ts',
  'activities/release/watch-soak.ts',
];

/** Words in the code that nobody is told as a phase, step, reason, event or condition. */
const others = new Set(
  [
    'Done Passing Restoring', // steps of our own, shown as the step before
    'Denied Invalid Missing', // what came of a write; people are told AccessDenied and so on
    'Enforce Normal Observe Release Shadow Warning True False',
    'API Kubernetes Holdfast Prometheus GET PUT POST',
    'DaemonSet Deployment OnDelete Pod RollingUpdate StatefulSet',
    // Words of Kubernetes: reasons that the kubelet or a controller gives, quoted in messages.
    'ContainerStatusUnknown DisruptionTarget NodeLost PodScheduled ProgressDeadlineExceeded ErrImagePull',
    'CreateContainerConfigError CreateContainerError RunContainerError PreCreateHookError PreStartHookError PostStartHookError',
    'FailedMount FailedAttachVolume FailedMapVolume FailedCreatePodSandBox',
  ].flatMap((line) => line.split(' ')),
);

test.each(sources)('every word with which %s says why stands in the runbook', (source) => {
  const words = wordsToldBy(`src/${source}`);
  expect(words.filter((word) => !others.has(word) && !stands(word, runbook))).toEqual([]);
});
