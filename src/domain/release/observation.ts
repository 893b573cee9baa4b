import type { Reading } from '../core/verdict.ts';
import type { FieldOwner } from '../core/managed-fields.ts';
import type { Freeze } from '../core/window.ts';
import type { WorkloadKind } from './spec.ts';

/**
 * What one evaluation reads, before anything is decided. Plain JSON and small: it travels through Temporal. Lines and
 * images are keyed, so that five hundred targets on one tag carry it once.
 */
export interface Observation {
  /** When it was read, epoch milliseconds. */
  readonly at: number;
  /** What each followed line (see `lineKey`) resolves to now. */
  readonly lines: Readonly<Record<string, Reading<ResolvedLine>>>;
  /** Facts of images that run or were applied, by reference as it stands in the workload. */
  readonly images: Readonly<Record<string, Reading<ImageFacts>>>;
  /** By target name. */
  readonly targets: Readonly<Record<string, TargetObservation>>;
  /** One reading for each incumbent of the spec, in its order. */
  readonly incumbents: readonly IncumbentReading[];
  /** Freezes of all releases, as the worker that read this is configured. */
  readonly freezes: readonly Freeze[];
}

/** A line (repository and track, or pin) resolved to one image. */
export interface ResolvedLine {
  readonly repository: string;
  /** The tag that was resolved; null where a bare digest was pinned. */
  readonly tag: string | null;
  readonly digest: string;
  /** What people call it: the semver tag, or `<line>-<first 12 of revision>` of a moving tag. */
  readonly label: string;
  /** Label `org.opencontainers.image.revision`. */
  readonly revision: string | null;
  /** Semver of the image, or null where neither tag nor labels tell. */
  readonly version: string | null;
  /** Platforms in the index, `linux/arm64/v8` form, attestations left out. */
  readonly platforms: readonly string[];
  /** Index entries without a platform: they match nothing, and are named. */
  readonly unplatformed: number;
  /** Digest of each platform's manifest, to recognise what a runtime reports. */
  readonly platformDigests: Readonly<Record<string, string>>;
  /** Why each other tag of a semver line lost (the nearest few). */
  readonly rejected: readonly { readonly tag: string; readonly reason: string }[];
}

/** What is known of an image that is not the wanted one. */
export interface ImageFacts {
  readonly version: string | null;
  readonly label: string;
  readonly revision: string | null;
}

export interface IncumbentReading {
  /** Such as `CronJob ops/nightly-roll`. */
  readonly name: string;
  readonly state: Reading<'absent' | 'suspended' | 'active'>;
}

export interface TargetObservation {
  readonly workload: Reading<WorkloadSnapshot>;
  /** Architectures (`amd64`) of the nodes that the target's pods may run on. */
  readonly architectures: Reading<readonly string[]>;
}

/** One workload as far as decisions need it. */
export interface WorkloadSnapshot {
  readonly kind: WorkloadKind;
  readonly uid: string;
  /** Image of the target's container as the template has it; null where the container does not exist. */
  readonly image: string | null;
  /** Digest that the running pods report, where all agree; for a template that has a bare tag. */
  readonly runningDigest: string | null;
  readonly replicas: number;
  readonly paused: boolean;
  /** `updateStrategy.type` of a StatefulSet or DaemonSet, `strategy.type` of a Deployment. */
  readonly strategy: string;
  readonly containers: readonly string[];
  readonly marks: Marks;
  /** Who last wrote the container's image, from managedFields. */
  readonly imageWriter: FieldOwner | null;
}

/**
 * What Holdfast keeps on the object itself (annotations `holdfast.dev/*`), in the same patch as each change, so that a
 * run that has lost everything else goes on from it.
 */
export interface Marks {
  /** `release/NAME` of the release that manages the image. */
  readonly managedBy: string | null;
  /** The image that was last written here by a release. */
  readonly applied: string | null;
  readonly version: string | null;
  readonly previousImage: string | null;
  readonly previousVersion: string | null;
  readonly upgradedAt: string | null;
  /** The last applied image that passed gate and soak here. */
  readonly passed: string | null;
  readonly rolledBackFrom: string | null;
  readonly rolledBackAt: string | null;
  /** Digests and labels that failed here or were blocked by a person. */
  readonly blocked: readonly BlockMark[];
  /** Placements of the agents as they were before the change. */
  readonly placements: readonly Placement[] | null;
}

export interface BlockMark {
  /** `sha256:…` or a version label. */
  readonly image: string;
  /** ISO instant. */
  readonly at: string;
  readonly reason: string;
  /** ISO instant before which even an unblocked digest is not tried again. */
  readonly cooldownUntil?: string;
  /** Not blocked: only its cooldown holds it. */
  readonly cooldownOnly?: true;
}

/** Where one agent of a spoke runs. */
export interface Placement {
  readonly name: string;
  readonly backend: string;
  readonly model: string;
  readonly effort: string;
  readonly paused: boolean;
}
