import { z } from 'zod';
import { allOf, fail, pass, read, unmeasured, type Reading, type Verdict } from '../../core/verdict.ts';
import type { GateReading, GateStage } from '../gate.ts';
import type { GatesSpec } from '../gates-spec.ts';
import { readSamples } from '../prometheus-answer.ts';
import { readObjects, type RawObjects } from '../read-objects.ts';

export interface LonghornFacts {
  readonly volumes: Reading<readonly LonghornVolume[]>;
  readonly replicas: Reading<readonly LonghornReplica[]>;
  /** The series on which the alerts about volumes rest; null where no Prometheus is asked. */
  readonly series: Reading<RobustnessSeries> | null;
}

export interface LonghornVolume {
  readonly name: string;
  /** `attached`, `detached`, or on the way between. */
  readonly state: string;
  /** `healthy`, `degraded`, `faulted` or `unknown`. */
  readonly robustness: string;
}

/** A copy of a volume. */
export interface LonghornReplica {
  readonly volume: string;
  readonly node: string;
  readonly healthy: boolean;
}

export interface RobustnessSeries {
  readonly count: number;
  /** How many there are of each volume: newer versions have one for each state of robustness. */
  readonly perVolume: number;
}

const volumeSchema = z
  .object({
    metadata: z.object({ name: z.string() }),
    status: z.object({ state: z.string(), robustness: z.string() }),
  })
  .transform(({ metadata, status }): LonghornVolume => ({ name: metadata.name, ...status }));

/**
 * Longhorn sets `healthyAt` once a copy is complete and clears it while it is rebuilt; `failedAt` stays until it is. Copies
 * of a detached volume are stopped and as good.
 */
const replicaSchema = z
  .object({
    metadata: z.object({ deletionTimestamp: z.string().nullish() }),
    spec: z.object({
      volumeName: z.string(),
      nodeID: z.string().default(''),
      failedAt: z.string().default(''),
      healthyAt: z.string().default(''),
    }),
    status: z.object({ currentState: z.string().default('') }),
  })
  .transform(({ metadata, spec, status }): LonghornReplica => {
    const { volumeName: volume, nodeID: node, failedAt, healthyAt } = spec;
    const there =
      typeof metadata.deletionTimestamp !== 'string' && ['running', 'stopped'].includes(status.currentState);
    return { volume, node, healthy: there && failedAt === '' && healthyAt !== '' };
  });

/** Of `longhorn_volume_robustness`: unknown, healthy, degraded, faulted. */
const robustnessStates = 4;

/**
 * @param volumes `volumes.longhorn.io` of its namespace
 * @param replicas `replicas.longhorn.io` of its namespace
 * @param series the answer of `/api/v1/query` for `longhorn_volume_robustness`; null where no Prometheus is asked
 */
export function readLonghorn(
  volumes: RawObjects,
  replicas: RawObjects,
  series: Reading<unknown> | null,
): LonghornFacts {
  return {
    volumes: readObjects(volumes, 'Longhorn volumes', volumeSchema),
    replicas: readObjects(replicas, 'Longhorn replicas', replicaSchema),
    series: series === null ? null : readSeries(series),
  };
}

function readSeries(answer: Reading<unknown>): Reading<RobustnessSeries> {
  const samples = readSamples(answer, 'longhorn_volume_robustness');
  if (samples.kind === 'unmeasured') return samples;
  const perState = samples.value.some(({ labels }) => labels['state'] !== undefined);
  return read({ count: samples.value.length, perVolume: perState ? robustnessStates : 1 });
}

/** What the volumes are held against. */
export interface LonghornExpected {
  readonly spec: NonNullable<GatesSpec['longhorn']>;
  /** The node whose turn it is. */
  readonly turn: string;
}

/**
 * Every volume is there and healthy, and has two healthy copies on other nodes than the one whose turn it is: otherwise the
 * drain would only find out at its end. Between drain and reboot degraded volumes are our own doing, and the two copies
 * are what counts; after the reboot every volume is to be whole again, wherever its copies are.
 */
export function longhornGate(facts: LonghornFacts, expected: LonghornExpected, stage: GateStage): GateReading {
  const lift =
    'wait until Longhorn has rebuilt the copies; a volume that is gone or new is counted in gates.longhorn.volumes';
  return { gate: 'longhorn', verdict: judge(facts, expected, stage), lift };
}

function judge({ volumes, replicas, series }: LonghornFacts, expected: LonghornExpected, stage: GateStage): Verdict {
  if (volumes.kind === 'unmeasured') return volumes;
  const verdicts = [
    ...volumes.value.map((volume) => judgeVolume(volume, stage)),
    judgeCount(volumes.value.length, expected),
  ];
  if (stage !== 'after') verdicts.push(judgeCopies(volumes.value, replicas, expected.turn));
  if (series !== null) verdicts.push(judgeSeries(series, expected.spec.volumes));
  const faulted = verdicts.find((verdict) => verdict.kind === 'fail' && verdict.reason === 'VolumeFaulted');
  const all = faulted ?? allOf(verdicts, 'Longhorn volumes');
  return all.kind === 'pass' ? pass(`${volumes.value.length} volumes are as they should be`) : all;
}

function judgeCount(count: number, { spec }: LonghornExpected): Verdict {
  if (count === 0) return unmeasured('Longhorn volumes', 'API server', 'empty', 'Longhorn lists no volumes');
  if (count !== spec.volumes) return fail('VolumesMissing', `there are ${count} of ${spec.volumes} volumes`);
  return pass();
}

function judgeVolume({ name, state, robustness }: LonghornVolume, stage: GateStage): Verdict {
  switch (robustness) {
    case 'healthy':
      return pass();
    case 'faulted':
      return fail('VolumeFaulted', `volume ${name} is faulted: no copy of it is usable`);
    case 'degraded':
      return stage === 'last' ? pass() : fail('VolumeDegraded', `volume ${name} is degraded`);
    case 'unknown':
      // Nobody looks at the copies of a volume that is attached nowhere.
      if (state === 'detached') return pass();
      return unmeasured(
        `volume ${name}`,
        'Longhorn',
        'not-ready',
        `volume ${name} is ${state}, its robustness unknown`,
      );
    default:
      return unmeasured(
        `volume ${name}`,
        'Longhorn',
        'unparsed',
        `volume ${name} is "${robustness}", which says nothing`,
      );
  }
}

function judgeCopies(
  volumes: readonly LonghornVolume[],
  replicas: Reading<readonly LonghornReplica[]>,
  turn: string,
): Verdict {
  if (replicas.kind === 'unmeasured') return replicas;
  const healthy = replicas.value.filter(({ healthy, node }) => healthy && node !== '' && node !== turn);
  const short = volumes.flatMap(({ name }) => {
    const nodes = new Set(healthy.filter(({ volume }) => volume === name).map(({ node }) => node));
    return nodes.size < 2 ? [`volume ${name} has ${nodes.size}`] : [];
  });
  if (short.length === 0) return pass();
  return fail('TooFewCopies', `of two healthy copies on other nodes than ${turn} ${short.join(', ')}`);
}

function judgeSeries(series: Reading<RobustnessSeries>, volumes: number): Verdict {
  if (series.kind === 'unmeasured') return series;
  const { count, perVolume } = series.value;
  if (count === volumes * perVolume) return pass();
  const message = `Prometheus has ${count} series of longhorn_volume_robustness, and ${volumes} volumes make ${volumes * perVolume}`;
  return unmeasured('longhorn_volume_robustness', 'Prometheus', count === 0 ? 'empty' : 'truncated', message);
}
