import type { CampaignState } from './state.ts';

/** What came of an action. */
export type ActionAnswer =
  | {
      readonly ok: true;
      readonly state: CampaignState;
      /** What was done, as a sentence that begins with a verb. */
      readonly record: string;
    }
  | { readonly ok: false; readonly message: string };

/** An accepted action. */
export function accepted(state: CampaignState, record: string): ActionAnswer {
  return { ok: true, state, record };
}

/** A refused action, with what to do instead. */
export function refused(message: string): ActionAnswer {
  return { ok: false, message };
}
