import { formatPath, positionsOf, type Finding, type Path } from '../core/finding.ts';
import type { SpecFile } from '../core/spec-file.ts';
import { offsetOf } from '../core/spec-issues.ts';
import { specText } from '../core/spec-text.ts';
import { parseYaml, type YamlDocument } from '../core/spec-yaml.ts';
import type { DesiredState } from './desired.ts';
import { realmOf, renderImport } from './render-import.ts';

/** A desired state that a file renders to, or every reason why not, with its place in the file. */
export type ReadImport =
  { readonly ok: true; readonly desired: DesiredState } | { readonly ok: false; readonly findings: readonly Finding[] };

/**
 * Reads a realm import and renders it. A file may hold several realms, as documents or as a list.
 *
 * @param realm the one that is meant; null where there is only one
 */
export function readImport(file: SpecFile, realm: string | null): ReadImport {
  const text = specText(file.bytes);
  const positionAt = positionsOf(text.text);
  const finding = (offset: number, path: Path, message: string): Finding => ({
    file: file.path,
    ...positionAt(offset),
    path: path.length === 0 ? '(file)' : formatPath(path),
    message,
    severity: 'error',
  });
  if (!text.ok) return { ok: false, findings: [finding(text.offset, [], text.message)] };
  const { documents, faults } = parseYaml(text.text);
  if (faults.length > 0) {
    return { ok: false, findings: faults.map((fault) => finding(fault.offset, fault.path, fault.message)) };
  }
  const found = realmsIn(documents);
  const meant = realm === null ? found : found.filter(({ name }) => name === realm);
  const [one] = meant;
  if (one === undefined || meant.length > 1) {
    const names = found.map(({ name }) => name ?? 'one without a name').join(', ');
    const message = `expected one realm${realm === null ? '' : ` called "${realm}"`}, got ${names === '' ? 'none' : names}; name one with --realm`;
    return { ok: false, findings: [finding(0, [], message)] };
  }
  const rendered = renderImport(one.value);
  if (rendered.ok) return rendered;
  const findings = rendered.faults.map(({ path, message }) => {
    const whole = [...one.path, ...path];
    return finding(offsetOf(one.document.place, whole, false), whole, message);
  });
  return { ok: false, findings };
}

interface FoundRealm {
  readonly document: YamlDocument;
  readonly path: Path;
  readonly value: unknown;
  readonly name: string | null;
}

function realmsIn(documents: readonly YamlDocument[]): FoundRealm[] {
  return documents.flatMap((document) => {
    const { value } = document;
    const entries: readonly (readonly [Path, unknown])[] = Array.isArray(value)
      ? value.map((entry: unknown, index) => [[index], entry] as const)
      : [[[], value]];
    return entries.map(([path, entry]) => ({ document, path, value: entry, name: nameOf(entry) }));
  });
}

function nameOf(value: unknown): string | null {
  const { realm } = realmOf(value);
  if (typeof realm !== 'object' || realm === null || !('realm' in realm)) return null;
  return typeof realm.realm === 'string' ? realm.realm : null;
}
