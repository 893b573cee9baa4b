import { keycloakContract } from '../../contract/keycloak.ts';
import { startKeycloakServer } from '../../doubles/keycloak-server.ts';

keycloakContract('the double', () => startKeycloakServer());
