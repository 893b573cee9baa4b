import { z } from 'zod';
import { approverSchema } from '../core/approver.ts';
import { duration } from '../core/duration.ts';
import { modeSchema } from '../core/mode.ts';
import { freezeSchema, windowSchema } from '../core/window.ts';
import { dnsLabel, dnsName } from '../core/kubernetes-name.ts';

/**
 * The spec of a Release as people keep it in git. Durations are written in Go's form (`1m30s`) and read as
 * milliseconds. Strict throughout: a misspelt field is an error, never a default.
 */

const repository = z
  .string()
  .regex(
    /^[a-zA-Z0-9][a-zA-Z0-9.-]*(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)+$|^[a-z0-9]+([._-]+[a-z0-9]+)*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/,
    'expected an image repository without tag or digest, such as registry.example.com/team/app',
  );

const tag = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/, 'expected an image tag such as v6-latest');

function isRegularExpression(source: string): boolean {
  try {
    new RegExp(source);
    return true;
  } catch {
    return false;
  }
}

/** What a target follows: a moving tag, or the newest semver tag that matches a regular expression. */
export const trackSchema = z
  .strictObject({
    tag: tag.optional().describe('A tag that moves, such as v6-latest.'),
    line: z
      .string()
      .min(1)
      .max(200)
      .refine(isRegularExpression, 'expected a regular expression over tags, such as ^v5\\.')
      .optional()
      .describe('A regular expression over semver tags, such as ^v5\\. ; the newest match that is no prerelease wins.'),
    prereleases: z.boolean().default(false).describe('Let prereleases win on a line.'),
  })
  .refine((t) => (t.tag === undefined) !== (t.line === undefined), 'expected either tag or line');

/** A pin as people write it, in a spec and in `holdfast pin`. */
export const pinSchema = z
  .string()
  .regex(
    /^([A-Za-z0-9_][A-Za-z0-9._-]{0,127}(@sha256:[a-f0-9]{64})?|@?sha256:[a-f0-9]{64})$/,
    'expected a tag, a digest (sha256: and 64 hexadecimal digits) or tag@digest',
  )
  .describe('A tag, a digest, or tag@digest that is wanted instead of what the track resolves to.');

/** What is blocked: a digest or a version label. */
export const blockSchema = z
  .string()
  .min(1)
  .max(200)
  .describe('A digest (sha256:…) or a version label such as v6.1.2.');

const port = z.int().min(1).max(65_535);
const path = z.string().startsWith('/');
/** A spec is kept in git and in Temporal, so that no credentials may stand in it. */
const httpUrl = z
  .url({ protocol: /^https?$/, hostname: /.+/ })
  .refine((url) => !hasCredentials(url), 'give a URL without user and password: whoever may read the spec reads them');

