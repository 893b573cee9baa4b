import { z } from 'zod';

/** Who asks for something, as claimed. */
const by = z
  .string()
  .trim()
  .min(1, 'expected who asks for this')
  .max(200)
  .refine((text) => !hasControls(text, ''), 'expected a name without control characters');

const reason = z
  .string()
  .trim()
  .max(1_000)
  .refine((text) => !hasControls(text, '\n\r\t'), 'expected a reason without control characters; line breaks may be')
  .default('');

/** Who asks for something and why: fields that every action has. Control characters steer the terminal of who reads them. */
export const asker = { by, reason };

function hasControls(text: string, allowed: string): boolean {
  return [...text].some((character) => {
    const code = character.charCodeAt(0);
    return (code < 0x20 || (code >= 0x7f && code <= 0x9f)) && !allowed.includes(character);
  });
}
