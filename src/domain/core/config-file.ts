import type { z } from 'zod';
import { formatPath, positionsOf, type Finding, type Path } from './finding.ts';
import type { SpecFile } from './spec-file.ts';
import { judge, offsetOf } from './spec-issues.ts';
import { specText } from './spec-text.ts';
import { parseYaml } from './spec-yaml.ts';

/**
 * Reads a file that is one document without apiVersion and kind, such as a program's own configuration, as strictly as
 * specs are read. A file that says nothing is an empty map.
 *
 * @param file content with the name under which people know it
 */
export function loadConfig<Schema extends z.ZodType>(
  file: SpecFile,
  schema: Schema,
): { readonly ok: true; readonly value: z.output<Schema> } | { readonly ok: false; readonly findings: Finding[] } {
  const read = specText(file.bytes);
  const positionAt = positionsOf(read.text);
  const finding = (offset: number, path: Path, message: string): Finding => ({
    file: file.path,
    ...positionAt(offset),
    path: path.length === 0 ? '(file)' : formatPath(path),
    message,
    severity: 'error',
  });
  if (!read.ok) return { ok: false, findings: [finding(read.offset, [], read.message)] };

  const { documents, faults } = parseYaml(read.text);
  const [document, second] = documents;
  const findings = faults.map((fault) => finding(fault.offset, fault.path, fault.message));
  if (second !== undefined) findings.push(finding(second.place.value, [], 'expected one document, got another one'));
  if (document === undefined) {
    const nothing = schema.safeParse({});
    if (findings.length === 0 && nothing.success) return of(nothing.data);
    return {
      ok: false,
      findings: findings.length > 0 ? findings : [finding(0, [], 'expected a document, got nothing')],
    };
  }

  const judged = judge(schema, document.value, document.place);
  if (judged.ok) return findings.length > 0 ? { ok: false, findings } : of(judged.output);
  for (const { path, aboutKey, message } of judged.problems) {
    findings.push(finding(offsetOf(judged.place, path, aboutKey), path, message));
  }
  return { ok: false, findings };
}

function of<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}
