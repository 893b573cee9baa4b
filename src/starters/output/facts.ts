/** Something that is so, with its name. A name that begins with two spaces belongs to the one above it. */
export type Fact = readonly [name: string, value: string];

/** `  Phase:       Current`; further lines of a value stand below its first. */
export function factLine([name, value]: Fact): string {
  return `  ${`${name}:`.padEnd(13)}${value.replaceAll('\n', `\n${' '.repeat(15)}`)}`;
}
