import { writeFile } from 'node:fs/promises';
import { Argument, Command } from '@commander-js/extra-typings';
import { stringify } from 'yaml';
import { formatFinding, type Finding } from '../../domain/core/finding.ts';
import type { DesiredState } from '../../domain/keycloak-flow/desired.ts';
import { readImport } from '../../domain/keycloak-flow/read-import.ts';
import { checkRendered } from '../../domain/keycloak-flow/render-import.ts';
import { CliError } from '../cli-error.ts';
import { readDesired } from '../desired-file.ts';
import { exitCodes } from '../exit-codes.ts';
import { examples } from '../output/examples.ts';
import { note, print } from '../output/print.ts';
import { readBytes, whyUnreadable } from '../read-bytes.ts';
import { countFindings } from '../spec-files.ts';

/** `holdfast render keycloak-flow REALM-IMPORT`: what a login flow is to be, from the import that a realm is made with. */
export function renderCommand() {
  return new Command('render')
    .description(
      'Renders the desired state of a login flow from a realm import, offline: policy, browser flow and what it reaches, enrolment. With --check it compares instead: exit code 0 where the file is current, 1 with the differences where it is not.',
    )
    .addArgument(new Argument('<kind>', 'what is rendered').choices(['keycloak-flow']))
    .argument('<realm-import>', 'a realm as Keycloak imports it, or a KeycloakRealmImport; - reads standard input')
    .option('--realm <name>', 'the realm that is meant, where the file has several')
    .option('-f, --file <file>', 'write it there, as YAML where the name says so [standard output]')
    .option('--check <file>', 'say whether this file is what the import renders to; writes nothing')
    .addHelpText(
      'after',
      examples([
        ['holdfast render keycloak-flow realm.json -f desired.json', ''],
        ['holdfast render keycloak-flow realm.json --check desired.json', 'in a merge request'],
      ]),
    )
    .action(async (_kind, path, { realm, file, check }) => {
      if (file !== undefined && check !== undefined) {
        throw new CliError(exitCodes.invalid, 'expected --file or --check, not both: --check writes nothing');
      }
      const rendered = await renderedFrom(path, realm ?? null);
      if (check !== undefined) await showCheck(rendered, path, check);
      else if (file === undefined) print(asText(rendered, 'json'));
      else await write(rendered, file);
    });
}

/** @throws CliError with every finding, exit code 2 */
async function renderedFrom(path: string, realm: string | null): Promise<DesiredState> {
  let bytes: Uint8Array;
  try {
    bytes = await readBytes(path);
  } catch (error) {
    throw new CliError(exitCodes.invalid, `${path} cannot be read: ${whyUnreadable(error)}`);
  }
  const read = readImport({ path: path === '-' ? '(stdin)' : path, bytes }, realm);
  if (read.ok) return read.desired;
  throw refused(read.findings);
}

async function showCheck(rendered: DesiredState, from: string, file: string): Promise<void> {
  const { desired, findings } = await readDesired(file);
  if (desired === null) throw refused(findings);
  const differences = checkRendered(desired, rendered);
  if (differences.length === 0) {
    print(`${file} is current`);
    return;
  }
  print([`${file} is not what the import renders to:`, ...differences.map((line) => `  ${line}`)].join('\n'));
  note(`Bring it up to date: holdfast render keycloak-flow ${from} -f ${file}`);
  process.exitCode = exitCodes.failed;
}

async function write(rendered: DesiredState, file: string): Promise<void> {
  const format = /\.ya?ml$/.test(file) ? 'yaml' : 'json';
  try {
    await writeFile(file, `${asText(rendered, format)}\n`);
  } catch (error) {
    throw new CliError(exitCodes.invalid, `${file} cannot be written: ${whyUnreadable(error)}`);
  }
  note(`${file}: realm ${rendered.realm}, browser flow "${rendered.browserFlow}"`);
}

function asText(rendered: DesiredState, format: 'json' | 'yaml'): string {
  return format === 'json'
    ? JSON.stringify(rendered, null, 2)
    : stringify(rendered, { lineWidth: 0, compat: 'yaml-1.1' }).trimEnd();
}

function refused(findings: readonly Finding[]): CliError {
  return new CliError(exitCodes.invalid, [...findings.map(formatFinding), countFindings(findings)].join('\n'));
}
