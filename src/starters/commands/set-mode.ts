import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { modes, type Mode } from '../../domain/core/mode.ts';
import { decide } from '../decide.ts';
import { parseObjectName } from '../object-name.ts';
import { outputOption } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { asOption, reasonOption } from '../who.ts';

/** `holdfast set-mode`: Observe, Shadow or Enforce. */
export function setModeCommand() {
  return new Command('set-mode')
    .description(
      'Sets the mode, until a spec with another one is applied; a file that names none says Shadow. Shadow during a rollout freezes it where it is; Enforce lets it go on. A node that has its turn is brought back first: until then another mode is refused.',
    )
    .argument('<kind/name>', 'such as release/hive', parseObjectName)
    .argument('<mode>', 'Observe reports, Shadow also plans, Enforce carries the plan out', parseMode)
    .addOption(asOption())
    .addOption(reasonOption())
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast set-mode release/hive Shadow', ''],
        ["holdfast set-mode release/hive Enforce --reason 'a week of Shadow was right'", ''],
      ]),
    )
    .action((object, mode, options) => decide(object, 'setMode', { mode }, options));
}

function parseMode(text: string): Mode {
  const mode = modes.find((known) => known.toLowerCase() === text.toLowerCase());
  if (mode === undefined) throw new InvalidArgumentError(`Expected ${modes.join(', ')}.`);
  return mode;
}
