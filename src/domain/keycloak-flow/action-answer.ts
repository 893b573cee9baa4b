import type { KeycloakFlowState } from './state.ts';

/** What came of an action. */
export type ActionAnswer =
  | {
      readonly ok: true;
      readonly state: KeycloakFlowState;
      /** What was done, as a sentence that begins with a verb. */
      readonly record: string;
      /** What is to follow: nothing, a run at once, or the end. */
      readonly effect: 'none' | 'run' | 'release';
      /** The run that follows is told not to bind. */
      readonly noBind: boolean;
      /** What a run is doing meanwhile was decided without it: it is called off, and the run ends there. */
      readonly callsOff: boolean;
    }
  | { readonly ok: false; readonly message: string };

/** An accepted action. */
export function accepted(
  state: KeycloakFlowState,
  record: string,
  options: {
    readonly effect?: 'none' | 'run' | 'release';
    readonly noBind?: boolean;
    readonly callsOff?: boolean;
  } = {},
): ActionAnswer {
  const { effect = 'none', noBind = false, callsOff = false } = options;
  return { ok: true, state, record, effect, noBind, callsOff };
}

/** A refused action, with what to do instead. */
export function refused(message: string): ActionAnswer {
  return { ok: false, message };
}
