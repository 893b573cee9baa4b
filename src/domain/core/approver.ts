import { z } from 'zod';
import { parsePublicKey } from './ssh-key.ts';

/**
 * Somebody whose signature approves, in a spec. A key that cannot be read would approve nothing, and be noticed only
 * when somebody is to approve.
 */
export const approverSchema = z.strictObject({
  name: z.string().min(1),
  key: z
    .string()
    .superRefine((key, context) => {
      const parsed = parsePublicKey(key);
      if (!parsed.ok) context.addIssue({ code: 'custom', message: parsed.message });
    })
    .describe('An OpenSSH public key, as it stands in a .pub file.'),
});
