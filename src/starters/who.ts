import { userInfo } from 'node:os';
import { Option } from '@commander-js/extra-typings';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';

/** Who decides, and why. */
export type Decider = { readonly by: string; readonly reason: string };

/** `--as NAME`: who decides. */
export function asOption() {
  return new Option('--as <name>', 'who decides, as recorded [$HOLDFAST_USER, else your user name here]');
}

/** `--reason TEXT`: why. */
export function reasonOption() {
  return new Option('--reason <text>', 'why, as recorded').default('');
}

/**
 * Who asks, as claimed: `--as`, then `HOLDFAST_USER`, then the user of the operating system.
 *
 * @throws CliError where none of them says anything
 */
export function whoAsks(as: string | undefined): string {
  const name = (as ?? process.env.HOLDFAST_USER ?? systemUser()).trim();
  if (name !== '') return name;
  throw new CliError(exitCodes.invalid, 'nobody is named who decides this; give --as NAME or set HOLDFAST_USER');
}

/** In a container the user may have no entry in the password file. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}
