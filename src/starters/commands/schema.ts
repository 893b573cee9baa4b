import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { jsonSchemaOf } from '../../domain/core/json-schema.ts';
import { findKind, unknownKind, type KindName } from '../kind-names.ts';
import { kindDescriptions, kinds } from '../kinds.ts';
import { examples } from '../output/examples.ts';
import { print } from '../output/print.ts';

/** `holdfast schema KIND`: the JSON Schema of a kind's documents, for editors. */
export function schemaCommand() {
  return new Command('schema')
    .description('Prints the JSON Schema of a kind, so that editors complete and check spec files.')
    .argument('<kind>', 'such as release', parseKind)
    .addHelpText(
      'after',
      `${examples([['holdfast schema release > release.schema.json', 'keep it beside your specs']])}

Then begin a spec with this line, which most editors understand:
  # yaml-language-server: $schema=release.schema.json`,
    )
    .action((kind) => print(JSON.stringify(jsonSchemaOf(kind, kinds[kind], kindDescriptions[kind]), null, 2)));
}

function parseKind(text: string): KindName {
  const kind = findKind(text);
  if (kind === undefined) throw new InvalidArgumentError(`${unknownKind(text)}.`);
  return kind;
}
