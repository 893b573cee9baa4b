import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { needsVerification } from '../../domain/core/approver.ts';
import { pack, unpack } from '../../domain/core/packed.ts';
import { parseAction, type NodeRebootAction } from '../../domain/node-reboot/actions.ts';
import { advanceCampaign } from '../../domain/node-reboot/advance-campaign.ts';
import { applyAction, recordRefusal, whyRefused } from '../../domain/node-reboot/apply-action.ts';
import { approvalToVerify, decider } from '../../domain/node-reboot/apply-approval.ts';
import { applyResult } from '../../domain/node-reboot/apply-result.ts';
import { isInterruptedBy, type CampaignCommand } from '../../domain/node-reboot/command.ts';
import { nodeRebootHistory } from '../../domain/node-reboot/history.ts';
import type { CampaignResult } from '../../domain/node-reboot/result.ts';
import { initialState } from '../../domain/node-reboot/state.ts';
import { nodeRebootStatus } from '../../domain/node-reboot/status.ts';
import { statusText } from '../../domain/node-reboot/status-text.ts';
import { approvals } from '../shared-activities.ts';
import { execute, type Executed } from './execute.ts';
import {
  NODE_REBOOT_ACTIONS,
  nodeRebootHistoryQuery,
  nodeRebootSignal,
  nodeRebootStatusQuery,
  nodeRebootUpdate,
  type NodeRebootAnswer,
  type NodeRebootInput,
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
  let published = '';

  const status = () => nodeRebootStatus(state, Date.now());
  const continuing = (): boolean => workflowInfo().continueAsNewSuggested && allHandlersFinished();

  setHandler(nodeRebootStatusQuery, status);
  setHandler(nodeRebootHistoryQuery, () => nodeRebootHistory(state));
  for (const name of NODE_REBOOT_ACTIONS) {
    const act = async (payload: unknown): Promise<NodeRebootAnswer> => {
      const action = await verified(parse(name, payload));
      const answer = applyAction(state, action, Date.now());
      if (!answer.ok) throw refusal(answer.message);
      state = answer.state;
      heard += 1;
      interrupt();
      describe();
      const by = action.action === 'approve' ? decider(action) : action.by;
      return { by, message: answer.record, generation: state.generation };
    };
    const recorded = async (payload: unknown, asked: string): Promise<NodeRebootAnswer> => {
      try {
        return await act(payload);
      } catch (error) {
        if (error instanceof ApplicationFailure) state = recordRefusal(state, `${asked}: ${error.message}`, Date.now());
        throw error;
      }
    };
    setHandler(nodeRebootUpdate(name), (payload) => recorded(payload, name), {
      validator: (payload) => {
        const why = whyRefusedNow(parse(name, payload));
        if (why !== null) throw refusal(why);
      },
    });
    setHandler(nodeRebootSignal(name), async (payload) => {
      try {
        await recorded(payload, `${name} by signal`);
      } catch (error) {
        // A signal has nobody to answer.
        if (!(error instanceof ApplicationFailure)) throw error;
      }
    });
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
    if ('message' in asked) throw refusal(asked.message);
    const answer = await approvals.verifyApproval.executeWithOptions({ summary: `signature of ${action.by}` }, [asked]);
    if (!answer.ok) throw refusal(answer.refusal.message);
    if (state.spec.approvers !== asked.approvers) throw refusal('the spec was changed meanwhile; approve again');
    return { ...action, plan: asked.planHash, verifiedBy: answer.by, signedWith: answer.fingerprint };
  }

  function describe(): void {
    const now = status();
    setCurrentDetails(statusText(now));
    const attributes = nodeRebootSearchAttributes(now);
    const key = JSON.stringify(attributes.map(({ value }) => value));
    if (key !== published) upsertSearchAttributes(attributes);
    published = key;
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

  describe();
  for (;;) {
    // Nothing is awaited between looking and ending: what was accepted meanwhile would be lost.
    if (continuing()) {
      await continueAsNew<typeof nodeRebootWorkflow>({ name: input.name, spec: state.spec, carried: pack(state) });
    }
    const { state: advanced, command } = advanceCampaign(state, Date.now());
    state = advanced;
    describe();
    if (command.do === 'done') break;
    if (command.do === 'wait' && isForPeopleAlone(command)) {
      const before = heard;
      await condition(() => heard !== before || continuing());
      continue;
    }
    const result = await carryOut(command);
    state = applyResult(state, result, Date.now());
  }
  await condition(allHandlersFinished);
}

/** Nothing that could be read would end the wait, so that nothing is read. */
function isForPeopleAlone(command: Extract<CampaignCommand, { do: 'wait' }>): boolean {
  return command.for.kind === 'person' || command.for.kind === 'resume';
}

/** @throws ApplicationFailure of type `Refused` */
function parse(name: NodeRebootAction['action'], payload: unknown): NodeRebootAction {
  const parsed = parseAction(name, payload);
  if (!parsed.ok) throw refusal(parsed.message);
  return parsed.action;
}

function refusal(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'Refused');
}
