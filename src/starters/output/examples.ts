/**
 * The examples below a command's help.
 *
 * @param lines pairs of a command line and what it does
 */
export function examples(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([line]) => line.length));
  const shown = lines.map(([line, does]) => (does === '' ? `  ${line}` : `  ${line.padEnd(width)}  # ${does}`));
  return `\nExamples:\n${shown.join('\n')}`;
}
