import { addressOf, type TargetAddress } from '../../domain/release/address.ts';
import type { Command, Result, RolloutState, TargetRollout } from '../../domain/release/rollout.ts';
import { incumbentsOf } from '../../domain/release/incumbents.ts';
import { agentsOf, healthOf, targetName, type TargetSpec } from '../../domain/release/spec.ts';
import { writeDeadline } from '../../domain/release/write-deadline.ts';
import { ApplicationFailure } from '@temporalio/workflow';
import { read, watch, write } from './activities.ts';
import { writeOutcome, writeTimeLeft } from './write-outcome.ts';

/**
 * Does one command of a rollout through its activity and gives back what came of it. Nothing is decided here.
 *
 * @throws ApplicationFailure of type `UnknownTarget` where the state names a target that its spec does not have.
 */
export async function execute(state: RolloutState, name: string, command: Command): Promise<Result> {
  const spec = targetSpec(state, name);
  const rollout = targetRollout(state, name);
  const base = { release: state.release, target: addressOf(spec, state.spec) };
  const summary = (what: string) => ({ summary: `${name}: ${what}` });
  const writing = (what: string) => ({
    ...summary(what),
    scheduleToCloseTimeout: writeTimeLeft(writeDeadline(state, rollout), Date.now()),
  });
  switch (command.do) {
    case 'preflight':
      return read.preflight.executeWithOptions(summary('preflight'), [
        {
          ...base,
          from: rollout.item.from,
          health: healthOf(spec),
          agents: agentsOf(spec),
          skipGate: rollout.skipPreflight,
          incumbents: incumbentsOf(state.spec),
        },
      ]);
    case 'patch':
      return {
        of: 'patch',
        write: await writeOutcome(
          write.writeImage.executeWithOptions(writing(`write ${rollout.item.toLabel}`), [
            {
              ...base,
              from: command.from,
              to: command.to,
              marks: command.marks,
              lastWrite: command.lastWrite,
              incumbents: incumbentsOf(state.spec),
            },
          ]),
        ),
      };
    case 'rollBack':
      return {
        of: 'rollBack',
        // Incumbents do not hold a way back: leaving a broken image in place would help nobody.
        write: await writeOutcome(
          write.writeImage.executeWithOptions(writing('write the way back'), [
            { ...base, from: command.from, to: command.to, marks: command.marks, lastWrite: null, incumbents: [] },
          ]),
        ),
      };
    case 'markPassed':
      return {
        of: 'markPassed',
        write: await writeOutcome(
          write.writeMarks.executeWithOptions(writing('mark as passed'), [
            { ...base, image: rollout.item.to, marks: command.marks },
          ]),
        ),
      };
    case 'restorePlacements':
      return write.restorePlacements.executeWithOptions(summary('restore placements'), [
        { ...base, image: imageNow(rollout), agents: agentsOf(spec), placements: command.placements },
      ]);
    case 'watchRollout':
      return watch.watchRollout.executeWithOptions(summary(`rolling to ${rollout.item.toLabel}`), [
        {
          ...watchInput(base, spec, rollout, command.image, command.deadline, command.gateTimeoutMs),
          recovering: false,
        },
      ]);
    case 'watchRecovery': {
      const seen = await watch.watchRollout.executeWithOptions(summary('rolling back'), [
        {
          ...watchInput(base, spec, rollout, command.image, command.deadline, state.spec.gateTimeout),
          recovering: true,
        },
      ]);
      return { of: 'watchRecovery', verdict: seen.verdict, moved: seen.moved, stuck: seen.stuck };
    }
    case 'watchSoak':
      return watch.watchSoak.executeWithOptions(summary('soaking'), [
        {
          ...base,
          image: command.image,
          health: healthOf(spec),
          agents: agentsOf(spec),
          placements: rollout.placements,
          restarts: rollout.restarts ?? {},
          checks: state.spec.checks,
          probeIntervalMs: state.spec.soakProbeInterval,
          minimumSamples: state.spec.minimumSamples,
          until: command.until,
        },
      ]);
    case 'deletePod':
      return {
        of: 'deletePod',
        write: await writeOutcome(
          write.deletePod.executeWithOptions(writing(`delete pod ${command.pod}`), [
            { ...base, pod: command.pod, uid: command.uid },
          ]),
        ),
      };
    case 'settle':
      return { of: 'settle' };
    case 'wait':
    case 'done':
      throw ApplicationFailure.nonRetryable(`${name}: ${command.do} is nothing to execute`, 'NothingToExecute');
  }
}

function watchInput(
  base: { release: string; target: TargetAddress },
  spec: TargetSpec,
  rollout: TargetRollout,
  image: string,
  deadline: number,
  gateTimeoutMs: number,
) {
  return {
    ...base,
    image,
    health: healthOf(spec),
    agents: agentsOf(spec),
    placements: rollout.placements,
    deadline,
    gateTimeoutMs,
  };
}

/** The image that is on the target now: the way back once it was taken, else the new one. */
function imageNow(rollout: TargetRollout): string {
  return rollout.failure !== null && rollout.rollbackTo !== null ? rollout.rollbackTo.image : rollout.item.to;
}

function targetSpec(state: RolloutState, name: string): TargetSpec {
  const spec = state.spec.targets.find((t) => targetName(t) === name);
  if (!spec)
    throw ApplicationFailure.nonRetryable(`target ${name} is not in the spec of this rollout`, 'UnknownTarget');
  return spec;
}

function targetRollout(state: RolloutState, name: string): TargetRollout {
  const target = state.targets.find((t) => t.item.target === name);
  if (!target) throw ApplicationFailure.nonRetryable(`target ${name} is not in this rollout`, 'UnknownTarget');
  return target;
}
