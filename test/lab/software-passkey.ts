import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** What a browser would submit for a passkey. */
export interface Assertion {
  readonly clientDataJSON: string;
  readonly authenticatorData: string;
  readonly signature: string;
  readonly credentialId: string;
  readonly userHandle: string;
  readonly error: '';
}

/** A passkey without an authenticator (WebAuthn level 2, ES256), for logins over HTTP alone. */
export interface SoftwarePasskey {
  /** As it stands among the credentials of a user in Keycloak's representation (26.x). */
  readonly credential: {
    readonly type: 'webauthn-passwordless';
    readonly userLabel: string;
    readonly secretData: string;
    readonly credentialData: string;
  };
  /**
   * @param challenge as the page has it, in base64url
   * @param origin of the page, such as `http://localhost:8080`
   * @param userId of Keycloak
   */
  answer(challenge: string, origin: string, userId: string): Assertion;
}

/** Present and verified; the counter stays 0, as of an authenticator that has none. */
const FLAGS = 0x05;

/** @param rpId of the realm's policy */
export function createSoftwarePasskey(rpId: string): SoftwarePasskey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  // A COSE key (RFC 9053): EC2, ES256, P-256, and the two coordinates.
  const cose = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ]);
  return {
    credential: {
      type: 'webauthn-passwordless',
      userLabel: 'a key of the test',
      secretData: '{}',
      credentialData: JSON.stringify({
        aaguid: '00000000-0000-0000-0000-000000000000',
        credentialId: id.toString('base64'),
        counter: 0,
        credentialPublicKey: cose.toString('base64url'),
        attestationStatementFormat: 'none',
        transports: [],
      }),
    },
    answer(challenge, origin, userId) {
      const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false }));
      const authenticatorData = Buffer.concat([
        createHash('sha256').update(rpId).digest(),
        Buffer.from([FLAGS, 0, 0, 0, 0]),
      ]);
      const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()]);
      return {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authenticatorData.toString('base64url'),
        signature: sign('sha256', signed, privateKey).toString('base64url'),
        credentialId: id.toString('base64url'),
        userHandle: Buffer.from(userId).toString('base64url'),
        error: '',
      };
    },
  };
}
