import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { exitCodes } from '../exit-codes.ts';
import { findKind, unknownKind, type KindName } from '../kind-names.ts';
import { outputOption, printData } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { note, print } from '../output/print.ts';
import { listReleases } from '../release/list-releases.ts';
import { listView } from '../release/list-view.ts';
import { withTemporal } from '../temporal/connect.ts';

/** `holdfast get [KIND]`: what there is, a line each. */
export function getCommand() {
  return new Command('get')
    .description(
      'Lists what runs, with phase and what it waits for. One that does not answer is listed as not answering, and the exit code is 3.',
    )
    .argument('[kind]', 'such as release [all kinds]', parseKind)
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast get', ''],
        ['holdfast get releases -o json', 'the whole status of each, for programs'],
      ]),
    )
    .action(async (_kind, { output }) => {
      const listed = await withTemporal(listReleases);
      const silent = listed.filter((entry) => entry.status === null);
      if (output !== 'table') {
        printData(output, {
          items: listed.flatMap((entry) => entry.status ?? []),
          unanswered: silent.map(({ name, problem }) => ({ kind: 'Release', name, message: problem })),
        });
      } else if (listed.length === 0) note('There is nothing yet; create a release: holdfast apply -f release.yaml');
      else print(listView(listed));
      if (silent.length > 0) process.exitCode = exitCodes.undetermined;
    });
}

function parseKind(text: string): KindName {
  const kind = findKind(text);
  if (kind === undefined) throw new InvalidArgumentError(`${unknownKind(text)}.`);
  return kind;
}
