import { Command } from '@commander-js/extra-typings';
import { appliedLine } from '../applied-line.ts';
import { applySpec } from '../by-kind.ts';
import { fileOption } from '../file-option.ts';
import { formatObjectName } from '../object-name.ts';
import { outputOption, printData } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { print } from '../output/print.ts';
import { requireSpecs } from '../spec-files.ts';
import type { Applied } from '../temporal/apply-entity.ts';
import { withTemporal } from '../temporal/connect.ts';
import { asOption, reasonOption, whoAsks } from '../who.ts';

/** `holdfast apply -f FILE…`: create or change, idempotent. */
export function applyCommand() {
  return new Command('apply')
    .description(
      'Creates what the files describe, or gives what runs already its new spec. All files are judged before anything is asked; applying twice is applying once. What runs in Temporal and is in no file is left alone.',
    )
    .addOption(fileOption())
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast apply -f release.yaml', ''],
        ['holdfast apply -f keycloak-flow.yaml', 'with the desired state that it names'],
        ['holdfast apply -f node-reboot.yaml', ''],
        ['holdfast apply -f fleet/*.yaml --reason "longer soak"', 'recorded with who and why'],
      ]),
    )
    .action(async ({ file, as, reason, output }) => {
      const specs = await requireSpecs(file);
      const decider = { by: whoAsks(as), reason };
      await withTemporal(async (temporal) => {
        const applied: (Applied & { kind: string; name: string })[] = [];
        for (const spec of specs) {
          const { kind, name } = spec;
          const result = await applySpec(temporal, spec, decider);
          applied.push({ kind, name, ...result });
          if (output === 'table') print(appliedLine(formatObjectName({ kind, name }), result));
        }
        if (output !== 'table') printData(output, applied.length === 1 ? applied[0] : { items: applied });
      });
    });
}