function hasCredentials(url: string): boolean {
  return /^[a-z]+:\/\/[^/?#]*@/i.test(url);
}

/** How the health of a target is asked for. `none` leaves it to the pod's own readiness. */
export const healthSchema = z.union([
  z.literal('none'),
  z.strictObject({
    http: z
      .strictObject({
        port: port.default(8080),
        path: path.default('/api/health'),
        expect: z.int().min(100).max(599).default(200),
      })
      .describe('GET in each pod through the API server; healthy is the expected status.'),
  }),
  z.strictObject({
    exec: z
      .strictObject({ command: z.array(z.string()).min(1), container: dnsLabel.optional() })
      .describe('A command in each pod; healthy is exit code 0.'),
  }),
  z.strictObject({ url: httpUrl.describe('GET from the worker; healthy is 200.') }),
]);

/** Where a spoke's agents are read and their placements written. */
export const agentsSchema = z.union([
  z.literal('none'),
  z.strictObject({
    port: port.default(8080),
    statusPath: path.default('/api/status'),
    modelsPath: path
      .includes('{name}')
      .default('/api/config/agent/{name}/models')
      .describe('PUT with backend, model and effort; {name} is the agent.'),
    journal: z
      .strictObject({
        path: path.default('/state/hive-state.json'),
        command: z
          .array(z.string())
          .min(1)
          .default(['cat'])
          .describe('Prints the file whose path is added as last argument.'),
      })
      .optional()
      .describe("The spoke's override journal, overlaid on what the status reports."),
  }),
]);

/** A query whose single value must stay within a bound all through the soak. */
export const checkSchema = z
  .strictObject({
    name: dnsLabel,
    query: z
      .string()
      .min(1)
      .describe('PromQL that answers with one value. {{target}}, {{namespace}}, {{workload}} are replaced.'),
    max: z.number().optional(),
    min: z.number().optional(),
  })
  .refine((c) => c.max !== undefined || c.min !== undefined, 'expected max or min');

const targetSchema = z
  .strictObject({
    name: dnsName.optional().describe('How people call this target [the name of the workload].'),
    cluster: dnsName.optional().describe("One of the worker's clusters [the release's]."),
    namespace: dnsLabel,
    deployment: dnsName.optional(),
    statefulSet: dnsName.optional(),
    daemonSet: dnsName.optional(),
    container: dnsLabel.describe('The container, or init container, whose image is written.'),
    kind: z
      .enum(['spoke', 'hub', 'plain'])
      .default('spoke')
      .describe(
        'spoke: health and agents in each pod; hub: a healthURL; plain: readiness alone unless health is given.',
      ),
    healthURL: httpUrl.optional().describe('For a hub: GET from the worker must answer 200.'),
    image: repository.optional(),
    track: trackSchema.optional(),
    pin: pinSchema.optional(),
    soak: duration({ min: 0 }).optional(),
    allowMajorChange: z.boolean().default(false),
    health: healthSchema.optional(),
    agents: agentsSchema.optional(),
  })
  .refine(
    (t) => [t.deployment, t.statefulSet, t.daemonSet].filter((w) => w !== undefined).length === 1,
    'expected exactly one of deployment, statefulSet, daemonSet',
  )
  .refine((t) => t.kind !== 'hub' || t.healthURL !== undefined || t.health !== undefined, {
    message: 'a hub needs healthURL (or health)',
    path: ['healthURL'],
  });

const waveSchema = z.union([
  z.int().min(1),
  z.string().regex(/^([1-9]\d?|100)%$/, 'expected a number of targets or a percentage such as 25%'),
]);

const incumbentSchema = z.strictObject({
  cluster: dnsName.optional(),
  apiVersion: z.string().min(1).default('batch/v1'),
  kind: z.string().min(1).default('CronJob'),
  namespace: dnsLabel,
  name: dnsName,
});

/**
 * Characters of a spec as JSON: what a release knows of its targets grows with what the spec says of them, and all of it
 * together must go through Temporal, which takes 2 MB at a time.
 */
const LONGEST_SPEC = 256 * 1_024;

/** The `spec` of a Release document. */
export const releaseSpec = z
  .strictObject({
    mode: modeSchema.default('Shadow'),
    suspend: z.boolean().default(false).describe('Stops all evaluation.'),
    cluster: dnsName.default('default').describe("One of the worker's configured clusters."),
    image: repository,
    track: trackSchema.optional(),
    pin: pinSchema.optional(),
    blocklist: z.array(blockSchema).max(500).default([]),
    pollInterval: duration({ min: 1_000 }).prefault('1m'),
    soak: duration({ min: 0 }).prefault('10m'),
    soakProbeInterval: duration({ min: 100 }).prefault('1m'),
    minimumSamples: z.int().min(0).max(1_000).default(1).describe('Measured health samples that a soak needs to pass.'),
    rolloutTimeout: duration({ min: 1_000 }).prefault('7m'),
    gateTimeout: duration({ min: 1_000 }).prefault('3m'),
    rollbackTimeout: duration({ min: 1_000 }).prefault('10m'),
    cooldown: duration({ min: 0 }).prefault('20h'),
    approval: z.enum(['none', 'beforeFirst', 'afterCanary', 'beforeEach']).default('none'),
    approvers: z.array(approverSchema).min(1).max(100).optional(),
    waves: z
      .array(waveSchema)
      .max(100)
      .optional()
      .describe('After the canary: sizes of the batches [one target at a time].'),
    onFailure: z.enum(['stop', 'undo']).default('stop'),
    minimumAge: duration({ min: 0 }).prefault('0s'),
    windows: z.array(windowSchema).max(50).optional(),
    freeze: z.array(freezeSchema).max(50).optional(),
    checks: z.array(checkSchema).max(50).default([]),
    incumbents: z.array(incumbentSchema).max(50).default([]),
    targets: z.array(targetSchema).min(1).max(2_000),
  })
  .superRefine((spec, context) => {
    const size = JSON.stringify(spec).length;
    if (size > LONGEST_SPEC) {
      context.addIssue({
        code: 'custom',
        path: ['targets'],
        message: `the spec has ${size} characters as JSON, and at most ${LONGEST_SPEC} fit: make several releases of these ${spec.targets.length} targets`,
      });
    }
    const seen = new Map<string, number>();
    const workloads = new Map<string, number>();
    for (const [index, target] of spec.targets.entries()) {
      const name = targetName(target);
      if (seen.has(name)) {
        context.addIssue({
          code: 'custom',
          path: ['targets', index, 'name'],
          message: `target "${name}" is already the name of targets[${seen.get(name)}]; give one of them a name of its own`,
        });
      }
      seen.set(name, index);
      const workload = `${target.cluster ?? spec.cluster}/${target.namespace}/${workloadOf(target).kind}/${workloadOf(target).name}`;
      if (workloads.has(workload)) {
        context.addIssue({
          code: 'custom',
          path: ['targets', index],
          message: `${workload} is already targets[${workloads.get(workload)}]; a workload is the target of one entry`,
        });
      }
      workloads.set(workload, index);
      if (followsNothing(spec, target)) {
        context.addIssue({
          code: 'custom',
          path: ['targets', index, 'track'],
          message:
            spec.pin === undefined
              ? 'nothing says what this target follows: give spec.track, spec.pin, or a track or pin here'
              : 'nothing says what this target follows: spec.pin is not for a target with an image of its own; give a track or pin here',
        });
      }
    }
  });

/** `spec.pin` is for targets on the default line alone: those without image, track or pin of their own. */
function followsNothing(
  spec: { readonly track?: unknown; readonly pin?: unknown },
  target: { readonly image?: unknown; readonly track?: unknown; readonly pin?: unknown },
): boolean {
  if (target.pin !== undefined || target.track !== undefined || spec.track !== undefined) return false;
  return spec.pin === undefined || target.image !== undefined;
}

/** A Release's spec after parsing: defaults filled in, durations in milliseconds. Plain JSON. */
export type ReleaseSpec = z.output<typeof releaseSpec>;
/** A Release's spec as written. */
export type ReleaseSpecInput = z.input<typeof releaseSpec>;
export type TargetSpec = ReleaseSpec['targets'][number];
export type Track = z.output<typeof trackSchema>;
export type Health = z.output<typeof healthSchema>;
export type Agents = z.output<typeof agentsSchema>;
export type Check = z.output<typeof checkSchema>;

export type WorkloadKind = 'Deployment' | 'StatefulSet' | 'DaemonSet';

/** The workload a target names. */
export function workloadOf(target: Pick<TargetSpec, 'deployment' | 'statefulSet' | 'daemonSet'>): {
  kind: WorkloadKind;
  name: string;
} {
  if (target.deployment !== undefined) return { kind: 'Deployment', name: target.deployment };
  if (target.statefulSet !== undefined) return { kind: 'StatefulSet', name: target.statefulSet };
  return { kind: 'DaemonSet', name: target.daemonSet ?? '' };
}

/** How people call a target: its name, else its workload's. */
export function targetName(target: Pick<TargetSpec, 'name' | 'deployment' | 'statefulSet' | 'daemonSet'>): string {
  return target.name ?? workloadOf(target).name;
}

/** How the target's health is asked for, with the defaults of its kind. */
export function healthOf(target: TargetSpec): Health {
  if (target.health !== undefined) return target.health;
  if (target.healthURL !== undefined) return { url: target.healthURL };
  if (target.kind === 'spoke') return { http: { port: 8080, path: '/api/health', expect: 200 } };
  return 'none';
}

/** Where the target's agents are read, with the defaults of its kind. */
export function agentsOf(target: TargetSpec): Agents {
  if (target.agents !== undefined) return target.agents;
  if (target.kind !== 'spoke') return 'none';
  return {
    port: 8080,
    statusPath: '/api/status',
    modelsPath: '/api/config/agent/{name}/models',
    journal: { path: '/state/hive-state.json', command: ['cat'] },
  };
}
