import type { ConstructionWrite } from './construction.ts';
import { formatPath } from './request-path.ts';
import type { ScreenedRequest } from './screen.ts';

/** The request that a write of a build is. */
export function requestOf(realm: string, write: ConstructionWrite): ScreenedRequest {
  const at = (...steps: string[]) => formatPath(['admin', 'realms', realm, 'authentication', ...steps]);
  switch (write.kind) {
    case 'createFlow': {
      const { alias, description } = write;
      const body = { alias, description, providerId: 'basic-flow', topLevel: true, builtIn: false };
      return { method: 'POST', path: at('flows'), body };
    }
    case 'addExecution':
      return {
        method: 'POST',
        path: at('flows', write.flow, 'executions', 'execution'),
        body: { provider: write.provider },
      };
    case 'addSubFlow': {
      const { alias, description } = write;
      const body = { alias, description, type: 'basic-flow' };
      return { method: 'POST', path: at('flows', write.flow, 'executions', 'flow'), body };
    }
    case 'setRequirement': {
      const { id, requirement, priority } = write;
      return { method: 'PUT', path: at('flows', write.flow, 'executions'), body: { id, requirement, priority } };
    }
    case 'addConfig': {
      const { alias, config } = write;
      return { method: 'POST', path: at('executions', write.execution, 'config'), body: { alias, config } };
    }
  }
}
