import {
  CancellationScope,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  isCancellation,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { pack, unpack } from '../../domain/core/packed.ts';
import type { Notification } from '../../domain/core/notification.ts';
import { applyResult } from '../../domain/release/apply-result.ts';
import { transitionEvents, type TargetEvent } from '../../domain/release/events.ts';
import { nextCommand } from '../../domain/release/next-command.ts';
import { applyControl } from '../../domain/release/controls.ts';
import { rolloutNotifications } from '../../domain/release/notifications.ts';
import { isFinished } from '../../domain/release/rollout-control.ts';
import { rolloutText } from '../../domain/release/rollout-text.ts';
import type { Command, Result, RolloutState } from '../../domain/release/rollout.ts';
import { execute } from './execute.ts';
import { tell } from '../shared-activities.ts';
import { read } from './activities.ts';
import {
  rolloutControlSignal,
  rolloutReportSignal,
  rolloutStateQuery,
  type RolloutInput,
  type RolloutReport,
} from './messages.ts';
import { parseRolloutMessage } from './parse-messages.ts';

/** A failure ends all targets that have not begun: of so many the release is told in one message. */
const REPORTED_ONE_BY_ONE = 5;

/**
 * Carries one plan out. Every decision is a pure function of the state (`nextCommand`, `applyResult`); this workflow
 * only does what they say, tells the release of each step, and lets people interrupt what is being watched.
 *
 * Of a write that is no longer wanted nothing more is sent; what came of what was sent is awaited and taken in.
 */
export async function releaseRollout(input: RolloutInput): Promise<void> {
  let state = unpack(input.state);
  let reportTo = input.reportTo;
  let draining = false;
  const pending: Promise<void>[] = [];

  setHandler(rolloutStateQuery, () => state);
  setHandler(rolloutControlSignal, async (sent: unknown) => {
    const parsed = parseRolloutMessage(sent, state.release);
    if (!parsed.ok) {
      await report({ rollout: state.id, kind: 'dropped', why: parsed.why });
      return;
    }
    const control = parsed.message;
    if (control.kind === 'report') {
      reportTo = control.to;
      await report({ rollout: state.id, kind: 'state', state: pack(state), finished: false });
      return;
    }
    const before = state;
    state = applyControl(state, control, Date.now());
    tellChanges(before, 'more');
  });

  function describe(): void {
    setCurrentDetails(rolloutText(state));
  }

  async function report(message: RolloutReport): Promise<void> {
    try {
      await getExternalWorkflowHandle(reportTo).signal(rolloutReportSignal, message);
    } catch (error) {
      // The release was terminated: the rollout goes on, and a new release asks for the whole state when it starts.
      if (isCancellation(error)) throw error;
    }
  }

  /** Events, reports and notifications must not hold up a rollback; they are awaited at the end. */
  function later(work: Promise<void>): void {
    pending.push(
      work.catch((error: unknown) => {
        if (isCancellation(error)) throw error;
      }),
    );
  }

  async function emit(events: readonly TargetEvent[]): Promise<void> {
    if (events.length > 0) await read.emitEvents({ release: state.release, events });
  }

  async function notify(said: Notification): Promise<void> {
    await tell.notify.executeWithOptions({ summary: `tell: ${said.what}` }, [said]);
  }

  function absorb(target: string, result: Result): void {
    const before = state;
    state = applyResult(state, target, result, Date.now());
    later(emit(transitionEvents(before, state, workflowInfo().runId)));
    tellChanges(before, 'targets');
  }

  /** Tells the release what has changed, people of what they wait for, and the UI where it is. */
  function tellChanges(before: RolloutState, changed: 'targets' | 'more'): void {
    const targets = state.targets.filter((t, index) => t !== before.targets[index]);
    if (changed === 'more' || targets.length > REPORTED_ONE_BY_ONE) {
      later(report({ rollout: state.id, kind: 'state', state: pack(state), finished: false }));
    } else {
      for (const t of targets) later(report({ rollout: state.id, kind: 'target', target: t, stopped: state.stopped }));
    }
    for (const said of rolloutNotifications(before, state)) later(notify(said));
    describe();
  }

  async function drive(target: string): Promise<void> {
    while (!draining) {
      const command = nextCommand(state, target, Date.now());
      if (command.do === 'done') return;
      if (command.do === 'wait') {
        await condition(() => draining || !same(nextCommand(state, target, Date.now()), command));
        continue;
      }
      const result = isWatch(command)
        ? await untilOtherwise(target, command)
        : await CancellationScope.nonCancellable(() =>
            isWrite(command) ? whileWanted(target, command) : execute(state, target, command),
          );
      if (result) absorb(target, result);
    }
  }

  /**
   * Does a write, as long as it is wanted: once people want otherwise its activity sends nothing more, and only looks
   * what came of what it has sent. That outcome is awaited and taken in.
   *
   * @returns null where nothing is to be taken in of one that was called off
   */
  async function whileWanted(target: string, command: Command): Promise<Result | null> {
    const unwanted = () => nextCommand(state, target, Date.now()).do !== command.do;
    const work = new CancellationScope();
    const guard = new CancellationScope();
    void guard
      .run(async () => {
        await condition(unwanted);
        work.cancel();
      })
      .catch(() => undefined);
    try {
      return await work.run(() => execute(state, target, command));
    } catch (error) {
      if (work.consideredCancelled && isCancellation(error)) return null;
      throw error;
    } finally {
      guard.cancel();
    }
  }

  /** Does a watch until it ends, or until something else is to be done for the target. */
  async function untilOtherwise(target: string, command: Command): Promise<Result | null> {
    const scope = new CancellationScope();
    let result: Result | null = null;
    try {
      await scope.run(async () => {
        await Promise.race([
          execute(state, target, command).then((r) => {
            result = r;
          }),
          condition(() => nextCommand(state, target, Date.now()).do !== command.do),
        ]);
      });
    } finally {
      scope.cancel();
    }
    return result;
  }

  describe();
  if (workflowInfo().continuedFromExecutionRunId === undefined) {
    await report({ rollout: state.id, kind: 'state', state: pack(state), finished: false });
  }
  const drives = state.targets.map((t) => drive(t.item.target));
  const drained = condition(() => isFinished(state) || workflowInfo().continueAsNewSuggested).then(() => {
    draining = true;
  });
  await Promise.all([...drives, drained]);
  await Promise.all(pending);
  if (!isFinished(state)) await continueAsNew<typeof releaseRollout>({ state: pack(state), reportTo });
  await report({ rollout: state.id, kind: 'state', state: pack(state), finished: true });
}

function isWatch(command: Command): boolean {
  return command.do === 'watchRollout' || command.do === 'watchSoak' || command.do === 'watchRecovery';
}

/** What changes something outside. */
function isWrite({ do: what }: Command): boolean {
  return (
    what === 'patch' ||
    what === 'rollBack' ||
    what === 'markPassed' ||
    what === 'deletePod' ||
    what === 'restorePlacements'
  );
}

function same(a: Command, b: Command): boolean {
  return a.do === b.do && (a.do !== 'wait' || b.do !== 'wait' || a.for === b.for);
}
