import { visible } from './visible.ts';

/** Writes one or more lines to standard output: what was asked for. */
export function print(text: string): void {
  process.stdout.write(`${visible(text)}\n`);
}

/** Writes one or more lines to standard error: progress, hints and errors, which never mix with what was asked for. */
export function note(text: string): void {
  process.stderr.write(`${visible(text)}\n`);
}
