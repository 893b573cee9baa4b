/** The way to a value in a document: `['spec', 'targets', 2, 'name']`. */
export type Path = readonly (string | number)[];

/** One thing that is wrong with a file, where, and what was expected in its place. */
export interface Finding {
  /** The file as it was named to us. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units as editors count. */
  readonly column: number;
  /** Such as `spec.targets[2].name`; `(document)` or `(file)` where it is about the whole. */
  readonly path: string;
  /** What was found and what was expected. */
  readonly message: string;
  readonly severity: 'error';
}

/** A finding as compilers print them, so that editors and terminals make it a link. */
export function formatFinding(finding: Finding): string {
  return `${finding.file}:${finding.line}:${finding.column}: ${finding.path}: ${finding.message}`;
}

/** A path as people write it: `spec.targets[2].name`, and `spec["odd key"]` where a name needs quotes. */
export function formatPath(path: Path): string {
  if (path.length === 0) return '(document)';
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[A-Za-z_$][\w$-]*$/.test(step))
        return `[${JSON.stringify(step.length > 60 ? `${step.slice(0, 60)}…` : step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');
}

/** A place in a text, line and column from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Tells line and column of offsets in one text; lines end with a line feed, alone or after a carriage return. */
export function positionsOf(text: string): (offset: number) => Position {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
