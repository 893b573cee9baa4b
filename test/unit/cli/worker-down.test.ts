import { WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { releaseSpec } from '../../../src/domain/release/spec.ts';
import { askPlan } from '../../../src/starters/release/ask-plan.ts';
import { listReleases } from '../../../src/starters/release/list-releases.ts';
import { askWorker, tellWorker } from '../../../src/starters/temporal/answer.ts';
import type { Temporal } from '../../../src/starters/temporal/connect.ts';
import { explainError } from '../../../src/starters/temporal/explain-error.ts';

const object = 'release/hive';
const never = () => new Promise<never>(() => undefined);

/** As Temporal's client throws it: an error of gRPC with its code. */
function grpc(code: number, details: string): Error {
  return Object.assign(new Error(`${code} ${details}`), { code, details, metadata: {} });
}

/** A Temporal that is there. What nobody polls is answered by nobody. */
function temporal(pollers: number, workflow: object = {}): Temporal {
  const lastAccessTime = { seconds: Math.floor(Date.now() / 1000) };
  const client = {
    withDeadline: <T>(_: number, call: () => Promise<T>) => call(),
    workflowService: { describeTaskQueue: () => Promise.resolve({ pollers: Array(pollers).fill({ lastAccessTime }) }) },
    workflow,
  };
  return { address: 'temporal:7233', namespace: 'prod', client } as unknown as Temporal;
}

const patience = { taskQueue: 'holdfast-release', timeoutMs: 60_000, lookAfterMs: 1 };

describe('a question that only a worker can answer', () => {
  test('is answered', async () => {
    expect(await askWorker(temporal(1), object, () => Promise.resolve('fine'), patience)).toBe('fine');
  });

  test('ends at once, undetermined, where no worker polls', async () => {
    await expect(askWorker(temporal(0), object, never, patience)).rejects.toMatchObject({
      exitCode: 3,
      message:
        'how release/hive is cannot be asked: no worker polls holdfast-release in namespace prod of temporal:7233; start one: holdfast worker (or holdfast dev)',
    });
  });

  test('says what a worker of reboots has to be told, where none polls', async () => {
    const asked = askWorker(temporal(0), 'nodereboot/a', never, { ...patience, taskQueue: 'holdfast-node-reboot' });
    await expect(asked).rejects.toThrow(
      /holdfast dev\), with nodeReboot: \{ hostImage: IMAGE \} in its configuration$/,
    );
  });

  test.each([
    [4, 'Deadline exceeded'],
    [1, 'Call cancelled'],
  ])('that was not answered in time (gRPC %i) leaves nothing open, since it changes nothing', async (code, details) => {
    const asked = askWorker(temporal(1), object, () => Promise.reject(grpc(code, details)), patience);
    await expect(asked).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/^release\/hive did not answer within 60 s, .*holdfast worker/) as string,
    });
    await expect(asked).rejects.not.toThrow(/takes effect|cancelled/);
  });

  test('a refusal of Temporal itself stays what it is', async () => {
    const denied = grpc(7, 'no');
    await expect(askWorker(temporal(1), object, () => Promise.reject(denied), patience)).rejects.toBe(denied);
  });
});

test('a long list whose first twenty are silent is not asked to its end', async () => {
  const asked: string[] = [];
  async function* list() {
    for (let n = 10; n < 70; n++) yield await Promise.resolve({ workflowId: `release/r${n}` });
  }
  const getHandle = (id: string) => ({
    query: () => {
      asked.push(id);
      return Promise.reject(grpc(1, 'Call cancelled'));
    },
  });
  const listed = await listReleases(temporal(1, { list, getHandle }));
  expect(listed).toHaveLength(60);
  expect(asked).toHaveLength(20);
  expect(listed.at(-1)).toEqual({ name: 'r69', status: null, problem: 'not asked: none before it answered' });
});

test('of a decision that nobody answered it is said that it may still take effect, and where to look', async () => {
  const silence = () => Promise.reject(new WorkflowUpdateRPCTimeoutOrCancelledError('timed out'));
  await expect(tellWorker(temporal(0), object, silence, 30_000)).rejects.toMatchObject({
    exitCode: 3,
    message: expect.stringMatching(
      /whether it takes effect once one runs is not known: .*look: holdfast status release\/hive$/,
    ) as string,
  });
});

test.each([
  [4, 'Deadline exceeded'],
  [1, 'Call cancelled'],
])('a Temporal that is silent (gRPC %i) is named, and no worker is blamed', (code, details) => {
  const explained = explainError(grpc(code, details), { address: 'temporal:7233', namespace: 'prod' });
  expect(explained).toMatchObject({
    exitCode: 3,
    message:
      'Temporal at temporal:7233, namespace prod, did not answer in time; try again, or see what is wrong: holdfast doctor',
  });
});

describe('a plan that no worker takes up', () => {
  const spec = releaseSpec.parse({
    image: 'registry.example.com/acme/hive',
    track: { tag: 'edge' },
    targets: [{ namespace: 'hive', deployment: 'hive', container: 'hive' }],
  });

  function planned(historyLength: number, result: () => Promise<unknown>) {
    const ended: string[] = [];
    let described: (value: void) => void = () => undefined;
    const handle = {
      result,
      describe: () => {
        described();
        return Promise.resolve({ historyLength });
      },
      terminate: (why: string) => {
        ended.push(why);
        return Promise.resolve();
      },
    };
    const whenDescribed = new Promise<void>((resolve) => (described = resolve));
    return { ended, described: whenDescribed, temporal: temporal(0, { start: () => Promise.resolve(handle) }) };
  }

  test.each([
    [2, 'nobody polls'],
    [4, 'a worker died with it'],
  ])('ends by itself, undetermined, and is not left to be planned later (%i events: %s)', async (length) => {
    const { ended, temporal: there } = planned(length, never);
    const said: string[] = [];
    await expect(
      askPlan(there, 'hive', spec, (line) => said.push(line), { timeoutMs: 300_000, takenUpMs: 20, hintAfterMs: 1 }),
    ).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(
        /no worker took up the plan of release\/hive within 20ms .*holdfast worker/,
      ) as string,
    });
    expect(said).toEqual([expect.stringContaining('no worker polls holdfast-release')]);
    expect(ended).toHaveLength(1);
  });

  test('one that is taken up is waited for', async () => {
    let answer: (output: unknown) => void = () => undefined;
    const { described, temporal: there } = planned(7, () => new Promise((resolve) => (answer = resolve)));
    const patience = { timeoutMs: 300_000, takenUpMs: 1 };
    const asked = askPlan(there, 'hive', spec, () => undefined, patience);
    await described;
    answer({ evaluation: { plain: 'a plan' } });
    expect(await asked).toBe('a plan');
  });
});
