import { Command } from '@commander-js/extra-typings';
import { formatFinding } from '../../domain/core/finding.ts';
import { exitCodes } from '../exit-codes.ts';
import { outputOption, printData } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { note, print } from '../output/print.ts';
import { countFindings, readSpecs } from '../spec-files.ts';

/** `holdfast validate FILE…`: offline, every finding at once. */
export function validateCommand() {
  return new Command('validate')
    .description(
      'Checks spec files without asking anybody anything: form, fields, units, names. Every finding is told with file, line, column, path and what was expected. Exit code 2 where there is one.',
    )
    .argument('<file...>', 'YAML or JSON files, several documents in a file allowed; - reads standard input')
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast validate release.yaml', 'before a commit'],
        ['holdfast validate -o json fleet/*.yaml', 'for programs'],
        ['kustomize build . | holdfast validate -', 'what another tool makes'],
      ]),
    )
    .action(async (files, { output }) => {
      const { specs, findings } = await readSpecs(files);
      if (findings.length > 0) process.exitCode = exitCodes.invalid;
      if (output !== 'table') {
        const documents = specs.map(({ file, line, kind, name }) => ({ file, line, kind, name }));
        printData(output, { valid: findings.length === 0, documents, findings });
        return;
      }
      for (const { file, kind, name } of specs) print(`${file}: ${kind} ${name} is valid`);
      if (findings.length > 0) note([...findings.map(formatFinding), countFindings(findings)].join('\n'));
    });
}
