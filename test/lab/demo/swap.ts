import { markAudit } from '../access.ts';
import { targetsWritten } from './audit.ts';
import { eventsOf, imagesOf, mark, read, readyImages, setImageByHand } from './shop.ts';
import { CONTAINER } from './stage.ts';
import { claim, type Teller } from './story.ts';

/** Somebody sets an image past Holdfast: it is noticed, named and reverted, through gate and soak as ever. */
export async function swap(teller: Teller): Promise<void> {
  const { stage, timeline, follower } = teller;
  const before = await imagesOf(stage);
  const { lastRollouts } = await follower.until('nothing rolls', ({ rollout }) => rollout === null);
  const last = lastRollouts.at(-1)?.id;
  const since = await markAudit(stage.lab);
  const old = mark(await read(stage, 'north'), 'previous-image') ?? '';
  timeline.tell('you', `$ kubectl set image deployment/north ${CONTAINER}=${old}   (past Holdfast)`);
  await setImageByHand(stage, 'north', old);
  // A first try may end before it has changed anything: while what was put there has no pod yet, nothing can be proven.
  const status = await follower.until('north is brought back', ({ rollout, lastRollouts: ended }) => {
    const newest = ended.at(-1);
    return rollout === null && newest?.id !== last && newest?.outcome === 'Promoted';
  });

  claim(teller, 'every target has what the release gave it', await imagesOf(stage), before);
  claim(teller, 'north is ready on it', await readyImages(stage, 'north'), [before.north]);
  claim(teller, 'no other target was written to (audit log)', await targetsWritten(stage, since), ['north']);
  const drifted = (await eventsOf(stage, 'north')).includes('Drifted');
  claim(teller, 'kubectl describe tells of the drift', drifted, true);
  claim(teller, 'the bad digest is still blocked', status.blocked.length, 1);
}
