/**
 * What a command's end means. A failure was measured; what could not be measured is undetermined, never a failure.
 * 130 is the shells' own code for Ctrl-C: the command was left, the work goes on.
 */
export const exitCodes = {
  done: 0,
  failed: 1,
  invalid: 2,
  undetermined: 3,
  waiting: 4,
  rolledBack: 5,
  changesPending: 6,
  interrupted: 130,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Shown below `holdfast --help`. */
export const exitCodesText = `Exit codes:
  0  done
  1  failed as measured: a reading says that it is not as wanted
  2  invalid input, or refused
  3  undetermined: something could not be read or reached
  4  waiting for a person
  5  rolled back
  6  changes pending (plan)
  130  left with Ctrl-C; what runs in Temporal goes on`;
