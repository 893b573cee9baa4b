import { createReadStream } from 'node:fs';
import { counted } from '../domain/core/counted.ts';
import { formatFinding, type Finding } from '../domain/core/finding.ts';
import { loadSpecs, type LoadedSpec, type SpecFile } from '../domain/core/spec-file.ts';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import { kinds } from './kinds.ts';

/** A valid document of one of the kinds that this version knows. */
export type Spec = LoadedSpec<typeof kinds>;

/** Far above what a spec may have: enough to say how large a file is, without reading a disk image whole. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Reads and judges spec files, all of them, before anything is asked of anybody.
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
  const { specs, findings } = loadSpecs(files, kinds);
  return { specs, findings: [...unreadable, ...findings] };
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

async function readBytes(path: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stream = path === '-' ? process.stdin : createReadStream(path);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MOST_BYTES) break;
  }
  return Buffer.concat(chunks);
}

function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  switch (code) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EISDIR':
      return 'it is a directory; name the files in it';
    case 'EACCES':
      return 'permission denied';
    default:
      return code;
  }
}
