import { CommanderError } from '@commander-js/extra-typings';
import { redact } from '../domain/core/redact.ts';
import { CliError } from './cli-error.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { note } from './output/print.ts';

/**
 * Says what ended a command, without a stack trace (`HOLDFAST_DEBUG=1` shows it).
 *
 * @returns the exit code: what nobody foresaw is undetermined, since nothing was measured
 */
export function reportError(error: unknown): ExitCode {
  if (error instanceof CommanderError) return ofUsage(error);
  if (process.env.HOLDFAST_DEBUG === '1' && error instanceof Error) note(redact(error.stack ?? error.message));
  if (error instanceof CliError) {
    note(`holdfast: ${redact(error.message)}`);
    return error.exitCode;
  }
  const message = error instanceof Error ? error.message : String(error);
  note(`holdfast: unexpected: ${redact(message)} (HOLDFAST_DEBUG=1 shows where)`);
  return exitCodes.undetermined;
}

/** Commander has said it already; help and version that were asked for are no error. */
function ofUsage(error: CommanderError): ExitCode {
  const asked = error.code === 'commander.helpDisplayed' || error.code === 'commander.version';
  return asked || (error.code === 'commander.help' && error.exitCode === 0) ? exitCodes.done : exitCodes.invalid;
}
