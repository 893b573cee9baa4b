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

/** Where and as whom a person runs commands. */
export interface Terminal {
  readonly timeline: Timeline;
  /** Files are told by their names in it. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** What is to be told before what the command has said [nothing]. */
  readonly first?: () => Promise<void>;
  /** True where what it says is a text of several lines, such as a tree. */
  readonly inLines?: boolean;
}

/** Runs `holdfast` as a person would and tells of it. @throws DidNotHappen where it ends otherwise than expected */
export function holdfast({ stage, timeline }: Teller, args: readonly string[], expected = 0): Promise<CliRun> {
  const { folder, lab } = stage;
  return runHoldfast({ timeline, folder, env: { TEMPORAL_ADDRESS: lab.temporalAddress } }, args, expected);
}

/** The same wherever a person sits. */
export async function runHoldfast(
  { timeline, folder, env, first, inLines = false }: Terminal,
  args: readonly string[],
  expected = 0,
): Promise<CliRun> {
  const shown = args.map((arg) => (arg.includes(' ') ? `'${arg}'` : arg)).join(' ');
  timeline.tell('you', `$ holdfast ${shown.replaceAll(`${folder}/`, '')}`);
  const run = await runCli(args, { env });
  await first?.();
  const tone = run.code === 0 ? 'plain' : 'waits';
  const said = `${run.stdout}${run.stderr}`.replace(/^holdfast: /, '');
  const [line = said, ...more] = inLines ? linesOf(said) : [said];
  timeline.tell('holdfast', line, tone);
  for (const text of more) timeline.add(text, tone);
  if (run.code !== expected) throw new DidNotHappen(`it ended with ${run.code}, not ${expected}`);
  return run;
}

/** What was told while it went on, with the time, is in what it came to. */
function linesOf(said: string): string[] {
  return said.split('\n').filter((line) => line.trim() !== '' && !/^\d{4}-\d\d-\d\dT\S+ /.test(line));
}

/** Claims that what was found is what the story says. @throws DidNotHappen where it is not */
export function claim({ timeline }: Pick<Teller, 'timeline'>, what: string, found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) {
    throw new DidNotHappen(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
  }
  timeline.tell('check', `ok: ${what}`, 'good');
}
