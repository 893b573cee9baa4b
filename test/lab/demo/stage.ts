import type { LabEnv } from '../lab.ts';

/** Where the demo plays. Plain data. */
export interface Stage {
  readonly lab: LabEnv;
  readonly namespace: string;
  /** Name of the release. */
  readonly release: string;
  /** `host:port/path`, without a tag. */
  readonly repository: string;
  /** Of this run: the worker's configuration and the release's file. */
  readonly folder: string;
  /** Of the release, as YAML. */
  readonly specFile: string;
  /** Where a target's health is asked for, where no machine runs its pods; null on the real node. */
  readonly fakeHealth: string | null;
}

/** In the order in which they are rolled: the first is the canary. */
export const TARGETS = ['canary', 'north', 'south'] as const;
export type Target = (typeof TARGETS)[number];
export const CONTAINER = 'web';

/** How long an image must hold in the demo before the next target follows, seconds. */
export const SOAK_SECONDS = 10;
/** When the bad image breaks, seconds after its start: late enough to pass the gate, early enough for the soak. */
export const BREAKS_AFTER_SECONDS = 6;

/** The version that breaks. */
export const BAD_VERSION = '1.2.0';
