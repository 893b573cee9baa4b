import { markAudit } from '../access.ts';
import { targetsWritten } from './audit.ts';
import { eventsOf, imagesOf, mark, publish, read, readyImages } from './shop.ts';
import { BAD_VERSION } from './stage.ts';
import { claim, type Teller } from './story.ts';

/** An image that starts well and breaks in its soak: back from the canary, blocked by its digest, nobody else touched. */
export async function badRelease(teller: Teller): Promise<void> {
  const { stage, timeline, follower } = teller;
  const before = await imagesOf(stage);
  const since = await markAudit(stage.lab);
  timeline.tell('you', `publish ${BAD_VERSION}, which starts well and breaks a few seconds later`);
  const bad = await publish(stage, BAD_VERSION, true);
  await follower.until(`the canary gets ${BAD_VERSION}`, ({ targets }) => targets[0]?.current === bad.reference);
  claim(teller, `only the canary has ${BAD_VERSION}`, await imagesOf(stage), { ...before, canary: bad.reference });
  const status = await follower.until(
    'the canary is rolled back, and the others are held',
    ({ targets: [first, ...others], rollout }) =>
      rollout === null && first?.phase === 'RolledBack' && others.every(({ phase }) => phase === 'Held'),
  );

  claim(teller, 'every target has the image from before', await imagesOf(stage), before);
  claim(teller, 'the canary is ready on it', await readyImages(stage, 'canary'), [before.canary]);
  claim(teller, 'no other target was written to (audit log)', await targetsWritten(stage, since), ['canary']);
  const canary = await read(stage, 'canary');
  claim(teller, 'the object says what it came back from', mark(canary, 'rolled-back-from'), bad.reference);
  const onObject = JSON.parse(mark(canary, 'blocked') ?? '[]') as Block[];
  claim(teller, 'its digest is blocked, on the object', blockedOf(onObject), [bad.digest]);
  claim(teller, 'and in the status', blockedOf(status.blocked), [bad.digest]);
  claim(teller, 'nothing more is planned', status.plan.items, []);
  const wanted = ['RollingBack', 'RolledBack'];
  const told = await eventsOf(stage, 'canary');
  claim(
    teller,
    'kubectl describe tells of it',
    wanted.filter((reason) => told.includes(reason)),
    wanted,
  );
}

interface Block {
  image: string;
  cooldownOnly?: boolean;
}

/** What is blocked for good; what only cools down is tried again. */
function blockedOf(entries: readonly Block[]): string[] {
  return entries.filter(({ cooldownOnly }) => cooldownOnly !== true).map(({ image }) => image);
}
