import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/** One command as `holdfast --help` lists it; its file is read only when the command is the one that was asked for. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly load: () => Promise<CommandUnknownOpts>;
}

const files = 'Spec files:';
const running = 'Running it:';
const looking = 'Looking:';
const deciding = 'Deciding (recorded with who and why):';

/** Every command, in the order of the help. */
export const commandList: readonly CommandEntry[] = [
  {
    name: 'dev',
    summary: 'an embedded Temporal server and a worker, to try it on your own cluster',
    group: running,
    load: async () => (await import('./commands/dev.ts')).devCommand(),
  },
  {
    name: 'worker',
    summary: 'the worker process',
    group: running,
    load: async () => (await import('./commands/worker.ts')).workerCommand(),
  },
  {
    name: 'doctor',
    summary: 'checks connection, search attributes, permissions, registry, Keycloak, clocks and versions',
    group: running,
    load: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  },
  {
    name: 'validate',
    summary: 'check spec files, offline',
    group: files,
    load: async () => (await import('./commands/validate.ts')).validateCommand(),
  },
  {
    name: 'schema',
    summary: 'print the JSON Schema of a kind, for editors',
    group: files,
    load: async () => (await import('./commands/schema.ts')).schemaCommand(),
  },
  {
    name: 'render',
    summary: 'render what a realm is to be from its import, or check that a file is current',
    group: files,
    load: async () => (await import('./commands/render.ts')).renderCommand(),
  },
  {
    name: 'plan',
    summary: 'what Enforce would do now, as a diff; writes nothing',
    group: files,
    load: async () => (await import('./commands/plan.ts')).planCommand(),
  },
  {
    name: 'apply',
    summary: 'create or change what the files describe',
    group: files,
    load: async () => (await import('./commands/apply.ts')).applyCommand(),
  },
  {
    name: 'run',
    summary: 'apply, and one pass now; --wait follows it to its end',
    group: files,
    load: async () => (await import('./commands/run.ts')).runCommand(),
  },
  {
    name: 'get',
    summary: 'list what there is',
    group: looking,
    load: async () => (await import('./commands/get.ts')).getCommand(),
  },
  {
    name: 'status',
    summary: 'how it is, what it waits for, and who can lift that',
    group: looking,
    load: async () => (await import('./commands/status.ts')).statusCommand(),
  },
  {
    name: 'history',
    summary: 'what was rolled, bound, rebooted and decided, when and by whom',
    group: looking,
    load: async () => (await import('./commands/history.ts')).historyCommand(),
  },
  {
    name: 'resolve',
    summary: 'what a line of a repository resolves to, asked from here',
    group: looking,
    load: async () => (await import('./commands/resolve.ts')).resolveCommand(),
  },
  {
    name: 'approve',
    summary: 'let a waiting step go on',
    group: deciding,
    load: async () => (await import('./commands/approve.ts')).approveCommand(),
  },
  {
    name: 'reject',
    summary: 'turn a waiting step down',
    group: deciding,
    load: async () => (await import('./commands/reject.ts')).rejectCommand(),
  },
  {
    name: 'abort',
    summary: 'end a rollout: stop where it is, or roll back',
    group: deciding,
    load: async () => (await import('./commands/abort.ts')).abortCommand(),
  },
  {
    name: 'cancel',
    summary: 'end reboots: give the node back, or finish it where it is too late for that',
    group: deciding,
    load: async () => (await import('./commands/cancel.ts')).cancelCommand(),
  },
  {
    name: 'force',
    summary: 'set one gate aside for one reboot of one node',
    group: deciding,
    load: async () => (await import('./commands/force.ts')).forceCommand(),
  },
  {
    name: 'release-lock',
    summary: 'release the reboot lock and leave its node as it is: a person answers for it',
    group: deciding,
    load: async () => (await import('./commands/release-lock.ts')).releaseLockCommand(),
  },
  {
    name: 'pause',
    summary: 'start and write nothing until resume',
    group: deciding,
    load: async () => (await import('./commands/pause.ts')).pauseCommand(),
  },
  {
    name: 'resume',
    summary: 'end a pause',
    group: deciding,
    load: async () => (await import('./commands/resume.ts')).resumeCommand(),
  },
  {
    name: 'retry',
    summary: 'try again now, before a cooldown ends or after a failed proof',
    group: deciding,
    load: async () => (await import('./commands/retry.ts')).retryCommand(),
  },
  {
    name: 'pin',
    summary: 'hold the fleet on an image, or move it there on purpose',
    group: deciding,
    load: async () => (await import('./commands/pin.ts')).pinCommand(),
  },
  {
    name: 'unpin',
    summary: 'follow the track again',
    group: deciding,
    load: async () => (await import('./commands/unpin.ts')).unpinCommand(),
  },
  {
    name: 'block',
    summary: 'never roll a digest or version',
    group: deciding,
    load: async () => (await import('./commands/block.ts')).blockCommand(),
  },
  {
    name: 'unblock',
    summary: 'take a block back',
    group: deciding,
    load: async () => (await import('./commands/unblock.ts')).unblockCommand(),
  },
  {
    name: 'rollback',
    summary: 'bind the login flow that was bound before, and hold binding',
    group: deciding,
    load: async () => (await import('./commands/rollback.ts')).rollbackCommand(),
  },
  {
    name: 'lift-hold',
    summary: 'end the hold on binding that a rollback left',
    group: deciding,
    load: async () => (await import('./commands/lift-hold.ts')).liftHoldCommand(),
  },
  {
    name: 'set-mode',
    summary: 'Observe, Shadow or Enforce',
    group: deciding,
    load: async () => (await import('./commands/set-mode.ts')).setModeCommand(),
  },
  {
    name: 'release-ownership',
    summary: 'hand everything back, leaving objects as they are',
    group: deciding,
    load: async () => (await import('./commands/release-ownership.ts')).releaseOwnershipCommand(),
  },
];
