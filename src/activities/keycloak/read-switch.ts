import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import { readBindSwitch, type SwitchReading } from '../../domain/keycloak-flow/bind-switch.ts';
import type { BindSource } from '../../domain/keycloak-flow/spec.ts';
import type { KubeObject } from '../kubernetes/port.ts';
import type { KeycloakFlowDependencies } from './dependencies.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Where the bind switch stands, for people. */
export function placeOf(source: BindSource): string {
  if ('file' in source) return `the file ${source.file}`;
  const { namespace, name, key } = source.configMap;
  return `key ${key} of ConfigMap ${namespace}/${name}`;
}

/** Reads the bind switch where the spec says that it stands; without a place it is absent. */
export async function readSwitch(
  dependencies: KeycloakFlowDependencies,
  source: BindSource | null,
  signal: AbortSignal,
): Promise<SwitchReading> {
  if (source === null) return { kind: 'read', value: 'absent' };
  const from = placeOf(source);
  if ('file' in source) return readBindSwitch(await readFileText(dependencies, source.file), from);
  const { cluster, namespace, name, key } = source.configMap;
  const port = dependencies.kubernetes(cluster);
  if (port === null) {
    const message = `this worker has no cluster "${cluster}", in which the bind switch is`;
    return unmeasured(from, 'this worker', 'missing', message);
  }
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name };
  const found = await port.get<ConfigMap>(ref, { signal });
  if (found.kind === 'unmeasured') {
    // A map that is not there says nothing; one that may not be read says what nobody knows.
    return found.why === 'missing' ? readBindSwitch(read(null), from) : found;
  }
  const { data = {} } = found.value;
  return readBindSwitch(read(Object.hasOwn(data, key) ? (data[key] ?? null) : null), from);
}

async function readFileText({ readFile }: KeycloakFlowDependencies, path: string): Promise<Reading<string | null>> {
  try {
    return read(await readFile(path));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (code === 'ENOENT') return read(null);
    return unmeasured(`the file ${path}`, 'this worker', 'error', `the file ${path} cannot be read (${code})`);
  }
}
