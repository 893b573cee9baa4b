import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import type { SignalDefinition, UpdateDefinition } from '@temporalio/common';

/** What a person is told who has taken an action. */
export interface ActionAnswer {
  /** Who decided: as a signature proved, else as claimed. */
  readonly by: string;
  /** What was done, as a sentence that goes on from who. */
  readonly message: string;
  /** Of the spec after it. How it is now is asked by a query: an answer is kept in the history, and bounded. */
  readonly generation: number;
}

/** How a workflow hears one of the actions that people take. */
export interface Hearing<Action, Payload> {
  readonly name: string;
  readonly update: UpdateDefinition<ActionAnswer, [Payload]>;
  /** The same, for the Temporal UI and CLI. It has nobody to answer. */
  readonly signal: SignalDefinition<[Payload]>;
  parse(
    payload: unknown,
  ): { readonly ok: true; readonly action: Action } | { readonly ok: false; readonly message: string };
  /** Why it is refused before it is accepted, in words; null where nothing speaks against it. */
  whyRefused(action: Action): string | null;
  /** @throws ApplicationFailure, as `refusal` makes it, for what could not be refused before */
  act(action: Action): Promise<ActionAnswer>;
  /** Keeps, where people look, what was refused after it was accepted: by a signal, or by an answer from outside. */
  keepRefusal(text: string): void;
}

/** Sets the handlers of an action: an Update, whose validator leaves no trace of what it refuses, and a Signal. */
export function hearAction<Action, Payload>(hearing: Hearing<Action, Payload>): void {
  const { name, update, signal } = hearing;

  const act = async (payload: unknown, asked: string): Promise<ActionAnswer> => {
    try {
      return await hearing.act(parsed(hearing, payload));
    } catch (error) {
      if (error instanceof ApplicationFailure) hearing.keepRefusal(`${asked}: ${error.message}`);
      throw error;
    }
  };

  setHandler(update, (payload) => act(payload, name), {
    validator: (payload) => {
      const why = hearing.whyRefused(parsed(hearing, payload));
      if (why !== null) throw refusal(why);
    },
  });
  setHandler(signal, async (payload) => {
    try {
      await act(payload, `${name} by signal`);
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
    }
  });
}

/** What people are answered when they may not: their request fails, and nothing else does. */
export function refusal(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'Refused');
}

function parsed<Action, Payload>(hearing: Hearing<Action, Payload>, payload: unknown): Action {
  const read = hearing.parse(payload);
  if (!read.ok) throw refusal(read.message);
  return read.action;
}
