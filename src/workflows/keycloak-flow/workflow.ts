import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  TemporalFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { pack, unpack } from '../../domain/core/packed.ts';
import { parseAction, type KeycloakFlowAction } from '../../domain/keycloak-flow/actions.ts';
import { advanceRun } from '../../domain/keycloak-flow/advance-run.ts';
import { decider } from '../../domain/keycloak-flow/apply-approval.ts';
import { applyAction, recordRefusal, whyRefused } from '../../domain/keycloak-flow/apply-action.ts';
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
import { approvals } from '../shared-activities.ts';
import { createTelling } from '../telling.ts';
import { execute } from './execute.ts';
import {
  KEYCLOAK_FLOW_ACTIONS,
  keycloakFlowSignal,
  keycloakFlowHistoryQuery,
  keycloakFlowStatusQuery,
  keycloakFlowUpdate,
  type KeycloakFlowAnswer,
  type KeycloakFlowInput,
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
  let published = '';
  const telling = createTelling();

  const status = () => keycloakFlowStatus(state, Date.now());
  /** Nobody is being told or answered, so that nothing would be cut off. */
  const quiet = (): boolean => telling.isQuiet() && allHandlersFinished();
  const continuing = (): boolean => workflowInfo().continueAsNewSuggested && quiet();

  setHandler(keycloakFlowStatusQuery, status);
  setHandler(keycloakFlowHistoryQuery, () => keycloakFlowHistory(state));
  for (const name of KEYCLOAK_FLOW_ACTIONS) {
    const act = async (payload: unknown): Promise<KeycloakFlowAnswer> => {
      if (releasing) throw refusal('its ownership is being released, so that nothing more is done for it');
      const action = await verified(parse(name, payload));
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
    };
    const recorded = async (payload: unknown, asked: string): Promise<KeycloakFlowAnswer> => {
      try {
        return await act(payload);
      } catch (error) {
        if (error instanceof ApplicationFailure) state = recordRefusal(state, `${asked}: ${error.message}`, Date.now());
        throw error;
      }
    };
    setHandler(keycloakFlowUpdate(name), (payload) => recorded(payload, name), {
      validator: (payload) => {
        const action = parse(name, payload);
        const why = whyRefusedNow(action);
        if (why !== null) throw refusal(why);
      },
    });
    setHandler(keycloakFlowSignal(name), async (payload) => {
      try {
        await recorded(payload, `${name} by signal`);
      } catch (error) {
        // A signal has nobody to answer.
        if (!(error instanceof ApplicationFailure)) throw error;
      }
    });
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
    if ('message' in asked) throw refusal(asked.message);
    const answer = await approvals.verifyApproval.executeWithOptions({ summary: `signature of ${action.by}` }, [asked]);
    if (!answer.ok) throw refusal(answer.refusal.message);
    if (state.spec.approvers !== asked.approvers) throw refusal('the spec was changed meanwhile; approve again');
    return { ...action, plan: asked.planHash, verifiedBy: answer.by, signedWith: answer.fingerprint };
  }

  function describe(): void {
    const now = status();
    setCurrentDetails(statusText(now));
    const attributes = keycloakFlowSearchAttributes(now);
    const key = JSON.stringify(attributes.map(({ value }) => value));
    if (key !== published) upsertSearchAttributes(attributes);
    published = key;
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

/** @throws ApplicationFailure of type `Refused` */
function parse(name: KeycloakFlowAction['action'], payload: unknown): KeycloakFlowAction {
  const parsed = parseAction(name, payload);
  if (!parsed.ok) throw refusal(parsed.message);
  return parsed.action;
}

function refusal(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'Refused');
}
