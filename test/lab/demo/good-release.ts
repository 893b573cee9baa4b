import { shortHash } from '../../../src/domain/core/plan-hash.ts';
import { markAudit } from '../access.ts';
import { imagesWritten, secondsOfWrites } from './audit.ts';
import { imagesOf, mark, publish, read, readyImages } from './shop.ts';
import { SOAK_SECONDS, TARGETS } from './stage.ts';
import { claim, holdfast, type Teller } from './story.ts';

const VERSION = '1.1.0';

/** A good image: the canary gets it, soaks, and then a person is waited for. */
export async function goodRelease(teller: Teller): Promise<void> {
  const { stage, timeline, follower } = teller;
  await holdfast(teller, ['apply', '-f', stage.specFile]);
  await follower.until('the release has looked', ({ phase }) => phase === 'Current');
  const before = await imagesOf(stage);
  const since = await markAudit(stage.lab);

  timeline.tell('you', `publish ${VERSION}, a good one`);
  const good = await publish(stage, VERSION);
  const soaking = await follower.until('the canary soaks', ({ targets }) => targets[0]?.step === 'Soaking');
  const canaryAlone = { ...before, canary: good.reference };
  claim(teller, `while it soaks, only the canary has ${VERSION}`, await imagesOf(stage), canaryAlone);
  const others = soaking.targets.slice(1).map(({ reason }) => reason);
  claim(teller, 'the others wait for it', others, ['Waiting', 'Waiting']);
  await follower.until('an approval is waited for', ({ phase }) => phase === 'AwaitingApproval');
  const took = await secondsOfWrites(stage, since, 'canary');
  claim(teller, `it soaked ${SOAK_SECONDS} s before it passed (audit log)`, took >= SOAK_SECONDS, true);

  const canary = await read(stage, 'canary');
  claim(teller, 'the way back is on the object', mark(canary, 'previous-image'), before.canary);
  claim(teller, 'it is marked as passed', mark(canary, 'passed'), good.reference);
  claim(teller, 'one image write until now (audit log)', await imagesWritten(stage, since), ['canary']);
}

/** The approval of that plan and of no other, and then the other targets. */
export async function approval(teller: Teller): Promise<void> {
  const { stage, follower } = teller;
  const before = await imagesOf(stage);
  const since = await markAudit(stage.lab);
  const waiting = await follower.until('an approval is waited for', ({ phase }) => phase === 'AwaitingApproval');
  const approve = ['approve', `release/${stage.release}`, '--as', 'ada'];
  await holdfast(teller, [...approve, '--plan', '0123456789ab'], 2);
  claim(teller, 'the approval of another plan changes nothing', await imagesOf(stage), before);

  const plan = shortHash(waiting.rollout?.planHash ?? '');
  await holdfast(teller, [...approve, '--plan', plan, '--reason', 'the canary looks good']);
  const done = await follower.until(`every target has ${VERSION}`, ({ phase }) => phase === 'Current');
  const good = before.canary;
  claim(teller, `all three have ${VERSION}`, await imagesOf(stage), { canary: good, north: good, south: good });
  const ready = await Promise.all(TARGETS.map((target) => readyImages(stage, target)));
  claim(teller, 'and their pods are ready on it', ready.flat(), [good, good, good]);
  claim(teller, 'the status says Promoted', done.lastRollouts.at(-1)?.outcome, 'Promoted');
  const written = (await imagesWritten(stage, since)).sort();
  claim(teller, 'one image write to each of the other two (audit log)', written, ['north', 'south']);
}
