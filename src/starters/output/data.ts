import { Option } from '@commander-js/extra-typings';
import { stringify } from 'yaml';
import { print } from './print.ts';

const formats = ['table', 'json', 'yaml'] as const;

/** How a command prints: for people, or for programs. */
export type Format = (typeof formats)[number];

/** `-o, --output`, the same for every command that prints something. */
export function outputOption() {
  return new Option('-o, --output <format>', 'table for people, json or yaml for programs')
    .choices(formats)
    .default('table' as const);
}

/** Prints a value for programs; `table` is the caller's. */
export function printData(format: Exclude<Format, 'table'>, value: unknown): void {
  if (format === 'json') print(JSON.stringify(value, null, 2));
  else print(stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 }).trimEnd());
}
