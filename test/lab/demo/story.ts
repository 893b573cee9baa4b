import { isDeepStrictEqual } from 'node:util';
import { runCli, type CliRun } from '../../unit/cli/run-cli.ts';
import type { Follower } from './follow.ts';
import type { Stage } from './stage.ts';
import type { Timeline } from './timeline.ts';

/** What a chapter of the story works with. */
export interface Teller {
  readonly stage: Stage;
  readonly timeline: Timeline;
  readonly follower: Follower;
  /** Aborted when the person leaves. */
  readonly signal: AbortSignal;
}

/** Something that the story claims did not happen: the message says what was found instead. */
export class DidNotHappen extends Error {
  override readonly name = 'DidNotHappen';
}

/** Runs `holdfast` as a person would and tells of it. @throws DidNotHappen where it ends otherwise than expected */
export async function holdfast({ stage, timeline }: Teller, args: readonly string[], expected = 0): Promise<CliRun> {
  const shown = args.map((arg) => (arg.includes(' ') ? `'${arg}'` : arg)).join(' ');
  timeline.tell('you', `$ holdfast ${shown.replaceAll(`${stage.folder}/`, '')}`);
  const run = await runCli(args, { env: { TEMPORAL_ADDRESS: stage.lab.temporalAddress } });
  timeline.tell(
    'holdfast',
    `${run.stdout}${run.stderr}`.replace(/^holdfast: /, ''),
    run.code === 0 ? 'plain' : 'waits',
  );
  if (run.code !== expected) throw new DidNotHappen(`it ended with ${run.code}, not ${expected}`);
  return run;
}

/** Claims that what was found is what the story says. @throws DidNotHappen where it is not */
export function claim({ timeline }: Pick<Teller, 'timeline'>, what: string, found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) {
    throw new DidNotHappen(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
  }
  timeline.tell('check', `ok: ${what}`, 'good');
}
