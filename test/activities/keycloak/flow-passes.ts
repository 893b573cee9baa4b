import { parseAction, type KeycloakFlowAction } from '../../../src/domain/keycloak-flow/actions.ts';
import { advanceRun } from '../../../src/domain/keycloak-flow/advance-run.ts';
import { applyAction } from '../../../src/domain/keycloak-flow/apply-action.ts';
import { applyRunResult } from '../../../src/domain/keycloak-flow/apply-run-result.ts';
import { finishRun, type Finished } from '../../../src/domain/keycloak-flow/finish-run.ts';
import { initialState } from '../../../src/domain/keycloak-flow/initial-state.ts';
import { newRun, type RunCommand, type RunResult } from '../../../src/domain/keycloak-flow/run.ts';
import { keycloakFlowSpec } from '../../../src/domain/keycloak-flow/spec.ts';
import type { KeycloakFlowState } from '../../../src/domain/keycloak-flow/state.ts';
import type { FlowRig } from './flow-rig.ts';

/** What a workflow does with the activities of a rig, without Temporal: runs of the three passes, and people's words. */
export interface FlowPasses {
  readonly state: () => KeycloakFlowState;
  run(): Promise<Finished>;
  /** Approves what waits, knowing that no login was shown. Returns whether anything waited. */
  approve(): boolean;
  act(name: KeycloakFlowAction['action'], payload?: Record<string, unknown>): void;
}

export function flowPasses(rig: FlowRig): FlowPasses {
  const spec = keycloakFlowSpec.parse({ mode: 'Enforce', desired: rig.desired });
  let state = initialState(rig.input.name, spec, Date.now());

  function act(name: KeycloakFlowAction['action'], payload: Record<string, unknown> = {}): void {
    const parsed = parseAction(name, { by: 'ada', reason: 'test', ...payload });
    if (!parsed.ok) throw new Error(parsed.message);
    const answer = applyAction(state, parsed.action, Date.now());
    if (!answer.ok) throw new Error(answer.message);
    state = answer.state;
  }

  return {
    state: () => state,
    act,
    approve() {
      const { pending } = state;
      if (pending === null) return false;
      act('approve', { candidate: pending.offer.candidate, plan: pending.offerHash, withoutProof: true });
      return true;
    },
    async run() {
      let run = newRun(`run-${state.runCount + 1}`, Date.now());
      for (;;) {
        const advanced = advanceRun(state, run, Date.now());
        ({ state, run } = advanced);
        if (advanced.command.do === 'done') break;
        ({ state, run } = applyRunResult(state, run, await carryOut(rig, advanced.command), Date.now()));
      }
      const finished = finishRun(state, run, Date.now());
      state = finished.state;
      return finished;
    },
  };
}

async function carryOut(rig: FlowRig, command: Exclude<RunCommand, { do: 'done' }>): Promise<RunResult> {
  switch (command.do) {
    case 'observe':
      return { did: 'observe', observation: await rig.run('observeRealm') };
    case 'writePolicy':
      return { did: 'writePolicy', outcome: await rig.run('writePolicy') };
    case 'writeRequiredAction':
      return { did: 'writeRequiredAction', outcome: await rig.run('writeRequiredAction') };
    case 'construct': {
      const { candidate } = command;
      return { did: 'construct', candidate, outcome: await rig.run('buildCandidate', { candidate }) };
    }
    case 'bind':
      return { did: 'bind', command, outcome: await rig.run('bindCandidate', { command }) };
    case 'rollBack':
      return { did: 'rollBack', outcome: await rig.run('rollBack', { hold: command.hold }) };
    case 'liftHold':
      return { did: 'liftHold', outcome: await rig.run('liftHold', { by: command.by }) };
    case 'prove':
      throw new Error('these passes have no probe');
  }
}
