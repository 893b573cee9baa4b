import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { commandList } from './command-list.ts';
import { exitCodesText } from './exit-codes.ts';
import { reportError } from './report-error.ts';
import { holdfastVersion } from './version.ts';

/**
 * The command line. Only the file of the command that was asked for is loaded, so that `--help` comes at once. Nothing is
 * thrown: what went wrong is said on standard error and in `process.exitCode`.
 *
 * @param words what follows `holdfast` on the command line
 */
export async function runHoldfast(words: readonly string[]): Promise<void> {
  const argv = withoutHelpWord(words);
  try {
    const program = await createProgram(argv);
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    process.exitCode = reportError(error);
  }
}

async function createProgram(argv: readonly string[]): Promise<CommandUnknownOpts> {
  const program: CommandUnknownOpts = new Command('holdfast')
    .description(
      'Durable cluster operations on Temporal: they survive crashes, decide on what they measured, and ask people.',
    )
    .usage('COMMAND [ARGUMENT…] [OPTION…]')
    .version(holdfastVersion(), '-V, --version')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'holdfast: ')) })
    .addHelpText(
      'after',
      `
Begin with:
  holdfast dev                     a server and a worker on your current kubeconfig context
  holdfast apply -f release.yaml   in Shadow it only says what it would do
  holdfast COMMAND --help          options and examples

${exitCodesText}

Temporal is found by its own configuration: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_PROFILE and so on.`,
    );
  const asked = commandAsked(argv);
  for (const { name, summary, group, load } of commandList) {
    const command: CommandUnknownOpts = name === asked ? await load() : new Command(name);
    command
      .summary(summary)
      .helpGroup(group)
      .copyInheritedSettings(program)
      .showHelpAfterError(`See: holdfast ${name} --help`);
    program.addCommand(command);
  }
  return program;
}

/** `holdfast help plan` is `holdfast plan --help`. */
function withoutHelpWord(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  return first === 'help' ? [...rest, '--help'] : argv;
}

/** The first word that is no option. */
function commandAsked(argv: readonly string[]): string | undefined {
  return argv.find((word) => !word.startsWith('-'));
}
