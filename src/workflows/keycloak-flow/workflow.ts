import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  setHandler,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { pack, unpack } from '../../domain/core/packed.ts';
import { recordRefusal } from '../../domain/core/record-refusal.ts';
import { parseAction, type KeycloakFlowAction } from '../../domain/keycloak-flow/actions.ts';
import { advanceRun } from '../../domain/keycloak-flow/advance-run.ts';
import { decider } from '../../domain/keycloak-flow/apply-approval.ts';
import { applyAction, whyRefused } from '../../domain/keycloak-flow/apply-action.ts';
import { needsVerification } from '../../domain/core/approver.ts';
import { approvalToVerify } from '../../domain/keycloak-flow/apply-approval.ts';
import { applyRunResult } from '../../domain/keycloak-flow/apply-run-result.ts';
import { finishRun } from '../../domain/keycloak-flow/finish-run.ts';
import { initialState } from '../../domain/keycloak-flow/initial-state.ts';
import { keycloakFlowHistory } from '../../domain/keycloak-flow/history.ts';
import { nextRunMs } from '../../domain/keycloak-flow/next-run.ts';
import { isAskedByPerson, newRun, type RunCommand, type RunResult } from '../../domain/keycloak-flow/run.ts';
import { keycloakFlowStatus } from '../../domain/keycloak-flow/status.ts';
import { statusText } from '../../domain/keycloak-flow/status-text.ts';
import { hearAction, refusal, type ActionAnswer } from '../hear-action.ts';
import { proveApproval } from '../prove-approval.ts';
import { createPublishing } from '../publish.ts';
import { createTelling } from '../telling.ts';
import { execute } from './execute.ts';
import {
  KEYCLOAK_FLOW_ACTIONS,
  keycloakFlowSignal,
  keycloakFlowHistoryQuery,
  keycloakFlowStatusQuery,
  keycloakFlowUpdate,
  type KeycloakFlowInput,
  type KeycloakFlowPayload,
} from './messages.ts';
import { keycloakFlowSearchAttributes } from './search-attributes.ts';

/**
 * One KeycloakFlow for as long as it exists: a run of the three passes at each interval and whenever a person asks for
 * something. A run never waits for people, so that drift is looked for while an approval is pending. What is decided is in
 * src/domain/keycloak-flow; here is only the order.
 *
 * It ends when its ownership is released, and continues as new when Temporal suggests it.
 */
export async function keycloakFlowWorkflow(input: KeycloakFlowInput): Promise<void> {
  let state = input.carried === undefined ? initialState(input.name, input.spec, Date.now()) : unpack(input.carried);
  let wanted: { readonly noBind: boolean } | null = { noBind: input.noBind ?? false };
  let releasing = false;
  /** What the run was doing is no longer what people want. */
  let calledOff = false;
  let underWay: CancellationScope | null = null;
  const publish = createPublishing();
  const telling = createTelling();

  const status = () => keycloakFlowStatus(state, Date.now());
  /** Nobody is being told or answered, so that nothing would be cut off. */
  const quiet = (): boolean => telling.isQuiet() && allHandlersFinished();
  const continuing = (): boolean => workflowInfo().continueAsNewSuggested && quiet();

  setHandler(keycloakFlowStatusQuery, status);
  setHandler(keycloakFlowHistoryQuery, () => keycloakFlowHistory(state));
  for (const name of KEYCLOAK_FLOW_ACTIONS) {
    hearAction<KeycloakFlowAction, KeycloakFlowPayload>({
      name,
      update: keycloakFlowUpdate(name),
      signal: keycloakFlowSignal(name),
      parse: (payload) => parseAction(name, payload),
      whyRefused: whyRefusedNow,
      act,
      keepRefusal: (text) => {
        state = recordRefusal(state, text, Date.now());
      },
    });
  }

  async function act(asked: KeycloakFlowAction): Promise<ActionAnswer> {
    if (releasing) throw refusal('its ownership is being released, so that nothing more is done for it');
    const action = await verified(asked);
    const answer = applyAction(state, action, Date.now());
    if (!answer.ok) throw refusal(answer.message);
    state = answer.state;
    // What is wanted once more without a bind must not bind either.
    if (answer.effect === 'run') wanted = { noBind: answer.noBind || wanted?.noBind === true };
    if (answer.effect === 'release') releasing = true;
    if (answer.callsOff) {
      calledOff = true;
      underWay?.cancel();
    }
    describe();
    const by = action.action === 'approve' ? decider(action) : action.by;
    return { by, message: answer.record, generation: state.generation };
  }

  /** A signature is verified after the message was accepted: until then only what else speaks against it counts. */
  function whyRefusedNow(action: KeycloakFlowAction): string | null {
    if (action.action !== 'approve' || !needsVerification(state, action)) return whyRefused(state, action, Date.now());
    const asked = approvalToVerify(state, action);
    if ('message' in asked) return asked.message;
    return whyRefused(state, { ...action, plan: asked.planHash, verifiedBy: action.by }, Date.now());
  }

  /** An approval with who signed it, where it needs a signature. It then is about the offer whose hash was signed. */
  async function verified(action: KeycloakFlowAction): Promise<KeycloakFlowAction> {
    if (action.action !== 'approve' || !needsVerification(state, action)) return action;
    const asked = approvalToVerify(state, action);
    return { ...action, ...(await proveApproval(action.by, asked, () => state.spec.approvers)) };
  }

  function describe(): void {
    const now = status();
    publish(statusText(now), keycloakFlowSearchAttributes(now));
  }

  /** What came of a command; null where it was called off. Nobody calls off what a person asked for outright. */
  async function carryOut(command: Exclude<RunCommand, { do: 'done' }>): Promise<RunResult | null> {
    if (isAskedByPerson(command)) return execute(state, command);
    const scope = new CancellationScope();
    underWay = scope;
    try {
      return await scope.run(() => execute(state, command));
    } catch (error) {
      // Also a time-out: where its worker has died, nobody else is given what is called off.
      if (calledOff && error instanceof TemporalFailure) return null;
      throw error;
    } finally {
      underWay = null;
    }
  }

  async function runPasses(noBind: boolean): Promise<void> {
    calledOff = false;
    let run = newRun(`${input.name}-${state.runCount + 1}`, Date.now(), { noBind });
    for (;;) {
      const advanced = advanceRun(state, run, Date.now());
      ({ state, run } = advanced);
      if (advanced.command.do === 'done') break;
      const result = await carryOut(advanced.command);
      if (result !== null) ({ state, run } = applyRunResult(state, run, result, Date.now()));
      describe();
      if (!calledOff) continue;
      run = { ...run, calledOff };
      break;
    }
    const finished = finishRun(state, run, Date.now());
    state = finished.state;
    for (const said of finished.notifications) telling.notify(said);
    describe();
  }

  describe();
  while (!releasing) {
    // Nothing is awaited between looking and ending: what was accepted meanwhile would be lost.
    if (wanted === null && continuing()) {
      await continueAsNew<typeof keycloakFlowWorkflow>({ name: input.name, spec: state.spec, carried: pack(state) });
    }
    const { noBind } = wanted ?? { noBind: false };
    wanted = null;
    await runPasses(noBind);
    await condition(() => wanted !== null || releasing || continuing(), nextRunMs(state, Date.now()));
  }
  await condition(quiet);
}
