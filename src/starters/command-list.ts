import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/** One command as `holdfast --help` lists it; its file is read only when the command is the one that was asked for. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly load: () => Promise<CommandUnknownOpts>;
}

const files = 'Spec files:';

/** Every command, in the order of the help. */
export const commandList: readonly CommandEntry[] = [
  {
    name: 'validate',
    summary: 'check spec files, offline',
    group: files,
    load: async () => (await import('./commands/validate.ts')).validateCommand(),
  },
  {
    name: 'schema',
    summary: 'print the JSON Schema of a kind, for editors',
    group: files,
    load: async () => (await import('./commands/schema.ts')).schemaCommand(),
  },
];
