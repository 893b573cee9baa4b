import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { declaredTree, servedTree } from '../lab/keycloak-tree.ts';
import {
  deathInWords,
  openJourney,
  openKeycloakStage,
  untilStatus,
  type Death,
  type Journey,
  type KeycloakStage,
} from './keycloak-stage.ts';
import { copyProduct, type ProductCopy } from './product-copy.ts';
import { keepHistories, replayKept } from './replay-kept.ts';

/**
 * A worker in a process of its own is killed by SIGKILL while it builds, proves and binds a login flow on a real Keycloak.
 * `HOLDFAST_CHAOS=all` kills it at each write of a whole run, each in a realm of its own, which takes some twenty minutes;
 * else several kills meet the same run, so that each kind of write is among them on both sides of its effect.
 */
const all = process.env['HOLDFAST_CHAOS'] === 'all';
const lab = inject('lab');
const lanes = 3;
let product: ProductCopy;
const stages: KeycloakStage[] = [];

beforeAll(async () => {
  product = await copyProduct();
  for (let count = 0; count < lanes; count++) stages.push(await openKeycloakStage(lab, product));
});

afterAll(async () => {
  for (const stage of stages) await stage.close();
  product.remove();
});

/** Where the worker of one journey dies: until the flow is bound, and while it is rolled back. */
interface Plan {
  readonly deaths: readonly Death[];
  readonly atRollback: readonly Death[];
}

/** The writes of a run that nobody disturbs, in order. */
const undisturbed: readonly string[] = [
  'policy',
  'requiredAction',
  'createFlow 1',
  ...['addExecution 1', 'setRequirement 1', 'addExecution 2', 'setRequirement 2', 'addSubFlow 1', 'setRequirement 3'],
  ...['addExecution 3', 'addSubFlow 2', 'setRequirement 4', 'addExecution 4', 'setRequirement 5'],
  ...['addSubFlow 3', 'setRequirement 6', 'addExecution 5', 'setRequirement 7', 'addSubFlow 4', 'setRequirement 8'],
  ...['addExecution 6', 'setRequirement 9', 'addConfig 1', 'addExecution 7', 'setRequirement 10'],
  'aim',
  'release',
  'bind',
];

const onBothSides = (writes: readonly string[]): Death[][] => [
  writes.map((write) => ({ write, when: 'before' })),
  writes.map((write) => ({ write, when: 'reply' })),
];
const aroundTheBind = (['scheduled', 'started', 'unreported', 'completed'] as const).map((moment): Death => ({
  activity: 'bindCandidate',
  moment,
}));

/** Each kind of write on one side of its effect, and the bind on both. */
const sample: readonly Plan[] = [
  {
    deaths: [
      { write: 'policy', when: 'before' },
      { write: 'createFlow 1', when: 'reply' },
      { write: 'addExecution 2', when: 'reply' },
      { write: 'setRequirement 8', when: 'before' },
    ],
    atRollback: [{ write: 'rollBack', when: 'reply' }],
  },
  {
    deaths: [
      { write: 'requiredAction', when: 'reply' },
      { write: 'addSubFlow 2', when: 'before' },
      { write: 'addConfig 1', when: 'reply' },
      { write: 'aim', when: 'reply' },
    ],
    atRollback: [{ write: 'rollBack', when: 'before' }],
  },
  {
    deaths: [
      { write: 'release', when: 'before' },
      { write: 'bind', when: 'before' },
      { write: 'bind', when: 'reply' },
      { activity: 'bindCandidate', moment: 'completed' },
    ],
    atRollback: [],
  },
];
const each: readonly Plan[] = [
  ...onBothSides(undisturbed)
    .flat()
    .map((death) => ({ deaths: [death], atRollback: [] })),
  ...aroundTheBind.map((death) => ({ deaths: [death], atRollback: [] })),
  ...onBothSides(['rollBack'])
    .flat()
    .map((death) => ({ deaths: [], atRollback: [death] })),
];

/** Does the work on stages side by side: while one waits for a heartbeat that does not come, the others go on. */
async function sideBySide<I>(items: readonly I[], work: (stage: KeycloakStage, item: I) => Promise<void>) {
  const left = [...items];
  await Promise.all(
    stages.map(async (stage) => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(stage, item);
    }),
  );
}

/** Kills the worker at each of the deaths, in order, and leaves one that lives. */
async function killEach(journey: Journey, deaths: readonly Death[], begin: () => Promise<void>): Promise<void> {
  let begun = false;
  for (const death of deaths) {
    const dead = journey.dies(death);
    if (begun) await journey.startWorker();
    else await begin();
    begun = true;
    await dead;
    await expectNothingHalf(journey);
    await journey.sampler.round();
  }
  if (begun) await journey.startWorker();
  else await begin();
}

/** Takes the flow back, with the worker dying on the way. */
async function rollBack(journey: Journey, deaths: readonly Death[]): Promise<void> {
  const { realm, candidate, writes } = journey;
  await killEach(journey, deaths, () => journey.update('rollback'));
  const status = await untilStatus(
    journey,
    'the rollback',
    ({ rollbacks, bound }) => rollbacks > 0 && bound?.alias === 'browser',
  );
  expect(status.hold).toMatchObject({ by: 'ada' });
  expect(writes.filter(({ name, passedOn }) => passedOn && name === 'rollBack')).toHaveLength(1);
  const { browserFlow, attributes } = await realm.ask<{ browserFlow: string; attributes: Record<string, string> }>(
    'GET',
    '',
  );
  expect(browserFlow).toBe('browser');
  expect(attributes['holdfast.browserFlow.hold']).toContain('ada');
  expect((await boundByEvents(journey)).slice(-2)).toEqual([candidate, 'browser']);
  expect(await servedTree(realm, candidate)).toEqual(declaredTree);
  // The switch still says "true"; the hold outranks it.
  const runs = status.runs;
  await journey.update('runNow');
  const again = await untilStatus(
    journey,
    'another run',
    (next) => next.runs > runs + 1 || (next.runs > runs && next.phase === 'PendingBind'),
  );
  expect(again.bound?.alias).toBe('browser');
}

