import type { KeycloakFlowStatus } from '../../../../src/domain/keycloak-flow/status.ts';
import { walkLogin, type HeldUser } from '../../../activities/keycloak/held-login.ts';
import { runCli, type CliRun } from '../../../unit/cli/run-cli.ts';
import { claim, DidNotHappen, runHoldfast } from '../story.ts';
import type { Chapter } from '../tell-story.ts';
import type { Timeline } from '../timeline.ts';
import { writesOf, type RealmFollower } from './follow-realm.ts';
import { ROWS, type LoginStage } from './login-stage.ts';

/** What a chapter works with. */
export interface LoginTeller {
  readonly stage: LoginStage;
  readonly timeline: Timeline;
  readonly follower: RealmFollower;
  /** Aborted when the person leaves. */
  readonly signal: AbortSignal;
}

/** In their order. Each claims what Keycloak itself must bear out. */
export const LOGIN_CHAPTERS: readonly Chapter<LoginTeller>[] = [
  { title: 'A login flow is built beside the live one, and shown by logins; nobody notices', tell: buildAndProve },
  { title: 'An approval of that candidate, by its hash, binds it', tell: approveAndBind },
  { title: 'A second look writes nothing; an edit by hand is found and put right', tell: converge },
  { title: 'The way back: one command, and it sticks', tell: rollBack },
];

async function buildAndProve(teller: LoginTeller): Promise<void> {
  const { stage } = teller;
  claim(
    teller,
    'an administrator logs in with a password alone, as everybody does',
    await login(teller, 'administrator'),
    ['username', 'code'],
  );
  await holdfast(teller, ['plan', '-f', stage.specFile], 6);
  await holdfast(teller, ['run', '-f', stage.specFile, '--wait'], 4);
  const { candidate, bound } = await status(stage);
  if (candidate === null) throw new DidNotHappen('there is no candidate');
  claim(
    teller,
    'the bound flow is still the one from before',
    [await boundFlow(stage), bound?.alias],
    ['browser', 'browser'],
  );
  const rows = await stage.realm.ask<unknown[]>('GET', `/authentication/flows/${candidate.alias}/executions`);
  claim(teller, `the candidate has the ${ROWS} declared rows`, rows.length, ROWS);
  claim(teller, 'six logins have shown what it does', candidate.proof, 'the login proof passed (6 logins)');
  claim(teller, 'the probe client is aimed at nothing again', await probeAim(stage), null);
  claim(teller, 'people still log in as before', await login(teller, 'administrator'), ['username', 'code']);
}

async function approveAndBind(teller: LoginTeller): Promise<void> {
  const { stage } = teller;
  const { candidate } = await status(stage);
  if (candidate === null) throw new DidNotHappen('there is no candidate');
  const object = `keycloakflow/${stage.flow}`;
  const stale = ['approve', object, '--candidate', candidate.alias, '--plan', `sha256:${'0'.repeat(64)}`];
  await holdfast(teller, stale, 2);
  claim(teller, 'the approval of another plan binds nothing', await boundFlow(stage), 'browser');

  const [, ...approve] = candidate.approve.split(' ');
  const since = Date.now();
  await holdfast(teller, [...approve, '--reason', 'read the tree, saw the logins']);
  claim(teller, 'the candidate is bound', await boundFlow(stage), candidate.alias);
  const writes = (await writesOf(stage, since)).map(({ resourceType }) => resourceType);
  claim(teller, 'by one write (admin events)', writes, ['REALM']);
  claim(teller, 'a member logs in', await login(teller, 'member'), ['username', 'password', 'code']);
  claim(teller, 'an administrator with a password alone gets no code', await login(teller, 'administrator'), [
    'username',
    'password',
    'enrolment',
  ]);
}

async function converge(teller: LoginTeller): Promise<void> {
  const { stage, timeline } = teller;
  const bound = await boundFlow(stage);
  let since = Date.now();
  await holdfast(teller, ['run', '-f', stage.specFile, '--wait']);
  claim(teller, 'nothing was written (admin events)', await writesOf(stage, since), []);

  timeline.tell('you', "edit by hand: the policy's user verification becomes preferred");
  const key = 'webAuthnPolicyPasswordlessUserVerificationRequirement';
  const before = await stage.realm.ask<Record<string, unknown>>('GET', '');
  await stage.realm.ask('PUT', '', { ...before, [key]: 'preferred' });
  since = Date.now();
  await holdfast(teller, ['run', '-f', stage.specFile, '--wait']);
  const after = await stage.realm.ask<Record<string, unknown>>('GET', '');
  claim(teller, 'it is as declared again, and nothing else has changed', after, before);
  claim(teller, 'by one write (admin events)', (await writesOf(stage, since)).length, 1);
  claim(teller, 'the bound flow was not touched', await boundFlow(stage), bound);
}

async function rollBack(teller: LoginTeller): Promise<void> {
  const { stage } = teller;
  const since = Date.now();
  await holdfast(teller, ['rollback', `keycloakflow/${stage.flow}`, '--reason', 'the page is blank']);
  claim(teller, 'the flow from before is bound', await boundFlow(stage), 'browser');
  claim(teller, 'by one write (admin events)', (await writesOf(stage, since)).length, 1);
  claim(teller, 'people log in as at the beginning', await login(teller, 'administrator'), ['username', 'code']);
  await holdfast(teller, ['run', '-f', stage.specFile, '--wait'], 4);
  claim(teller, 'the next look leaves it at that', await boundFlow(stage), 'browser');
  const { hold } = await status(stage);
  claim(teller, 'and says who holds it, and why', [hold?.by, hold?.reason], ['ada', 'the page is blank']);
}

function holdfast(
  { stage, timeline, follower, signal }: LoginTeller,
  args: readonly string[],
  expected = 0,
): Promise<CliRun> {
  signal.throwIfAborted();
  const first = () => follower.caughtUp();
  return runHoldfast({ timeline, folder: stage.folder, env: environment(stage), first, inLines: true }, args, expected);
}

/** How somebody with a password alone gets on at the application: the pages, and `code`. */
async function login({ stage, follower }: LoginTeller, who: 'member' | 'administrator'): Promise<readonly string[]> {
  const user: HeldUser = stage[who];
  const pages = await walkLogin(stage.place, user);
  await follower.caughtUp();
  return pages;
}

async function status(stage: LoginStage): Promise<KeycloakFlowStatus> {
  const run = await runCli(['status', `keycloakflow/${stage.flow}`, '-o', 'json'], { env: environment(stage) });
  if (run.code !== 0) throw new DidNotHappen(`there is no status: ${run.stderr}`);
  return JSON.parse(run.stdout) as KeycloakFlowStatus;
}

function environment({ lab, namespace }: LoginStage): Record<string, string> {
  return { TEMPORAL_ADDRESS: lab.temporalAddress, TEMPORAL_NAMESPACE: namespace, HOLDFAST_USER: 'ada' };
}

async function boundFlow({ realm }: LoginStage): Promise<string> {
  return (await realm.ask<{ browserFlow: string }>('GET', '')).browserFlow;
}

/** Null where its override names no flow. */
async function probeAim({ realm, probeClient }: LoginStage): Promise<string | null> {
  const client = await realm.ask<{ authenticationFlowBindingOverrides?: Record<string, string> }>(
    'GET',
    `/clients/${probeClient}`,
  );
  const aim = client.authenticationFlowBindingOverrides?.['browser'] ?? '';
  return aim === '' ? null : aim;
}
