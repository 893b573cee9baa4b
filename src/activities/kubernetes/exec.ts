import { unmeasured } from '../../domain/core/verdict.ts';
import type { Unmeasured, UnmeasuredCause } from '../../domain/core/verdict.ts';
import { clean, isRecord, judge, parseJson } from './errors.ts';
import { pathSegment } from './kinds.ts';
import type { ExecOptions, ExecOutcome, ExecTarget } from './port.ts';
import { connectSocket } from './socket.ts';
import type { Socket } from './socket.ts';
import type { Transport } from './transport.ts';

/**
 * Runs a command in a container over a WebSocket, by the `v5.channel.k8s.io` protocol (v4 for older servers): the first
 * byte of each message is its channel. The command's end is the status on channel 3; a socket that closes without one
 * leaves the outcome unknown. client-node never settles in that case, hence our own (kubernetes-client/javascript#704).
 */

const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, close: 255 } as const;
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** Output of both channels together; more is `truncated`. */
export const maxExecOutputBytes = 4 * 1024 * 1024;

/** The status comes last, but the socket tells when nothing more can come; how long to wait for that. */
const closingMs = 250;

/** See KubernetesPort.exec. Closing the socket does not stop a command that is running. */
export async function execInPod(
  transport: Transport,
  pod: ExecTarget,
  command: readonly string[],
  options: ExecOptions,
): Promise<ExecOutcome> {
  const what = `command ${clean(command[0] ?? '')} in container ${pod.container} of pod ${pod.namespace}/${pod.name}`;
  const failed = (why: UnmeasuredCause, message: string) =>
    unmeasured(what, transport.server, why, `${what}: ${message}`);
  const namespace = pathSegment(pod.namespace);
  const name = pathSegment(pod.name);
  if (namespace === undefined || name === undefined) return failed('error', 'this is no name of a pod');
  if (command.length === 0) return failed('error', 'no command was given');

  const query: (readonly [string, string])[] = [
    ['container', pod.container],
    ['stdout', 'true'],
    ['stderr', 'true'],
    ...(options.stdin === undefined ? [] : [['stdin', 'true'] as const]),
    ...command.map((word) => ['command', word] as const),
  ];
  const deadline = performance.now() + options.timeoutMs;
  const socket = await connectSocket(transport, `/api/v1/namespaces/${namespace}/pods/${name}/exec`, query, {
    protocols,
    timeoutMs: options.timeoutMs,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (socket.kind !== 'open') {
    const { why, message } = judge(socket);
    return failed(why, message);
  }
  try {
    return await converse(socket, deadline - performance.now(), options, failed);
  } finally {
    socket.close();
    socket.destroy();
  }
}

type Failed = (why: UnmeasuredCause, message: string) => Unmeasured;

async function converse(socket: Socket, leftMs: number, options: ExecOptions, failed: Failed): Promise<ExecOutcome> {
  const output = { [channels.stdout]: [] as Buffer[], [channels.stderr]: [] as Buffer[] };
  let size = 0;
  let status: string | undefined;

  const end = new Promise<'closed' | 'timeout' | 'stopped' | 'truncated'>((resolve) => {
    const timer = setTimeout(() => resolve('timeout'), Math.max(1, leftMs));
    const onAbort = () => resolve('stopped');
    options.signal?.addEventListener('abort', onAbort, { once: true });
    if (options.signal?.aborted === true) onAbort();
    let closing: NodeJS.Timeout | undefined;
    socket.onClose(() => {
      clearTimeout(timer);
      clearTimeout(closing);
      options.signal?.removeEventListener('abort', onAbort);
      resolve('closed');
    });
    socket.onMessage((message) => {
      const channel = message[0];
      const data = message.subarray(1);
      if (channel === channels.stdout || channel === channels.stderr) {
        size += data.length;
        if (size > maxExecOutputBytes) return resolve('truncated');
        output[channel].push(data);
      } else if (channel === channels.status) {
        status = data.toString('utf8');
        // Not closed from here yet: that would drop output that is still on its way.
        closing = setTimeout(() => resolve('closed'), closingMs);
      }
    });
  });
  sendInput(socket, options.stdin);

  const how = await end;
  if (how === 'truncated') return failed('truncated', `more than ${maxExecOutputBytes} bytes of output`);
  if (status !== undefined) return judgeStatus(status, output, failed);
  if (how === 'timeout')
    return failed('timeout', `no exit status within ${options.timeoutMs} ms; the command may still be running`);
  if (how === 'stopped') return failed('error', 'stopped before the command ended; it may still be running');
  return failed('unreachable', 'the connection closed without an exit status; whether the command ended is not known');
}

function sendInput(socket: Socket, stdin: string | undefined): void {
  if (stdin === undefined) return;
  const bytes = Buffer.from(stdin, 'utf8');
  const step = 32 * 1024;
  for (let at = 0; at < bytes.length; at += step) {
    socket.send(Buffer.concat([Buffer.from([channels.stdin]), bytes.subarray(at, at + step)]));
  }
  // Only v5 can end the input and keep the rest open; with v4 the command must not wait for the end of its input.
  if (socket.protocol === 'v5.channel.k8s.io') socket.send(Buffer.from([channels.close, channels.stdin]));
}

function judgeStatus(text: string, output: Readonly<Record<1 | 2, Buffer[]>>, failed: Failed): ExecOutcome {
  const status = parseJson(text);
  if (!isRecord(status)) return failed('unparsed', 'the exit status cannot be read');
  const code = exitCode(status);
  if (code === undefined) {
    const said = typeof status.message === 'string' ? clean(status.message) : 'no exit code';
    return failed('error', `the command could not be run or watched: ${said}`);
  }
  const stdout = Buffer.concat(output[channels.stdout]).toString('utf8');
  const stderr = Buffer.concat(output[channels.stderr]).toString('utf8');
  return { kind: 'exited', code, stdout, stderr };
}

/** 0 for Success, the ExitCode cause of a NonZeroExitCode; undefined for everything else, such as a missing binary. */
function exitCode(status: Record<string, unknown>): number | undefined {
  if (status.status === 'Success') return 0;
  if (status.reason !== 'NonZeroExitCode' || !isRecord(status.details) || !Array.isArray(status.details.causes))
    return undefined;
  const cause: unknown = status.details.causes.find((c) => isRecord(c) && c.reason === 'ExitCode');
  const message = isRecord(cause) && typeof cause.message === 'string' ? cause.message : '';
  return /^\d{1,10}$/.test(message) ? Number(message) : undefined;
}
