import { read, type Reading } from '../../domain/core/verdict.ts';
import type { LockRecord } from '../../domain/node-reboot/lock.ts';
import { judgeReboot } from '../../domain/node-reboot/node-writes.ts';
import { commandLine, type CommandLine, type RebootCommand } from '../../domain/node-reboot/reboot-command.ts';
import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { answered } from './lock.ts';
import { addressOf, readNode } from './nodes.ts';
import { runCommand, type CommandEnd } from './run-command.ts';

/** A reboot command by its name, among those of the worker's configuration. */
export interface NamedCommand {
  readonly name: string;
  readonly commands: Readonly<Record<string, RebootCommand>>;
}

/** What a command would be run with for a node, as the node is now. */
export async function readCommandLine(
  port: KubernetesPort,
  { name, commands }: NamedCommand,
  node: string,
  signal: AbortSignal,
): Promise<Reading<CommandLine>> {
  const seen = await readNode(port, node, signal);
  if (seen.kind === 'unmeasured') return seen;
  const target = { node, address: addressOf(seen.value.object), bootId: seen.value.node.bootId };
  return read(commandLine(name, commands, target));
}

/**
 * Tells this boot to end by a command, at most once: the intent stands in the lock before it runs, so that where it stood there
 * already an earlier try may have run it, and it is not run again. See NodeRebootActivities.rebootNode.
 *
 * @param wasThere whether the lock had the intent before this try
 */
export async function rebootByCommand(
  port: KubernetesPort,
  { name, commands }: NamedCommand,
  record: LockRecord,
  wasThere: boolean,
  deadline: number,
  clock: () => number,
  signal: AbortSignal,
): Promise<ResultOf<'reboot'>> {
  const { node, before } = record.visit;
  const result = (outcome: ResultOf<'reboot'>['outcome'], message: string) =>
    ({ of: 'reboot', outcome, message }) as const;
  if (before === null) return result('refused', `node ${node} was not looked at before`);
  const boot = `boot ${before.bootId} of node ${node}`;
  if (wasThere) {
    return result('unknown', `an earlier try may have run command ${name} for ${boot}; it is not run again`);
  }
  const seen = await answered(() => readNode(port, node, signal), signal);
  if (seen.kind === 'unmeasured') return result('refused', seen.message);
  const judged = judgeReboot(seen.value.node, record, false, deadline, clock());
  if (judged.kind === 'done') return result('sent', judged.message);
  if (judged.kind !== 'write') return result(judged.kind, judged.message);
  const target = { node, address: addressOf(seen.value.object), bootId: before.bootId };
  const line = commandLine(name, commands, target);
  if (!line.ok) return result('refused', `${line.message}; ${line.lift}`);
  const end = await runCommand(line.run, line.timeoutMs, signal);
  if (end.kind === 'unstarted') return result('refused', `command ${name} could not be started (${end.message})`);
  if (end.kind === 'ended' && end.code === 0) return result('sent', `${boot} is told to end, by command ${name}`);
  const how = describeEnd(end, line.timeoutMs);
  return result(
    'unknown',
    `command ${name} ${how}, so that nobody can say whether ${boot} was told to end; it is not run again`,
  );
}

function describeEnd(end: Exclude<CommandEnd, { kind: 'unstarted' }>, timeoutMs: number): string {
  if (end.kind === 'timeout') return `did not end in ${timeoutMs / 1_000} s`;
  const how = end.code === null ? 'was killed' : `ended with exit code ${end.code}`;
  return end.said === '' ? how : `${how} ("${end.said}")`;
}
