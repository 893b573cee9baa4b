import type { Reading, Unmeasured } from '../core/verdict.ts';

/** What the second source says about binding. */
export type BindSwitch = 'true' | 'false' | 'absent';

/** The switch as it was read: a value, something that is none (which stops the whole run), or not known. */
export type SwitchReading =
  | { readonly kind: 'read'; readonly value: BindSwitch }
  | { readonly kind: 'invalid'; readonly message: string }
  | Unmeasured;

/**
 * Reads the bind switch.
 *
 * @param source the text of the file or key; null where there is no source, no file or no such key. What could not be
 *   read is not absent, and an empty text is not either
 * @param from what it was read from, for the message
 */
export function readBindSwitch(source: Reading<string | null>, from: string): SwitchReading {
  if (source.kind === 'unmeasured') return source;
  if (source.value === null) return { kind: 'read', value: 'absent' };
  // Files end with a line feed; any other white space is not what somebody meant to write.
  const text = source.value.replace(/\r?\n$/, '');
  if (text === 'true' || text === 'false') return { kind: 'read', value: text };
  const got = text === '' ? 'nothing' : JSON.stringify(text.slice(0, 40));
  const message = `the bind switch (${from}) says ${got}; write true or false, or remove it, which lets people approve each candidate`;
  return { kind: 'invalid', message };
}
