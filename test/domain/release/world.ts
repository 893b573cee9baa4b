import type { evaluate } from '../../../src/domain/release/evaluate.ts';
import { initialState } from '../../../src/domain/release/initial-state.ts';
import { linesOf } from '../../../src/domain/release/line.ts';
import { noMarks } from '../../../src/domain/release/marks.ts';
import type {
  Marks,
  Observation,
  ResolvedLine,
  TargetObservation,
  WorkloadSnapshot,
} from '../../../src/domain/release/observation.ts';
import type { TargetView } from '../../../src/domain/release/plan.ts';
import { releaseSpec, type ReleaseSpec, type ReleaseSpecInput } from '../../../src/domain/release/spec.ts';
import type { ReleaseState } from '../../../src/domain/release/state.ts';
import { read, unmeasured, type UnmeasuredCause } from '../../../src/domain/core/verdict.ts';

/** Small builders for tests of decisions about a release: a fleet on one moving tag, as one value each. */

export const NOW = Date.parse('2026-03-02T12:00:00Z');
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const REPOSITORY = 'registry.example.com/hive/app';

/** A digest that is told from others by its first characters. */
export function digest(id: string): string {
  return `sha256:${id.padEnd(64, '0')}`;
}

/** `repo:tag@digest` in the fleet's repository. */
export function image(tag: string, id: string): string {
  return `${REPOSITORY}:${tag}@${digest(id)}`;
}

export function spec(overrides: Partial<ReleaseSpecInput> = {}): ReleaseSpec {
  return releaseSpec.parse({
    mode: 'Enforce',
    image: REPOSITORY,
    track: { tag: 'v6-latest' },
    targets: [target('web-1'), target('web-2'), target('web-3')],
    ...overrides,
  });
}

type TargetInput = ReleaseSpecInput['targets'][number];

export function target(name: string, overrides: Partial<TargetInput> = {}): TargetInput {
  return { namespace: 'shop', deployment: name, container: 'app', ...overrides };
}

/** What `v6-latest` resolves to by default: version 6.1.0 at digest `a1…`. */
export function resolved(id: string, overrides: Partial<ResolvedLine> = {}): ResolvedLine {
  return {
    repository: REPOSITORY,
    tag: 'v6-latest',
    digest: digest(id),
    label: `v6-${id}`,
    revision: id,
    version: '6.1.0',
    platforms: ['linux/amd64', 'linux/arm64/v8'],
    unplatformed: 0,
    platformDigests: {},
    rejected: [],
    ...overrides,
  };
}

/** A semver tag of the line, resolved. */
export function tagged(tag: string, id: string): ResolvedLine {
  return resolved(id, { tag, label: tag, version: tag.replace(/^v/, '') });
}

export function marks(overrides: Partial<Marks> = {}): Marks {
  return { ...noMarks, ...overrides };
}

export function workload(found: string | null, overrides: Partial<WorkloadSnapshot> = {}): WorkloadSnapshot {
  return {
    kind: 'Deployment',
    uid: 'uid-1',
    image: found,
    runningDigest: null,
    replicas: 1,
    paused: false,
    strategy: 'RollingUpdate',
    containers: ['app'],
    marks: noMarks,
    imageWriter: null,
    ...overrides,
  };
}

/** A workload as it is after this release rolled `applied` there and it passed. */
export function managed(applied: string, overrides: Partial<WorkloadSnapshot> = {}): WorkloadSnapshot {
  return workload(applied, {
    marks: marks({ managedBy: 'release/hive', applied, passed: applied, version: 'v6-old' }),
    imageWriter: writer('holdfast'),
    ...overrides,
  });
}

export function writer(manager: string): NonNullable<WorkloadSnapshot['imageWriter']> {
  return { manager, operation: 'Update', time: '2026-03-02T11:00:00Z' };
}

export function seen(of: WorkloadSnapshot, architectures: readonly string[] = ['amd64']): TargetObservation {
  return { workload: read(of), architectures: read(architectures) };
}

export function unread(why: UnmeasuredCause = 'timeout', what = 'Deployment shop/web-1') {
  return unmeasured(what, 'API server', why, `${what} could not be read: ${why}`);
}

/** An observation in which every line of the spec resolves to `line`. */
export function observe(
  of: ReleaseSpec,
  line: ResolvedLine | ReturnType<typeof unread>,
  targets: Readonly<Record<string, WorkloadSnapshot | TargetObservation>>,
  overrides: Partial<Observation> & { readonly pin?: string | null } = {},
): Observation {
  const { pin = null, ...rest } = overrides;
  return {
    at: NOW,
    lines: Object.fromEntries(linesOf(of, pin).map((l) => [l.key, 'kind' in line ? line : read(line)])),
    images: {},
    freezes: [],
    targets: Object.fromEntries(
      Object.entries(targets).map(([name, found]) => [name, 'workload' in found ? found : seen(found)]),
    ),
    incumbents: of.incumbents.map((i) => ({
      name: `${i.kind ?? 'CronJob'} ${i.namespace}/${i.name}`,
      state: read('absent' as const),
    })),
    ...rest,
  };
}

/** All three targets of the default spec with one image. */
export function fleet(of: WorkloadSnapshot): Record<string, WorkloadSnapshot> {
  return { 'web-1': of, 'web-2': of, 'web-3': of };
}

export function start(of: ReleaseSpec = spec(), overrides: Partial<ReleaseState> = {}): ReleaseState {
  return { ...initialState('hive', of, NOW), ...overrides };
}

/** One target's view after an evaluation. */
export function viewOf(result: ReturnType<typeof evaluate>, name = 'web-1'): TargetView {
  const view = result.evaluation.targets.find((t) => t.name === name);
  if (!view) throw new Error(`no view of ${name}`);
  return view;
}

/** Names of the planned targets. */
export function planned(result: ReturnType<typeof evaluate>): string[] {
  return result.evaluation.plan.items.map((item) => item.target);
}
