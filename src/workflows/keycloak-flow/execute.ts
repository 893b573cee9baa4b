import type { FlowInput } from '../../activities/keycloak/port.ts';
import type { Mode } from '../../domain/core/mode.ts';
import { modeOfCommand } from '../../domain/keycloak-flow/effective-mode.ts';
import { proofNotMade } from '../../domain/keycloak-flow/proof.ts';
import type { RunCommand, RunResult } from '../../domain/keycloak-flow/run.ts';
import type { KeycloakFlowSpec } from '../../domain/keycloak-flow/spec.ts';
import type { KeycloakFlowState } from '../../domain/keycloak-flow/state.ts';
import { read, write } from './activities.ts';

/** Does what a command says by the one activity that does it, and gives back what came of it. */
export async function execute(
  state: KeycloakFlowState,
  command: Exclude<RunCommand, { do: 'done' }>,
): Promise<RunResult> {
  const input = inputOf(state.name, state.spec, modeOfCommand(state, command.do));
  switch (command.do) {
    case 'observe':
      return {
        did: 'observe',
        observation: await read.observeRealm.executeWithOptions(named('read the realm'), [input]),
      };
    case 'rollBack':
      return {
        did: 'rollBack',
        outcome: await write.rollBack.executeWithOptions(named('bind what was bound before'), [
          { ...input, hold: command.hold },
        ]),
      };
    case 'liftHold':
      return {
        did: 'liftHold',
        outcome: await write.liftHold.executeWithOptions(named('lift the hold'), [{ ...input, by: command.by }]),
      };
    case 'writePolicy':
      return {
        did: 'writePolicy',
        outcome: await write.writePolicy.executeWithOptions(named(`put right: ${command.keys.join(', ')}`), [input]),
      };
    case 'writeRequiredAction':
      return {
        did: 'writeRequiredAction',
        outcome: await write.writeRequiredAction.executeWithOptions(named('put the required action right'), [input]),
      };
    case 'construct':
      return {
        did: 'construct',
        candidate: command.candidate,
        outcome: await write.buildCandidate.executeWithOptions(named(`build ${command.candidate}`), [
          { ...input, candidate: command.candidate },
        ]),
      };
    case 'prove':
      return {
        did: 'prove',
        candidate: command.candidate,
        treeHash: command.treeHash,
        outcome:
          state.spec.probe === undefined
            ? proofNotMade('NoProbe', 'the spec names no probe client any more')
            : await write.proveLogin.executeWithOptions(named(`log in through ${command.candidate}`), [
                { ...input, probe: state.spec.probe, command },
              ]),
      };
    case 'bind':
      return {
        did: 'bind',
        command,
        outcome: await write.bindCandidate.executeWithOptions(named(`bind ${command.candidate}`), [
          { ...input, command },
        ]),
      };
  }
}

/** What every activity is told. */
export function inputOf(name: string, { server, desired, bind, probe }: KeycloakFlowSpec, mode: Mode): FlowInput {
  return { name, server, mode, desired, bind: bind ?? null, probeClient: probe?.client ?? null };
}

/** As the Temporal UI names it. */
function named(summary: string): { readonly summary: string } {
  return { summary };
}
