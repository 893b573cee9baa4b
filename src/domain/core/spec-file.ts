import { counted } from './counted.ts';
import { z } from 'zod';
import { formatPath, positionsOf } from './finding.ts';
import type { Finding, Position } from './finding.ts';
import { documentForm, documentSchema } from './metadata.ts';
import { judge, offsetOf } from './spec-issues.ts';
import type { Problem } from './spec-issues.ts';
import { specText } from './spec-text.ts';
import { parseYaml } from './spec-yaml.ts';
import type { Place, YamlDocument } from './spec-yaml.ts';

/** A file with its content, as it was read. */
export interface SpecFile {
  /** The name that findings give it. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** The schema of the `spec` of each kind. */
export type Kinds = Readonly<Record<string, z.ZodType>>;

/** A document that is valid. */
export type LoadedSpec<K extends Kinds = Kinds> = {
  [Kind in keyof K & string]: {
    readonly file: string;
    readonly line: number;
    readonly kind: Kind;
    readonly name: string;
    /** The spec with its defaults filled in, durations in milliseconds. */
    readonly spec: z.output<K[Kind]>;
    /** The spec as it was written, as plain JSON. */
    readonly written: unknown;
  };
}[keyof K & string];

/** One file cannot bury the others under its findings. */
const mostFindingsOfFile = 100;

/**
 * Reads spec files: YAML or JSON, several documents in a file. A document that has a finding is not among the specs;
 * callers go on only where there are no findings at all.
 *
 * @param files contents with the names under which people know them
 * @param kinds the schema of each kind's `spec`
 */
export function loadSpecs<K extends Kinds>(
  files: readonly SpecFile[],
  kinds: K,
): { specs: LoadedSpec<K>[]; findings: Finding[] } {
  const specs: LoadedSpec<K>[] = [];
  const findings: Finding[] = [];
  const places = new Map<string, string>();
  for (const file of files) {
    const loaded = loadFile(file, kinds, places);
    specs.push(...loaded.specs);
    findings.push(...limited(loaded.findings, file.path));
  }
  return { specs, findings };
}

function loadFile<K extends Kinds>(
  file: SpecFile,
  kinds: K,
  places: Map<string, string>,
): { specs: LoadedSpec<K>[]; findings: Finding[] } {
  const read = specText(file.bytes);
  const positionAt = positionsOf(read.text);
  const finding = (position: Position, path: string, message: string): Finding => ({
    file: file.path,
    line: position.line,
    column: position.column,
    path,
    message,
    severity: 'error',
  });
  if (!read.ok) return { specs: [], findings: [finding(positionAt(read.offset), '(file)', read.message)] };

  const { documents, faults } = parseYaml(read.text);
  const findings = faults.map((fault) => finding(positionAt(fault.offset), formatPath(fault.path), fault.message));
  if (documents.length === 0 && faults.length === 0) {
    const message = `expected ${documentForm}, got ${read.text.trim() === '' ? 'an empty file' : 'nothing but comments'}`;
    return { specs: [], findings: [finding({ line: 1, column: 1 }, '(file)', message)] };
  }

  const specs: LoadedSpec<K>[] = [];
  for (const document of documents) {
    const judged = judgeDocument(document, kinds);
    for (const problem of judged.problems) {
      const offset = offsetOf(judged.place, problem.path, problem.aboutKey);
      findings.push(finding(positionAt(offset), formatPath(problem.path), problem.message));
    }
    const start = positionAt(document.place.value);
    const identity = identityOf(document.value);
    if (identity !== undefined) {
      const name = positionAt(offsetOf(document.place, ['metadata', 'name'], false));
      const earlier = places.get(identity);
      if (earlier !== undefined) {
        const message = `${identity} is already defined at ${earlier}; give one of the two another name`;
        findings.push(finding(name, 'metadata.name', message));
        continue;
      }
      places.set(identity, `${file.path}:${name.line}:${name.column}`);
    }
    if (judged.document !== undefined && !document.incomplete) {
      const { kind, metadata, spec } = judged.document;
      const written = (document.value as { spec: unknown }).spec;
      // The schema that produced `spec` was picked by `kind`; the compiler cannot follow that through the record.
      specs.push({ file: file.path, line: start.line, kind, name: metadata.name, spec, written } as LoadedSpec<K>);
    }
  }
  return { specs, findings };
}

interface Judged {
  readonly document?: { kind: string; metadata: { name: string }; spec: unknown };
  readonly problems: readonly Problem[];
  readonly place: Place;
}

function judgeDocument(document: YamlDocument, kinds: Kinds): Judged {
  const kind = kindOf(document.value);
  const spec = kind !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  const schema =
    kind === undefined || spec === undefined
      ? documentSchema(z.enum(Object.keys(kinds)), z.looseObject({}))
      : documentSchema(z.literal(kind), spec);
  const judged = judge(schema, document.value, document.place);
  return judged.ok ? { document: judged.output, problems: [], place: document.place } : judged;
}

function kindOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined;
  return typeof value.kind === 'string' ? value.kind : undefined;
}

/** `Release/web`, where a document says both. */
function identityOf(value: unknown): string | undefined {
  const kind = kindOf(value);
  const metadata: unknown =
    typeof value === 'object' && value !== null && 'metadata' in value ? value.metadata : undefined;
  if (kind === undefined || typeof metadata !== 'object' || metadata === null || !('name' in metadata))
    return undefined;
  return typeof metadata.name === 'string' ? `${kind}/${metadata.name}` : undefined;
}

function limited(findings: readonly Finding[], file: string): Finding[] {
  const ordered = [...findings].sort((a, b) => a.line - b.line || a.column - b.column);
  const rest = ordered.length - mostFindingsOfFile;
  const last = ordered[mostFindingsOfFile];
  if (last === undefined) return ordered;
  return [
    ...ordered.slice(0, mostFindingsOfFile),
    {
      file,
      line: last.line,
      column: last.column,
      path: '(file)',
      message: `${counted(rest, 'more finding is', 'more findings are')} not shown`,
      severity: 'error',
    },
  ];
}
