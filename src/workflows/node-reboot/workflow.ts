import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { needsVerification } from '../../domain/core/approver.ts';
import { pack, unpack } from '../../domain/core/packed.ts';
import { recordRefusal } from '../../domain/core/record-refusal.ts';
import { parseAction, type NodeRebootAction } from '../../domain/node-reboot/actions.ts';
import { advanceCampaign } from '../../domain/node-reboot/advance-campaign.ts';
import { applyAction, whyRefused } from '../../domain/node-reboot/apply-action.ts';
import { approvalNotification, withOfferTold } from '../../domain/node-reboot/approval-notification.ts';
import { approvalToVerify, decider } from '../../domain/node-reboot/apply-approval.ts';
import { applyResult, stillCounts } from '../../domain/node-reboot/apply-result.ts';
import { isInterruptedBy, type CampaignCommand } from '../../domain/node-reboot/command.ts';
import { nodeRebootHistory } from '../../domain/node-reboot/history.ts';
import type { CampaignResult } from '../../domain/node-reboot/result.ts';
import { initialState } from '../../domain/node-reboot/state.ts';
import { nodeRebootStatus } from '../../domain/node-reboot/status.ts';
import { statusText } from '../../domain/node-reboot/status-text.ts';
import { hearAction, refusal, type ActionAnswer } from '../hear-action.ts';
import { proveApproval } from '../prove-approval.ts';
import { createPublishing } from '../publish.ts';
import { createTelling } from '../telling.ts';
import { execute, type Executed } from './execute.ts';
import {
  NODE_REBOOT_ACTIONS,
  nodeRebootHistoryQuery,
  nodeRebootSignal,
  nodeRebootStatusQuery,
  nodeRebootUpdate,
  type NodeRebootInput,
  type NodeRebootPayload,
} from './messages.ts';
import { nodeRebootSearchAttributes } from './search-attributes.ts';

/**
 * One NodeReboot for as long as it exists: one command after the other, each decided anew in src/domain/node-reboot; here is
 * only the order. A message that makes something else due cuts a wait short.
 *
 * It ends when it is cancelled, and continues as new when Temporal suggests it. What must outlive it stands in the lock.
 */
export async function nodeRebootWorkflow(input: NodeRebootInput): Promise<void> {
  const run = workflowInfo().firstExecutionRunId;
  let state = input.carried === undefined ? initialState(input.name, run, input.spec) : unpack(input.carried);
  let underWay: { readonly command: CampaignCommand; readonly scope: CancellationScope } | null = null;
  let interrupted = false;
  let heard = 0;
  const publish = createPublishing();
  const telling = createTelling();

  const status = () => nodeRebootStatus(state, Date.now());
  const quiet = (): boolean => telling.isQuiet() && allHandlersFinished();
  const continuing = (): boolean => workflowInfo().continueAsNewSuggested && quiet();

  setHandler(nodeRebootStatusQuery, status);
  setHandler(nodeRebootHistoryQuery, () => nodeRebootHistory(state));
  for (const name of NODE_REBOOT_ACTIONS) {
    hearAction<NodeRebootAction, NodeRebootPayload>({
      name,
      update: nodeRebootUpdate(name),
      signal: nodeRebootSignal(name),
      parse: (payload) => parseAction(name, payload),
      whyRefused: whyRefusedNow,
      act,
      keepRefusal: (text) => {
        state = recordRefusal(state, text, Date.now());
      },
    });
  }

  async function act(asked: NodeRebootAction): Promise<ActionAnswer> {
    const action = await verified(asked);
    const answer = applyAction(state, action, Date.now());
    if (!answer.ok) throw refusal(answer.message);
    state = answer.state;
    heard += 1;
    interrupt();
    describe();
    const by = action.action === 'approve' ? decider(action) : action.by;
    return { by, message: answer.record, generation: state.generation };
  }

  /** A signature is verified after the message was accepted: until then only what else speaks against it counts. */
  function whyRefusedNow(action: NodeRebootAction): string | null {
    if (action.action !== 'approve' || !needsVerification(state, action)) return whyRefused(state, action, Date.now());
    const asked = approvalToVerify(state, action);
    if ('message' in asked) return asked.message;
    return whyRefused(state, { ...action, plan: asked.planHash, verifiedBy: action.by }, Date.now());
  }

  /** An approval with who signed it, where it needs a signature. It then is about the offer whose hash was signed. */
  async function verified(action: NodeRebootAction): Promise<NodeRebootAction> {
    if (action.action !== 'approve' || !needsVerification(state, action)) return action;
    const asked = approvalToVerify(state, action);
    return { ...action, ...(await proveApproval(action.by, asked, () => state.spec.approvers)) };
  }

  function describe(): void {
    const now = status();
    publish(statusText(now), nodeRebootSearchAttributes(now));
  }

  /** Cuts short what is waited for, where something else is due by now. */
  function interrupt(): void {
    if (underWay === null) return;
    const { command } = advanceCampaign(state, Date.now());
    if (!isInterruptedBy(underWay.command, command)) return;
    interrupted = true;
    underWay.scope.cancel();
  }

  /** What came of a command; a wait that was cut short has brought nothing. */
  async function carryOut(command: Executed): Promise<CampaignResult> {
    const scope = new CancellationScope();
    underWay = { command, scope };
    interrupted = false;
    try {
      return await scope.run(() => execute(state, command));
    } catch (error) {
      if (interrupted && isCancellation(error)) return { of: 'woken' };
      throw error;
    } finally {
      underWay = null;
    }
  }

  /** Delivers the pages, each until somebody has taken it; what may go on meanwhile, `nextCommand` says. */
  async function deliverPages(): Promise<void> {
    for (;;) {
      await condition(() => state.pages.length > 0);
      const [page] = state.pages;
      if (page === undefined) continue;
      const result = await execute(state, { do: 'page', page });
      state = applyResult(state, result, Date.now());
      describe();
    }
  }

  describe();
  // The cancellation of the workflow itself is heard by what follows.
  void deliverPages().catch((error: unknown) => {
    if (!isCancellation(error)) throw error;
  });
  for (;;) {
    // Nothing is awaited between looking and ending: what was accepted meanwhile would be lost.
    if (continuing()) {
      await continueAsNew<typeof nodeRebootWorkflow>({ name: input.name, spec: state.spec, carried: pack(state) });
    }
    const { state: advanced, command } = advanceCampaign(state, Date.now());
    state = advanced;
    describe();
    const said = approvalNotification(state, command);
    if (said !== null) telling.notify(said);
    state = withOfferTold(state, command);
    if (command.do === 'done') break;
    if (command.do === 'wait' && isForPeopleAlone(command)) {
      const before = heard;
      await condition(() => heard !== before || continuing());
      continue;
    }
    if (command.do === 'page') {
      await condition(() => state.pages[0] !== command.page);
      continue;
    }
    const result = await carryOut(command);
    if (stillCounts(state, command)) state = applyResult(state, result, Date.now());
  }
  await condition(quiet);
}

/** Nothing that could be read would end the wait, so that nothing is read. */
function isForPeopleAlone(command: Extract<CampaignCommand, { do: 'wait' }>): boolean {
  return command.for.kind === 'person' || command.for.kind === 'resume';
}
