import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { pack, unpack } from '../../domain/core/packed.ts';
import { recordRefusal } from '../../domain/core/record-refusal.ts';
import { absorbOutcome } from '../../domain/release/absorb-outcome.ts';
import { addressOf } from '../../domain/release/address.ts';
import { parseAction, type ReleaseAction } from '../../domain/release/actions.ts';
import { applyAction, whyRefused } from '../../domain/release/apply-action.ts';
import { needsVerification } from '../../domain/core/approver.ts';
import { approvalToVerify, deciderOf } from '../../domain/release/apply-approval.ts';
import { controlsOf, type RolloutControl } from '../../domain/release/controls.ts';
import { evaluate } from '../../domain/release/evaluate.ts';
import { observationFingerprint } from '../../domain/release/fingerprint.ts';
import { releaseHistory } from '../../domain/release/history.ts';
import { HAND_BACK_MS, mayHandBack, recordKeptMarks, whyKept } from '../../domain/release/hand-back.ts';
import { initialState } from '../../domain/release/initial-state.ts';
import { waitNotification } from '../../domain/release/notifications.ts';
import { marksOwed } from '../../domain/release/marks-owed.ts';
import type { Observation } from '../../domain/release/observation.ts';
import { observationOffTheWire } from '../../domain/release/observation-wire.ts';
import { startRollout } from '../../domain/release/rollout-start.ts';
import { recordLostRollout } from '../../domain/release/record-decision.ts';
import type { MarksPatch, RolloutState } from '../../domain/release/rollout.ts';
import { targetName } from '../../domain/release/spec.ts';
import { noteWaiting } from '../../domain/release/waiting-since.ts';
import { statusText } from '../../domain/release/status-text.ts';
import { releaseStatus, type ReleaseStatus } from '../../domain/release/status.ts';
import { mayStart } from '../../domain/release/may-start.ts';
import { releaseSearchAttributes } from './search-attributes.ts';
import { hearAction, refusal, type ActionAnswer } from '../hear-action.ts';
import { proveApproval } from '../prove-approval.ts';
import { createPublishing } from '../publish.ts';
import { createTelling } from '../telling.ts';
import { idle, read, write } from './activities.ts';
import { writeOutcome } from './write-outcome.ts';
import {
  actionSignal,
  actionUpdate,
  ACTIONS,
  historyQuery,
  packedStatusQuery,
  releaseId,
  rolloutControlSignal,
  rolloutId,
  rolloutReportSignal,
  statusQuery,
  type ActionPayload,
  type ReleaseInput,
  type RolloutMessage,
} from './messages.ts';
import { parseRolloutReport, type ReadReport } from './parse-messages.ts';
import { releaseRollout } from './rollout.ts';

/** An idle release looks at the world in one activity for this long before it starts another. */
const IDLE_WAIT_MS = 6 * 60 * 60 * 1000;
/** How long marks between rollouts are tried. */
const MARKS_TRIED = '1m';
/** How long one target's marks are tried when ownership is released. */
const HAND_BACK_EACH_MS = 60_000;
/** While a rollout lives, its release makes sure this often that it has not been terminated. */
const ROLLOUT_CHECK = '1h';

/**
 * One release for as long as it exists: it looks, decides, and lets a rollout (a child workflow) carry the plan out.
 * It alone starts rollouts, and only one at a time. What it decides is in src/domain/release; here is only the order.
 *
 * It ends when its ownership is released, and continues as new when Temporal suggests it.
 */