/** What is bound at any moment is the flow of before or all of the declared one. */
async function expectNothingHalf({ realm, candidate }: Journey): Promise<void> {
  const { browserFlow } = await realm.ask<{ browserFlow: string }>('GET', '');
  expect(['browser', candidate]).toContain(browserFlow);
  if (browserFlow === candidate) expect(await servedTree(realm, candidate)).toEqual(declaredTree);
}

interface RealmEvent {
  readonly time: number;
  readonly representation: string;
}

/** What each write of the realm bound, as Keycloak's own record says, the oldest first. */
async function boundByEvents({ realm }: Journey): Promise<string[]> {
  const query = 'resourceTypes=REALM&operationTypes=UPDATE&max=100';
  const events = await realm.ask<RealmEvent[]>('GET', `/admin-events?${query}`);
  return events
    .toSorted((a, b) => a.time - b.time)
    .map(({ representation }) => (JSON.parse(representation) as { browserFlow: string }).browserFlow);
}

/** Everything that is to hold at the end, whatever died in between. */
async function expectDeclaredAndNothingElse(journey: Journey): Promise<void> {
  const status = await untilStatus(journey, 'the end of the run', ({ runs }) => runs > 0);
  const { realm, candidate, writes, binds } = journey;
  expect(status.phase).toBe('Bound');
  expect(status.passes.map(({ outcome }) => outcome)).toEqual(['Converged', 'Converged', 'Bound']);
  expect((await realm.ask<{ browserFlow: string }>('GET', '')).browserFlow).toBe(candidate);
  expect(await servedTree(realm, candidate)).toEqual(declaredTree);

  // The half-built one was gone on with: nothing else was begun.
  const flows = await realm.ask<{ alias: string }[]>('GET', '/authentication/flows');
  expect(flows.map(({ alias }) => alias).filter((alias) => alias.startsWith('browser-mfa'))).toEqual([candidate]);
  const { authenticationFlowBindingOverrides: overrides } = await realm.ask<{
    authenticationFlowBindingOverrides: Record<string, string>;
  }>('GET', `/clients/${journey.probeClientId}`);
  expect(overrides['browser'] ?? '').toBe('');

  // The bound flow changed once, by the one write; the proxy and Keycloak agree on it.
  const realmWrites = writes.filter(({ name, passedOn }) => passedOn && ['policy', 'bind'].includes(name));
  const expected = realmWrites.map(({ name }) => (name === 'bind' ? candidate : 'browser'));
  expect(expected.filter((alias) => alias === candidate)).toHaveLength(1);
  expect(await boundByEvents(journey)).toEqual(expected);
  expect(binds).toEqual([{ to: candidate, tree: declaredTree }]);

  // And it is converged: a further run writes nothing.
  const before = writes.length;
  await journey.update('runNow');
  const again = await untilStatus(journey, 'another run', ({ runs }) => runs > status.runs);
  expect(again.passes.map(({ outcome }) => outcome)).toEqual(['Converged', 'Converged', 'Converged']);
  expect(writes).toHaveLength(before);
}

async function expectNobodyGotIn({ sampler }: Journey, atLeast: number): Promise<number> {
  const { attempts, asked, codes, unread } = await sampler.stop();
  expect(codes).toEqual([]);
  expect(unread).toEqual([]);
  expect(asked).toBe(attempts);
  expect(attempts).toBeGreaterThanOrEqual(atLeast);
  return attempts;
}

describe('a login flow whose worker is killed', () => {
  test(
    'is bound whole, by one write, and nobody logs in with less in between',
    { timeout: 3_600_000 },
    async ({ annotate }) => {
      const plans = all ? each : sample;
      const attempts: number[] = [];
      const failures: string[] = [];
      await sideBySide(plans, async (stage, { deaths, atRollback }) => {
        let journey: Journey | null = null;
        try {
          journey = await openJourney(lab, stage);
          await journey.startWorker();
          await killEach(journey, deaths, journey.start);
          await expectDeclaredAndNothingElse(journey);
          if (atRollback.length > 0) await rollBack(journey, atRollback);
          attempts.push(await expectNobodyGotIn(journey, 5 * (deaths.length + atRollback.length)));
          await keepHistories(stage.client, [journey.handle.workflowId]);
        } catch (error) {
          const where = [...deaths, ...atRollback].map(deathInWords).join(' | ');
          failures.push(`${where}: ${error instanceof Error ? error.message : String(error)}`);
        } finally {
          await journey?.close();
        }
      });
      const kills = plans.flatMap(({ deaths, atRollback }) => [...deaths, ...atRollback]).length;
      const tried = attempts.reduce((sum, count) => sum + count, 0);
      await annotate(`${kills} kills; ${tried} weak logins tried, none of which got a code`);
      expect(failures).toEqual([]);
      expect(tried).toBeGreaterThan(5 * kills);
      await replayKept();
    },
  );
});
