import { Command } from '@commander-js/extra-typings';
import { createRegistry } from '../../activities/registry/create.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { outputOption, printData } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { note, print } from '../output/print.ts';
import { architecturesVerdict, parseArchitectures } from '../resolve/architectures.ts';
import { parseFollowed } from '../resolve/followed.ts';
import { resolveView } from '../resolve/resolve-view.ts';
import { resolveFollowed, type Resolution } from '../resolve/resolution.ts';
import { registryConfig } from '../resolve/registry-config.ts';

/** `holdfast resolve REPOSITORY`: what a line comes to, asked from here. */
export function resolveCommand() {
  return new Command('resolve')
    .description(
      'What a tag or a line of versions resolves to now, asked from here and not through the worker: digest, label, revision, version and architectures, and why the nearest other tags lost. Exit code 1: no such tag, or an architecture is missing; 3: the registry could not be read.',
    )
    .argument('<repository>', 'such as registry.example.com/team/app, without tag')
    .option('--track <tag>', 'a tag that moves, such as v6-latest')
    .option('--line <regex>', "a line of versions: a regular expression over tags, such as '^v5\\.'; the newest wins")
    .option('--prereleases', 'let prereleases win on a line')
    .option('--arch <list>', 'architectures that must be there, such as amd64,arm64', parseArchitectures)
    .option('--plain-http', 'this registry speaks plain http')
    .option('--ca-file <file>', "certificates of the authority that signed this registry's")
    .option('--docker-config <file>', 'credentials [$DOCKER_CONFIG/config.json, else ~/.docker/config.json]')
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast resolve ghcr.io/acme/hive --track v6-latest', ''],
        ["holdfast resolve ghcr.io/acme/hive --line '^v5\\.' --arch amd64,arm64", ''],
        ['holdfast resolve localhost:5000/hive --track edge --plain-http -o json | jq -r .reference', ''],
      ]),
    )
    .action(async (repository, options) => {
      const { arch, output } = options;
      const followed = parseFollowed(repository, options);
      const registry = createRegistry(registryConfig(followed.host, options));
      const resolution = await resolveFollowed(registry, followed);
      const architectures = architecturesVerdict(resolution, arch);
      if (output !== 'table') printData(output, resolution);
      else if (resolution.reference !== null) print(resolveView(resolution));
      if (resolution.problem !== null) note(`holdfast: ${resolution.problem.message}`);
      else if (architectures.kind !== 'pass') note(`holdfast: ${architectures.message}`);
      if (output === 'table' && resolution.reference === null && resolution.rejected.length > 0) {
        note(resolution.rejected.map(({ tag, reason }) => `  ${tag}: ${reason}`).join('\n'));
      }
      process.exitCode = resolveExitCode(resolution, architectures.kind === 'fail');
    });
}

/** That a registry has no such tag is its own word, and measured; what it does not say is not. */
function resolveExitCode({ problem }: Resolution, lacksArchitecture: boolean): ExitCode {
  if (problem === null) return lacksArchitecture ? exitCodes.failed : exitCodes.done;
  return problem.why === 'missing' || problem.why === 'empty' ? exitCodes.failed : exitCodes.undetermined;
}
