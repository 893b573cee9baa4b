import { dirname, join } from 'node:path';
import { loadConfig } from '../domain/core/config-file.ts';
import type { Finding } from '../domain/core/finding.ts';
import type { LoadedSpec } from '../domain/core/spec-file.ts';
import { desiredStateSchema, type DesiredState } from '../domain/keycloak-flow/desired.ts';
import { withDesired } from '../domain/keycloak-flow/spec-on-file.ts';
import { readImport } from '../domain/keycloak-flow/read-import.ts';
import type { KeycloakFlowSpec } from '../domain/keycloak-flow/spec.ts';
import type { kinds } from './kinds.ts';
import { readBytes, whyUnreadable } from './read-bytes.ts';

type OnFile = Extract<LoadedSpec<typeof kinds>, { kind: 'KeycloakFlow' }>;

/** A KeycloakFlow whose spec is whole. */
export type FlowSpec = Omit<OnFile, 'spec'> & { readonly spec: KeycloakFlowSpec };

/**
 * Reads a desired state that stands in a file of its own.
 *
 * @param path as people know it
 */
export async function readDesired(path: string): Promise<{ desired: DesiredState | null; findings: Finding[] }> {
  let bytes: Uint8Array;
  try {
    bytes = await readBytes(path);
  } catch (error) {
    return { desired: null, findings: [aboutFile(path, `cannot be read: ${whyUnreadable(error)}`)] };
  }
  const loaded = loadConfig({ path: path === '-' ? '(stdin)' : path, bytes }, desiredStateSchema);
  if (loaded.ok) return { desired: loaded.value, findings: [] };
  if (!readImport({ path, bytes }, null).ok) return { desired: null, findings: loaded.findings };
  const message = `is a realm import; the desired state is what it renders to: holdfast render keycloak-flow ${path} -f FILE`;
  return { desired: null, findings: [aboutFile(path, message)] };
}

function aboutFile(file: string, message: string): Finding {
  return { file, line: 1, column: 1, path: '(file)', message, severity: 'error' };
}

/**
 * Puts what a KeycloakFlow's `desiredFile` names into its spec. What is wrong there is found there, with the line and
 * column of that file.
 */
export async function resolveDesired(document: OnFile): Promise<{ spec: FlowSpec | null; findings: Finding[] }> {
  const { spec, file } = document;
  const whole = (desired: DesiredState) => ({ spec: { ...document, spec: withDesired(spec, desired) }, findings: [] });
  if (spec.desired !== undefined) return whole(spec.desired);
  const folder = file === '(stdin)' ? '.' : dirname(file);
  const { desired, findings } = await readDesired(join(folder, spec.desiredFile ?? ''));
  if (desired !== null) return whole(desired);
  const named = findings.map((finding) =>
    finding.path === '(file)' ? { ...finding, message: `${finding.message}; the spec in ${file} names it` } : finding,
  );
  return { spec: null, findings: named };
}
