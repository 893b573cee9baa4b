import type { NodeRebootSpec } from '../../domain/node-reboot/spec.ts';
import type { NodeRebootStatus } from '../../domain/node-reboot/status.ts';
import { appliedLine } from '../applied-line.ts';
import { exitCodes } from '../exit-codes.ts';
import { untilInterrupted } from '../interrupt.ts';
import { print } from '../output/print.ts';
import { createProgress, type Progress } from '../output/progress.ts';
import type { Temporal } from '../temporal/connect.ts';
import type { Decider } from '../who.ts';
import { describeRebootChanges } from './changes.ts';
import { isAtRest, rebootOutcome } from './outcome.ts';
import { applyReboot, askRebootStatus, sendRebootAction } from './reboot-client.ts';
import { rebootLooks } from './reboot-looks.ts';

/** Applies a NodeReboot and has its nodes looked at now. */
export async function runCampaign(
  temporal: Temporal,
  { name, spec }: { readonly name: string; readonly spec: NodeRebootSpec },
  decider: Decider,
  wait: boolean,
): Promise<void> {
  const object = `nodereboot/${name}`;
  const applied = await applyReboot(temporal, name, spec, decider);
  print(appliedLine(object, applied));
  // One that was just created looks by itself.
  const before = applied.result === 'created' ? null : await askRebootStatus(temporal, name);
  if (before !== null) await sendRebootAction(temporal, name, 'runNow', { ...decider });
  if (!wait) {
    print(`${object} looks at its nodes now; follow it: holdfast status ${object} --watch`);
    return;
  }
  const progress = createProgress();
  const status = await followToRest(temporal, name, before, progress);
  progress.end();
  if (status === null) {
    progress.say(`left; ${object} goes on. Follow it: holdfast status ${object} --watch`);
    process.exitCode = exitCodes.interrupted;
    return;
  }
  const { message, exitCode } = rebootOutcome(status);
  print(`${object}: ${message}`);
  process.exitCode = exitCode;
}

/** @returns null where the person left */
async function followToRest(
  temporal: Temporal,
  name: string,
  start: NodeRebootStatus | null,
  progress: Progress,
): Promise<NodeRebootStatus | null> {
  let before = start;
  for await (const { status } of rebootLooks(temporal, name, { signal: untilInterrupted(), say: progress.say })) {
    for (const line of describeRebootChanges(before, status)) progress.say(line);
    before = status;
    if (isAtRest(status)) return status;
    progress.at(status.turn === null ? 'looking' : `node ${status.turn.node}: ${status.phase}`);
  }
  return null;
}
