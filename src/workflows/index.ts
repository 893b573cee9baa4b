export { keycloakFlowWorkflow } from './keycloak-flow/workflow.ts';
export { nodeRebootWorkflow } from './node-reboot/workflow.ts';
export { planKeycloakFlow } from './keycloak-flow/plan.ts';
export { planNodeReboot } from './node-reboot/plan.ts';
export { planRelease } from './release/plan.ts';
export { releaseRollout } from './release/rollout.ts';
export { releaseWorkflow } from './release/workflow.ts';
