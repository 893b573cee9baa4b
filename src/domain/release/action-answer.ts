import type { ReleaseState } from './state.ts';

/** What came of an action. */
export type ActionAnswer =
  | {
      readonly ok: true;
      readonly state: ReleaseState;
      /** What was done, as a sentence that begins with a verb. */
      readonly record: string;
      /** False where it is so already: nothing was decided, and nothing is recorded. */
      readonly news: boolean;
      /** Also to be told to the living rollout. */
      readonly forward: boolean;
      /** Steps of the living rollout that the action decides, by target name. */
      readonly decides: readonly string[];
      /** What is to follow: nothing, a new evaluation at once, or handing everything back. */
      readonly effect: 'none' | 'evaluate' | 'release';
    }
  | { readonly ok: false; readonly message: string };

/** An accepted action. */
export function accepted(
  state: ReleaseState,
  record: string,
  options: {
    readonly news?: boolean;
    readonly forward?: boolean;
    readonly decides?: readonly string[];
    readonly effect?: 'none' | 'evaluate' | 'release';
  } = {},
): ActionAnswer {
  const { news = true, forward = false, decides = [], effect = 'none' } = options;
  return { ok: true, state, record, news, forward, decides, effect };
}

/** A refused action, with what to do instead. */
export function refused(message: string): ActionAnswer {
  return { ok: false, message };
}

/** An accepted action that asks for what is so already. */
export function acceptedAgain(
  state: ReleaseState,
  record: string,
  options: { readonly forward?: boolean; readonly effect?: 'none' | 'evaluate' } = {},
): ActionAnswer {
  return accepted(state, record, { ...options, news: false });
}