export async function releaseWorkflow(input: ReleaseInput): Promise<void> {
  const carried = input.carried === undefined ? null : unpack(input.carried);
  let state = carried?.state ?? initialState(input.name, input.spec, Date.now());
  let rollout: RolloutState | null = carried?.rollout ?? null;
  let observation: Observation | null = null;
  let woken = false;
  let releasing = false;
  let starting = false;
  let owes = false;
  const telling = createTelling();
  const publish = createPublishing();

  const status = (): ReleaseStatus => releaseStatus(state, rollout, Date.now());

  setHandler(statusQuery, status);
  setHandler(packedStatusQuery, () => pack(status()));
  setHandler(historyQuery, () => releaseHistory(state, rollout));
  setHandler(rolloutReportSignal, (sent: unknown) => {
    const parsed = parseRolloutReport(sent, input.name);
    if (!parsed.ok) {
      state = recordRefusal(state, parsed.why, Date.now());
      return;
    }
    hear(parsed.message);
    describe();
  });
  for (const name of ACTIONS) {
    hearAction<ReleaseAction, ActionPayload>({
      name,
      update: actionUpdate(name),
      signal: actionSignal(name),
      parse: (payload) => parseAction(name, payload),
      whyRefused: (action) => whyNoneIsTaken() ?? whyRefused(state, action, Date.now(), rollout),
      act,
      keepRefusal: (text) => {
        state = recordRefusal(state, text, Date.now());
      },
    });
  }

  async function act(asked: ReleaseAction): Promise<ActionAnswer> {
    const why = whyNoneIsTaken();
    if (why !== null) throw refusal(why);
    const action = await verified(asked);
    const answer = applyAction(state, action, Date.now(), rollout);
    if (!answer.ok) throw refusal(answer.message);
    state = answer.state;
    if (answer.effect !== 'none') woken = true;
    if (answer.effect === 'release') releasing = true;
    if (action.action === 'block' || action.action === 'unblock') owes = true;
    describe();
    if (answer.forward) await forward(controlsOf(action, state, answer.decides));
    return { by: deciderOf(action), message: answer.record, generation: state.generation };
  }

  /** What was accepted now would be lost when the release ends. */
  function whyNoneIsTaken(): string | null {
    return releasing ? `release/${input.name} hands its targets back and ends; apply it again after that` : null;
  }

  function hear(report: ReadReport): void {
    if (report.kind === 'dropped') state = recordRefusal(state, `rollout ${report.rollout}: ${report.why}`, Date.now());
    else if (report.kind === 'state') rollout = report.state;
    else if (rollout?.id === report.rollout) {
      const { target } = report;
      rollout = {
        ...rollout,
        stopped: report.stopped,
        targets: rollout.targets.map((t) => (t.item.target === target.item.target ? target : t)),
      };
    }
    if (report.kind === 'state' && report.finished && rollout !== null) {
      state = absorbOutcome(state, rollout, Date.now());
      rollout = null;
      woken = true;
    }
  }

  /**
   * An approval with who signed it, where it needs a signature. It then is about the plan whose hash was signed, and
   * about no other that waits by the time it is verified.
   */
  async function verified(action: ReleaseAction): Promise<ReleaseAction> {
    if (action.action !== 'approve' || !needsVerification(state, action)) return action;
    const asked = approvalToVerify(state, action, rollout);
    return { ...action, ...(await proveApproval(action.by, asked, () => state.spec.approvers)) };
  }

  /** Tells the rollout what people want of it; one that is only being started is told once it is there. */
  async function forward(controls: readonly RolloutControl[]): Promise<void> {
    await condition(() => !starting);
    for (const control of controls) await tellRollout(control);
  }

  /** @returns false where there is no rollout to tell */
  async function tellRollout(control: RolloutMessage): Promise<boolean> {
    try {
      await getExternalWorkflowHandle(rolloutId(input.name)).signal(rolloutControlSignal, control);
      return true;
    } catch (error) {
      if (isCancellation(error)) throw error;
      return false;
    }
  }

  function describe(): void {
    state = noteWaiting(state, rollout, Date.now());
    const now = status();
    publish(statusText(now), releaseSearchAttributes(now));
  }

  /** Goes on with a rollout that an earlier run of this release started and that still lives. */
  async function adoptRollout(): Promise<void> {
    const alive = await tellRollout({ kind: 'report', to: releaseId(input.name) });
    if (!alive) {
      if (rollout !== null) lose(rollout);
      return;
    }
    await condition(() => rollout !== null || woken, '1m');
  }

  /** A rollout that is gone tells its outcome first, unless it was terminated: then only the targets know what it has done. */
  function lose(gone: RolloutState): void {
    if (rollout?.id !== gone.id) return;
    state = recordLostRollout(state, gone, Date.now());
    rollout = null;
    woken = true;
    describe();
  }

  async function startPlan(): Promise<void> {
    const evaluation = state.evaluation;
    if (evaluation === null) return;
    const started = startRollout({
      release: input.name,
      id: `${input.name}-${state.rolloutCount + 1}`,
      planHash: evaluation.planHash,
      spec: state.spec,
      items: evaluation.plan.items,
      state,
      now: Date.now(),
    });
    state = { ...state, rolloutCount: state.rolloutCount + 1 };
    rollout = started;
    starting = true;
    describe();
    try {
      const child = await startChild(releaseRollout, {
        workflowId: rolloutId(input.name),
        args: [{ state: pack(started), reportTo: releaseId(input.name) }],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        staticSummary: `${evaluation.plan.items.length} target(s) to ${evaluation.plan.items[0]?.toLabel ?? ''}`,
      });
      const ended = () => lose(started);
      void child.result().then(ended, ended);
    } catch (error) {
      // Another run's rollout lives under the id: it is the one, and it is asked for its state.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      await adoptRollout();
    } finally {
      starting = false;
    }
  }

  /** Waits while a rollout lives: for its outcome, for people, or for the time to see whether it still lives. */
  async function whileRolling(): Promise<void> {
    await condition(() => rollout === null || releasing || continuing() || owes, ROLLOUT_CHECK);
    if (owes) {
      await writeOwedMarks((observation ??= await observe()));
      return;
    }
    if (rollout !== null && !continuing()) await adoptRollout();
  }

  /** Makes the objects remember what people blocked and unblocked: a terminate leaves no time for it. */
  async function writeOwedMarks(seen: Observation): Promise<void> {
    owes = false;
    for (const owed of marksOwed(state, seen)) {
      // What does not get there is owed again at the next evaluation; a cluster that is down holds nothing else up.
      await writeOutcome(
        write.writeMarks.executeWithOptions(
          { summary: `${owed.target.name}: marks`, scheduleToCloseTimeout: MARKS_TRIED },
          [{ release: input.name, image: null, ...owed }],
        ),
      );
    }
  }

  /** Nobody is being told or answered, so that nothing would be cut off. */
  const quiet = (): boolean => telling.isQuiet() && allHandlersFinished();
  const continuing = (): boolean => workflowInfo().continueAsNewSuggested && quiet();

  /** Tells people once that they are waited for; nothing waits until they heard of it. */
  function notifyOfWait(): void {
    const { told, notification } = waitNotification(state);
    state = { ...state, told };
    if (notification !== null) telling.notify(notification);
  }

  /** What is to be read, as it is wanted now. */
  const toRead = () => ({ release: input.name, spec: state.spec, pin: state.pin?.image ?? null });

  async function observe(): Promise<Observation> {
    return observationOffTheWire(
      await read.observe.executeWithOptions({ summary: 'look at registry and clusters' }, [toRead()]),
    );
  }

  /** Reads the world: at once when something has happened, else when it differs from what is known. */
  async function look(): Promise<Observation | null> {
    if (observation === null || woken) {
      woken = false;
      return observe();
    }
    const wait = {
      known: observationFingerprint(observation),
      pollIntervalMs: state.spec.pollInterval,
      until: Math.min(Date.now() + IDLE_WAIT_MS, nextChange()),
    };
    let seen: Observation | null = null;
    const scope = new CancellationScope();
    try {
      await scope.run(() =>
        Promise.race([
          idle.awaitChange
            .executeWithOptions({ summary: 'wait for a change' }, [{ ...toRead(), ...wait }])
            .then((o) => {
              seen = observationOffTheWire(o);
            }),
          condition(() => woken || continuing()),
        ]),
      );
    } finally {
      scope.cancel();
    }
    return seen;
  }

  /** Takes our marks off the targets, as far as that can be done in time, and keeps where they stay. */
  async function handBack(): Promise<void> {
    if (!mayHandBack(state)) return;
    const until = Date.now() + HAND_BACK_MS;
    const kept: string[] = [];
    for (const target of state.spec.targets) {
      const left = Math.min(until - Date.now(), HAND_BACK_EACH_MS);
      const why =
        left <= 0
          ? 'no time was left'
          : whyKept(
              await writeOutcome(
                write.writeMarks.executeWithOptions(
                  { summary: `${targetName(target)}: hand back`, scheduleToCloseTimeout: left },
                  [{ release: input.name, target: addressOf(target, state.spec), image: null, marks: HAND_BACK }],
                ),
              ),
            );
      if (why !== null) kept.push(`${targetName(target)}: ${why}`);
    }
    state = recordKeptMarks(state, kept, Date.now());
  }

  function nextChange(): number {
    return state.evaluation?.changesAt ?? Number.MAX_SAFE_INTEGER;
  }

  describe();
  if (rollout === null) await adoptRollout();

  while (!releasing) {
    // Nothing is awaited between looking and ending: what was accepted meanwhile would be lost.
    if (continuing()) {
      await continueAsNew<typeof releaseWorkflow>({
        name: input.name,
        spec: state.spec,
        carried: pack({ state, rollout }),
      });
    }
    if (rollout !== null) {
      await whileRolling();
      continue;
    }
    if (state.spec.suspend) {
      await condition(() => woken || continuing());
      woken = false;
      describe();
      continue;
    }
    const seen = await look();
    if (seen === null) continue;
    observation = seen;
    const result = evaluate(state, observation, Date.now());
    state = result.state;
    notifyOfWait();
    describe();
    if (result.events.length > 0) await read.emitEvents({ release: input.name, events: result.events });
    await writeOwedMarks(observation);
    // Somebody spoke while events and marks were written: what was decided before is no longer what holds.
    if (woken) continue;
    if (mayStart(state)) await startPlan();
  }

  await handBack();
  await condition(quiet);
}

/** Takes every mark of ours off a target. */
const HAND_BACK: MarksPatch = {
  managedBy: null,
  applied: null,
  version: null,
  previousImage: null,
  previousVersion: null,
  upgradedAt: null,
  passed: null,
  rolledBackFrom: null,
  rolledBackAt: null,
  placements: null,
};
