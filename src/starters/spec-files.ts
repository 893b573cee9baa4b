import { counted } from '../domain/core/counted.ts';
import { formatFinding, type Finding } from '../domain/core/finding.ts';
import { loadSpecs, type LoadedSpec, type SpecFile } from '../domain/core/spec-file.ts';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import { resolveDesired, type FlowSpec } from './desired-file.ts';
import { kinds } from './kinds.ts';
import { readBytes, whyUnreadable } from './read-bytes.ts';

/** A valid document of one of the kinds that this version knows. */
export type Spec = Exclude<LoadedSpec<typeof kinds>, { kind: 'KeycloakFlow' }> | FlowSpec;

/**
 * Reads and judges spec files, all of them and the files that they name, before anything is asked of anybody.
 *
 * @param paths files as people name them; `-` is standard input
 * @returns the valid documents, and everything that is wrong, files that cannot be read included
 */
export async function readSpecs(paths: readonly string[]): Promise<{ specs: Spec[]; findings: Finding[] }> {
  const files: SpecFile[] = [];
  const unreadable: Finding[] = [];
  for (const path of new Set(paths)) {
    try {
      files.push({ path: path === '-' ? '(stdin)' : path, bytes: await readBytes(path) });
    } catch (error) {
      const message = `cannot be read: ${whyUnreadable(error)}`;
      unreadable.push({ file: path, line: 1, column: 1, path: '(file)', message, severity: 'error' });
    }
  }
  const { specs: documents, findings } = loadSpecs(files, kinds);
  const specs: Spec[] = [];
  const named: Finding[] = [];
  for (const document of documents) {
    if (document.kind !== 'KeycloakFlow') {
      specs.push(document);
      continue;
    }
    const resolved = await resolveDesired(document);
    named.push(...resolved.findings);
    if (resolved.spec !== null) specs.push(resolved.spec);
  }
  return { specs, findings: [...unreadable, ...findings, ...named] };
}

/**
 * The documents of spec files that are all valid.
 *
 * @throws CliError with every finding, exit code 2
 */
export async function requireSpecs(paths: readonly string[]): Promise<Spec[]> {
  const { specs, findings } = await readSpecs(paths);
  if (findings.length === 0) return specs;
  throw new CliError(exitCodes.invalid, [...findings.map(formatFinding), countFindings(findings)].join('\n'));
}

/** `3 findings in 2 files`. */
export function countFindings(findings: readonly Finding[]): string {
  const files = new Set(findings.map((finding) => finding.file)).size;
  return `${counted(findings.length, 'finding')} in ${counted(files, 'file')}; nothing was asked or changed`;
}
