import { paint } from '../output/paint.ts';

/** Bound and declared tree as one: what is bound and not declared in red, what is declared and not bound in green. */
export function treeView(diff: readonly string[]): string {
  return diff.map((line) => `  ${painted(line)}`).join('\n');
}

function painted(line: string): string {
  if (line.startsWith('-')) return paint('red', line);
  return line.startsWith('+') ? paint('green', line) : line;
}
