import { createRegistry } from '../../../src/activities/registry/create.ts';
import type { RegistryConfig, RegistrySettings } from '../../../src/activities/registry/config.ts';
import type { RegistryPort } from '../../../src/activities/registry/port.ts';
import type { ScriptedRegistry } from './scripted-registry.ts';

/** A client of a scripted registry over plain http that knows no docker configuration of this machine. */
export function clientOf(
  server: ScriptedRegistry,
  config: RegistryConfig = {},
  settings: RegistrySettings = {},
): RegistryPort {
  return createRegistry({
    dockerConfigJson: () => Promise.resolve('{}'),
    ...config,
    registries: { [server.host]: { plainHttp: true, ...settings } },
  });
}
