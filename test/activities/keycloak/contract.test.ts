import { inject } from 'vitest';
import { keycloakContract } from '../../contract/keycloak.ts';
import { createTestRealm } from '../../lab/keycloak-realm.ts';
import { keycloakOf } from '../../lab/parts/keycloak.ts';

const smtpServer = { host: 'mail.example.com', from: 'login@example.com', auth: 'true', user: 'u', password: 'p' };

keycloakContract('a real Keycloak', async () => {
  const realm = await createTestRealm(await keycloakOf(inject('lab')), {
    displayName: 'Shop',
    smtpServer,
  });
  return { ...realm, nobody: { clientId: 'nobody', clientSecret: await realm.serviceAccount('nobody', []) } };
});
