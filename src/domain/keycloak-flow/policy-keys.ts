import { z } from 'zod';

/**
 * The keys of the passwordless WebAuthn policy that a desired state may declare. Keycloak keeps each as a field of the
 * realm, with this prefix before its name.
 */
export const policyPrefix = 'webAuthnPolicyPasswordless';

const text = z.string().max(255);

/** Any of the ten keys, one at least. What is not declared is not managed, and survives. */
export const policySchema = z
  .strictObject({
    RpId: text.optional().describe('The domain that passkeys are bound to; empty: the host of the login page.'),
    RpEntityName: text
      .min(1)
      .optional()
      .describe('What the browser calls this site. Keycloak ignores the whole policy where it is empty.'),
    SignatureAlgorithms: z.array(text.min(1)).min(1).max(50).optional().describe('Accepted ones; the order matters.'),
    AttestationConveyancePreference: text.min(1).optional(),
    AuthenticatorAttachment: text.min(1).optional(),
    RequireResidentKey: z.literal('Yes').optional().describe('Login without a password needs discoverable keys.'),
    UserVerificationRequirement: text.min(1).optional(),
    CreateTimeout: z.int().min(0).max(2_147_483_647).optional().describe('Seconds; 0 is the default of the browser.'),
    AvoidSameAuthenticatorRegister: z.boolean().optional(),
    AcceptableAaguids: z.array(text.min(1)).max(500).optional().describe('Empty: every model; the order is nothing.'),
  })
  .refine((policy) => Object.values(policy).some((value) => value !== undefined), {
    message: 'expected one policy key at least, such as RpEntityName',
  });

/** The declared part of the policy. */
export type Policy = z.output<typeof policySchema>;

/** A key as it is declared, without the prefix. */
export type PolicyKey = keyof Policy;

/** All ten, as they are declared. */
export const policyKeys = Object.keys(policySchema.shape) as PolicyKey[];

/** The field of the realm that a key is kept in, such as `webAuthnPolicyPasswordlessRpId`. */
export function realmField(key: PolicyKey): string {
  return policyPrefix + key;
}
