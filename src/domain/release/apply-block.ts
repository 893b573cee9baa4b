import { narrower } from '../core/mode.ts';
import { isImageDigest } from '../core/image-reference.ts';
import { accepted, acceptedAgain, refused, type ActionAnswer } from './action-answer.ts';
import type { ActionOf } from './actions.ts';
import { abortCommands, command } from './commands.ts';
import type { RolloutState } from './rollout.ts';
import { isItemBlocked } from './rollout-block.ts';
import type { ReleaseState } from './state.ts';

/** Blocks a digest or a version label for the whole release; a digest in a reference is taken out of it. */
export function block(
  state: ReleaseState,
  action: ActionOf<'block'>,
  now: number,
  rollout: RolloutState | null,
): ActionAnswer {
  const image = subjectOf(action.image);
  if (image === null) return refused(malformed(action.image));
  const known = state.blocked.find((entry) => entry.image === image);
  if (known !== undefined && !known.cooldownOnly) {
    return acceptedAgain(state, `blocks ${image}, which ${known.by} had blocked already`, { effect: 'evaluate' });
  }
  const { [image]: _lifted, ...unblocked } = state.unblocked;
  const entry = {
    image,
    by: action.by,
    reason: action.reason,
    at: now,
    cooldownUntil: known?.cooldownUntil ?? 0,
    cooldownOnly: false,
  };
  const blocked = [...state.blocked.filter((e) => e.image !== image), entry];
  const running = rollout?.targets.some((t) =>
    isItemBlocked({ spec: { ...state.spec, blocklist: [] }, blocked: [entry] }, t.item, null),
  );
  const hint =
    running === true
      ? `; targets that rollout ${rollout?.id ?? ''} has begun go on until ${abortCommands(state.name)}`
      : '';
  return accepted({ ...state, blocked, unblocked }, `blocks ${image}${hint}${howLong(state)}`, {
    effect: 'evaluate',
    forward: rollout !== null,
  });
}

/** Blocks are marked on the objects, which Shadow does not write. */
function howLong({ spec, evaluation }: ReleaseState): string {
  const mode = narrower(spec.mode, evaluation?.effectiveMode ?? spec.mode);
  if (mode === 'Enforce') return '';
  return `; in ${mode} nothing is written, so that a terminate of this release forgets it`;
}

/** Takes a block back. Its cooldown, where it has one, still holds until it is over or a person says retry. */
export function unblock(
  state: ReleaseState,
  action: ActionOf<'unblock'>,
  now: number,
  rollout: RolloutState | null,
): ActionAnswer {
  const image = subjectOf(action.image);
  if (image === null) return refused(malformed(action.image));
  if (state.spec.blocklist.includes(image)) {
    return refused(`${image} is in spec.blocklist; remove it there and apply the spec`);
  }
  const entry = state.blocked.find((e) => e.image === image && !e.cooldownOnly);
  if (entry === undefined) {
    const all = state.blocked.filter((e) => !e.cooldownOnly).map((e) => e.image);
    return refused(`${image} is not blocked; blocked are: ${all.length === 0 ? 'none' : all.join(', ')}`);
  }
  const others = state.blocked.filter((e) => e !== entry);
  const cools = entry.cooldownUntil > now;
  const blocked = cools ? [...others, { ...entry, cooldownOnly: true }] : others;
  const unblocked = { ...state.unblocked, [image]: now };
  const hint = cools ? `; its cooldown still holds it until ${command('retry', state.name)}` : '';
  return accepted({ ...state, blocked, unblocked }, `unblocks ${image}${hint}`, {
    effect: 'evaluate',
    forward: rollout !== null,
  });
}

/** The digest of a reference or of itself, or a label; null for a digest that is cut short or misspelt. */
function subjectOf(text: string): string | null {
  const digest = text.includes('@') ? text.slice(text.indexOf('@') + 1) : text;
  if (isImageDigest(digest)) return digest;
  return text.includes('@') || text.includes(':') || /\s/.test(text) ? null : text;
}

function malformed(text: string): string {
  return `${text} is neither a digest (sha256: and 64 hexadecimal digits) nor a version label such as v6.1.2`;
}
