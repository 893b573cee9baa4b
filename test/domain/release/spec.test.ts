import { describe, expect, test } from 'vitest';
import {
  agentsOf,
  healthOf,
  releaseSpec,
  workloadOf,
  type ReleaseSpecInput,
} from '../../../src/domain/release/spec.ts';
import { spec, target } from './world.ts';

type TargetInput = ReleaseSpecInput['targets'][number];

function parsed(overrides: Partial<TargetInput>) {
  const [first] = spec({ targets: [target('web-1', overrides)] }).targets;
  if (first === undefined) throw new Error('no target');
  return first;
}

/** What is said of a spec that is refused: `targets.0.healthURL: …`. */
function refused(overrides: Partial<ReleaseSpecInput>): string[] {
  const answer = releaseSpec.safeParse({
    image: 'app',
    track: { tag: 'v6' },
    targets: [target('web-1')],
    ...overrides,
  });
  return answer.success ? [] : answer.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
}

describe('the health of a target', () => {
  test('is what it says, else its healthURL, else what its kind has', () => {
    const url = 'http://web-1.example.com/health';
    expect(healthOf(parsed({ health: 'none' }))).toBe('none');
    expect(healthOf(parsed({ kind: 'hub', healthURL: url }))).toEqual({ url });
    expect(healthOf(parsed({ kind: 'hub', healthURL: url, health: 'none' }))).toBe('none');
    expect(healthOf(parsed({}))).toEqual({ http: { port: 8080, path: '/api/health', expect: 200 } });
    expect(healthOf(parsed({ kind: 'plain' }))).toBe('none');
  });

  test('has to be given for a hub, in either way', () => {
    const hub = (more: Partial<TargetInput>) => refused({ targets: [target('web-1', { kind: 'hub', ...more })] });
    expect(hub({})).toEqual(['targets.0.healthURL: a hub needs healthURL (or health)']);
    expect(hub({ health: 'none' })).toEqual([]);
    expect(hub({ healthURL: 'http://web-1.example.com' })).toEqual([]);
  });

  test('is never asked for with credentials that stand in the spec', () => {
    const of = (healthURL: string) => refused({ targets: [target('web-1', { healthURL })] });
    expect(of('https://ana:secret@web-1.example.com')).toHaveLength(1);
    expect(of('HTTPS://ana@web-1.example.com')).toHaveLength(1);
    expect(of('https://web-1.example.com/?next=https://ana@other.example.com')).toEqual([]);
  });
});

test('agents are those that a target names, else those of a spoke, else none', () => {
  expect(agentsOf(parsed({ agents: 'none' }))).toBe('none');
  expect(agentsOf(parsed({ kind: 'plain' }))).toBe('none');
  expect(agentsOf(parsed({}))).toEqual({
    port: 8080,
    statusPath: '/api/status',
    modelsPath: '/api/config/agent/{name}/models',
    journal: { path: '/state/hive-state.json', command: ['cat'] },
  });
});

test('a target names one workload, of any of three kinds', () => {
  expect(workloadOf({ deployment: 'a' })).toEqual({ kind: 'Deployment', name: 'a' });
  expect(workloadOf({ statefulSet: 'b' })).toEqual({ kind: 'StatefulSet', name: 'b' });
  expect(workloadOf({ daemonSet: 'c' })).toEqual({ kind: 'DaemonSet', name: 'c' });
  const both = { namespace: 'shop', container: 'app', deployment: 'a', daemonSet: 'c' };
  expect(refused({ targets: [both] })).toEqual([
    'targets.0: expected exactly one of deployment, statefulSet, daemonSet',
  ]);
});

test('a check has a bound, on either side', () => {
  const check = (bounds: { max?: number; min?: number }) =>
    refused({ checks: [{ name: 'rate', query: 'up', ...bounds }] });
  expect(check({})).toEqual(['checks.0: expected max or min']);
  expect(check({ max: 0 })).toEqual([]);
  expect(check({ min: 0 })).toEqual([]);
  expect(check({ min: 0, max: 1 })).toEqual([]);
});

test('a spec that is too long for Temporal is refused, with the way out', () => {
  const long = Array.from({ length: 2_000 }, (_, n) => target(`web-${n}`, { namespace: 'n'.repeat(63) }));
  expect(refused({ targets: long })).toEqual([
    expect.stringMatching(
      /^targets: the spec has \d+ characters as JSON, and at most 262144 fit: make several releases of these 2000 targets$/,
    ),
  ]);
});
