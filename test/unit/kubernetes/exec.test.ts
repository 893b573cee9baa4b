import { afterEach, describe, expect, test, vi } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import { maxExecOutputBytes } from '../../../src/activities/kubernetes/exec.ts';
import type { KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { startApiServer, status } from '../../doubles/api-server.ts';
import type { ApiServerDouble } from '../../doubles/api-server.ts';
import { acceptExec } from '../../doubles/exec-socket.ts';
import type { AcceptOptions, ExecSocket } from '../../doubles/exec-socket.ts';

let server: ApiServerDouble;
let port: KubernetesClient;
const pod = { namespace: 'shop', name: 'web-1', container: 'web' };

async function withExec(script: (socket: ExecSocket) => void, options: AcceptOptions = {}): Promise<void> {
  server = await startApiServer({ upgrade: (request, socket) => script(acceptExec(request, socket, options)) });
  port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig() });
}

afterEach(async () => {
  await port.close();
  await server.stop();
});

function failure(reason: string, code?: string): string {
  const causes = code === undefined ? [] : [{ reason: 'ExitCode', message: code }];
  return JSON.stringify({ kind: 'Status', status: 'Failure', reason, message: 'it did not work', details: { causes } });
}

describe('a command in a container', () => {
  test('H-E05 the exit code comes after the output is complete', async () => {
    await withExec((socket) => {
      socket.send(1, 'first ');
      setTimeout(() => {
        socket.send(1, 'last');
        socket.send(2, 'problem');
        socket.send(3, failure('NonZeroExitCode', '3'));
        socket.close();
      }, 500);
    });
    expect(await port.exec(pod, ['check'], { timeoutMs: 5_000 })).toEqual({
      kind: 'exited',
      code: 3,
      stdout: 'first last',
      stderr: 'problem',
    });
  });

  test('H-E05 a socket that closes without a status leaves the outcome unknown, with or without a goodbye', async () => {
    for (const goodbye of ['close', 'drop'] as const) {
      await withExec((socket) => {
        socket.send(1, 'half');
        setTimeout(() => socket[goodbye](), 50);
      });
      expect(await port.exec(pod, ['check'], { timeoutMs: 5_000 })).toMatchObject({
        kind: 'unmeasured',
        why: 'unreachable',
      });
      await port.close();
      await server.stop();
    }
  });

  test('H-E05 a command that never ends is bounded by its time-out and leaves no connection behind', async () => {
    await withExec((socket) => socket.send(1, 'still running'));
    const started = performance.now();
    expect(await port.exec(pod, ['sleep', '9'], { timeoutMs: 200 })).toMatchObject({
      kind: 'unmeasured',
      why: 'timeout',
    });
    expect(performance.now() - started).toBeLessThan(20_000);
    await vi.waitFor(() => expect(server.connections()).toBe(0));
  });

  test('output that arrives after the status still counts', async () => {
    await withExec((socket) => {
      socket.send(3, JSON.stringify({ kind: 'Status', status: 'Success' }));
      setTimeout(() => {
        socket.send(1, 'late');
        socket.close();
      }, 30);
    });
    expect(await port.exec(pod, ['echo'], { timeoutMs: 5_000 })).toMatchObject({
      kind: 'exited',
      code: 0,
      stdout: 'late',
    });
  });

  test('a status that is no exit code is never a code', async () => {
    for (const status of [
      failure('InternalError'),
      failure('NonZeroExitCode'),
      failure('NonZeroExitCode', 'x'),
      '{}',
      'not json',
    ]) {
      await withExec((socket) => {
        socket.send(3, status);
        socket.close();
      });
      expect(await port.exec(pod, ['check'], { timeoutMs: 5_000 })).toMatchObject({ kind: 'unmeasured' });
      await port.close();
      await server.stop();
    }
  });

  test('a refusal is denied, a pod that is not there is missing', async () => {
    const refused = (code: number, reason: string) => status(code, reason, `no: ${reason}`).body;
    const gone = status(404, 'NotFound', 'pods "web" not found').body;
    for (const [code, body, why] of [
      [403, refused(403, 'Forbidden'), 'denied'],
      [404, gone, 'missing'],
      [404, refused(404, 'NotFound'), 'not-served'],
      [404, '<html>not here</html>', 'unparsed'],
      [503, '', 'unreachable'],
      [400, refused(400, 'BadRequest'), 'error'],
      [200, '<html>Sign in</html>', 'unparsed'],
    ] as const) {
      server = await startApiServer({
        upgrade: (_, socket) => void socket.end(`HTTP/1.1 ${code} No\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
      });
      port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig() });
      const outcome = await port.exec(pod, ['check'], { timeoutMs: 5_000 });
      expect(outcome).toMatchObject({ kind: 'unmeasured', why });
      if (why === 'error')
        expect(outcome).toMatchObject({ message: expect.stringContaining('no: BadRequest') as string });
      await port.close();
      await server.stop();
    }
  });

  test('a handshake that nobody answers ends with the time-out', async () => {
    server = await startApiServer({ upgrade: () => undefined });
    port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig() });
    expect(await port.exec(pod, ['check'], { timeoutMs: 200 })).toMatchObject({ kind: 'unmeasured', why: 'timeout' });
    await vi.waitFor(() => expect(server.connections()).toBe(0));
  });

  test('input is sent whole and ended, so that a command that reads to the end does end', async () => {
    const input = 'x'.repeat(100_000);
    await withExec((socket) => {
      let received = '';
      socket.onMessage((channel, data) => {
        if (channel === 0) received += data.toString();
        if (channel !== 255 || data[0] !== 0) return;
        socket.send(1, String(received.length));
        socket.send(3, JSON.stringify({ kind: 'Status', status: 'Success' }));
        socket.close();
      });
    });
    const outcome = await port.exec(pod, ['wc', '-c'], { timeoutMs: 5_000, stdin: input });
    expect(outcome).toMatchObject({ kind: 'exited', code: 0, stdout: '100000' });
  });

  test('a server that only speaks v4 serves as well', async () => {
    await withExec(
      (socket) => {
        socket.send(3, JSON.stringify({ kind: 'Status', status: 'Success' }));
        socket.close();
      },
      { protocols: ['v4.channel.k8s.io'] },
    );
    expect(await port.exec(pod, ['true'], { timeoutMs: 5_000 })).toMatchObject({ kind: 'exited', code: 0 });
  });

  test('endless output is cut off as truncated', async () => {
    await withExec((socket) => socket.send(1, Buffer.alloc(maxExecOutputBytes + 1, 'y')));
    expect(await port.exec(pod, ['yes'], { timeoutMs: 20_000 })).toMatchObject({
      kind: 'unmeasured',
      why: 'truncated',
    });
  });

  test('the command and the container arrive word by word', async () => {
    await withExec((socket) => {
      socket.send(3, JSON.stringify({ kind: 'Status', status: 'Success' }));
      socket.close();
    });
    await port.exec(pod, ['sh', '-c', 'echo "a & b"'], { timeoutMs: 5_000 });
    const url = new URL(server.requests[0]?.url ?? '', 'http://double');
    expect(url.pathname).toBe('/api/v1/namespaces/shop/pods/web-1/exec');
    expect(url.searchParams.getAll('command')).toEqual(['sh', '-c', 'echo "a & b"']);
    expect(url.searchParams.get('container')).toBe('web');
    expect(url.searchParams.get('stdin')).toBeNull();
  });

  test('a caller that gives up gets an answer at once', async () => {
    await withExec(() => undefined);
    const stop = new AbortController();
    const running = port.exec(pod, ['sleep', '9'], { timeoutMs: 60_000, signal: stop.signal });
    await vi.waitFor(() => expect(server.requests.length).toBe(1));
    stop.abort();
    expect(await running).toMatchObject({ kind: 'unmeasured', why: 'error' });
    await vi.waitFor(() => expect(server.connections()).toBe(0));
  });
});
