import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { signCommand } from '../../../src/domain/core/approval.ts';
import { approveCommand } from '../../../src/domain/release/commands.ts';
import { parseAction, type ReleaseAction } from '../../../src/domain/release/actions.ts';
import { applyAction, whyRefused } from '../../../src/domain/release/apply-action.ts';
import { needsVerification } from '../../../src/domain/core/approver.ts';
import { approvalToVerify } from '../../../src/domain/release/apply-approval.ts';
import { controlsOf } from '../../../src/domain/release/controls.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { unknownTarget } from '../../../src/domain/release/initial-state.ts';
import { recordRefusal } from '../../../src/domain/core/record-refusal.ts';
import type { RolloutState } from '../../../src/domain/release/rollout.ts';
import { targetName } from '../../../src/domain/release/spec.ts';
import type { ReleaseState } from '../../../src/domain/release/state.ts';
import { read } from '../../../src/domain/core/verdict.ts';
import { FROM, promoted, rolling, rollout, TO, TO_DIGEST } from './rollout-world.ts';
import {
  digest,
  fleet,
  HOUR,
  image,
  managed,
  NOW,
  observe,
  REPOSITORY,
  planned,
  resolved,
  spec,
  start,
  target,
  viewOf,
} from './world.ts';

const WHO = { by: 'ana', reason: 'because' };
// Made once by ssh-keygen of OpenSSH 9.2.
const { keys, signatures } = JSON.parse(
  readFileSync(new URL('../../unit/approval/signatures.json', import.meta.url), 'utf8'),
) as { keys: Record<string, { key: string }>; signatures: Record<string, string> };
const APPROVER = { name: 'ana', key: keys['ed25519']?.key ?? '' };

/** The action as it comes off the wire, so that what people send is what is tested. */
function action(name: ReleaseAction['action'], payload: Record<string, unknown> = {}): ReleaseAction {
  const parsed = parseAction(name, { ...WHO, ...payload });
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.action;
}

function act(
  state: ReleaseState,
  name: ReleaseAction['action'],
  payload: Record<string, unknown> = {},
  living: RolloutState | null = null,
) {
  return applyAction(state, action(name, payload), NOW, living);
}

function done(
  state: ReleaseState,
  name: ReleaseAction['action'],
  payload: Record<string, unknown> = {},
  living: RolloutState | null = null,
) {
  const answer = act(state, name, payload, living);
  if (!answer.ok) throw new Error(answer.message);
  return answer;
}

function refusal(
  state: ReleaseState,
  name: ReleaseAction['action'],
  payload: Record<string, unknown> = {},
  living: RolloutState | null = null,
): string {
  const answer = act(state, name, payload, living);
  if (answer.ok) throw new Error(`accepted: ${answer.record}`);
  return answer.message;
}

/** A release that has just planned to roll TO everywhere. */
function planning(overrides: Parameters<typeof spec>[0] = {}): ReleaseState {
  const of = spec({ approval: 'beforeFirst', ...overrides });
  return evaluate(start(of), observe(of, resolved('b1'), fleet(managed(FROM))), NOW).state;
}

const waiting = rollout([promoted('web-1'), rolling('web-2', { step: 'Approval' }), rolling('web-3')]);

describe('an action off the wire', () => {
  test('is read with its defaults', () => {
    expect(parseAction('retry', { by: ' ana ' })).toEqual({
      ok: true,
      action: { action: 'retry', by: 'ana', reason: '', skipPreflight: false },
    });
    expect(parseAction('abort', { by: 'ana', how: 'stop' })).toMatchObject({ action: { now: false } });
  });

  test.each<[ReleaseAction['action'], unknown, string]>([
    ['pause', undefined, 'pause refused: by: Invalid input: expected string, received undefined'],
    ['pause', null, 'pause refused: by: '],
    ['pause', { by: ' ' }, 'pause refused: by: expected who asks for this'],
    ['pause', { by: 'x'.repeat(201) }, 'pause refused: by: '],
    ['pause', { by: 'ana', reason: 'x'.repeat(1001) }, 'pause refused: reason: '],
    ['pause', { by: 'ana', reasn: 'x' }, 'pause refused: pause: Unrecognized key: "reasn"'],
    ['pause', 'ana', 'pause refused: pause: '],
    ['approve', { by: 'ana' }, 'approve refused: approve: expected what this is about: plan, digest or target'],
    ['reject', { by: 'ana' }, 'reject refused: reject: expected what this is about: plan, digest or target'],
    ['approve', { by: 'ana', plan: 'abc' }, 'approve refused: plan: expected the hash of a plan, or at least'],
    [
      'approve',
      { by: 'ana', digest: 'sha256:abc' },
      'approve refused: digest: expected a digest, or at least its first twelve digits',
    ],
    ['approve', { by: 'ana', target: '' }, 'approve refused: target: '],
    [
      'approve',
      { by: 'eve', target: 'web-1', verifiedBy: 'ana' },
      'approve refused: approve: Unrecognized key: "verifiedBy"',
    ],
    ['approve', { by: 'ana', target: 'web-1', signature: '' }, 'approve refused: signature: '],
    ['abort', { by: 'ana' }, 'abort refused: how: '],
    ['abort', { by: 'ana', how: 'undo' }, 'abort refused: how: '],
    ['pin', { by: 'ana', image: 'sha256:abc' }, 'pin refused: image: expected a tag, a digest'],
    ['block', { by: 'ana', image: '' }, 'block refused: image: '],
    ['setMode', { by: 'ana', mode: 'enforce' }, 'setMode refused: mode: '],
    ['applySpec', { by: 'ana' }, 'applySpec refused: spec: '],
  ])('%s %j is refused', (name, payload, message) => {
    expect(parseAction(name, payload)).toEqual({ ok: false, message: expect.stringContaining(message) as string });
  });

  test('names every fault at once', () => {
    expect(parseAction('abort', {})).toEqual({
      ok: false,
      message: expect.stringMatching(/^abort refused: by: .*; how: /) as string,
    });
  });

  test('carries a spec as written, or as a parsed one travels', () => {
    const parsed = spec({ soak: '1m30s', targets: [target('web-1', { soak: '5s' }), target('web-2')] });
    const written = {
      mode: 'Enforce',
      image: REPOSITORY,
      track: { tag: 'v6-latest' },
      soak: '1m30s',
      targets: [target('web-1', { soak: '5s' }), target('web-2')],
    };
    for (const sent of [parsed, written, JSON.parse(JSON.stringify(parsed)) as unknown]) {
      expect(parseAction('applySpec', { by: 'ana', spec: sent })).toEqual({
        ok: true,
        action: { action: 'applySpec', by: 'ana', reason: '', spec: parsed },
      });
    }
  });

  test.each<[string, unknown, string]>([
    ['a misspelt field', { ...spec(), soke: 1 }, 'spec: Unrecognized key: "soke"'],
    ['a wrong duration', { ...spec(), soak: 'soon' }, 'spec.soak: '],
    ['a negative duration', { ...spec(), soak: -1 }, 'spec.soak: '],
    ['a wrong target', { ...spec(), targets: ['web-1'] }, 'spec.targets.0: '],
    ['no targets', { ...spec(), targets: 3 }, 'spec.targets: '],
    ['no spec', 'spec', 'spec: '],
    ['a list', [], 'spec: '],
  ])('refuses a spec with %s', (_what, sent, message) => {
    const answer = parseAction('applySpec', { by: 'ana', spec: sent });
    expect(answer).toEqual({ ok: false, message: expect.stringContaining(message) as string });
  });
});

describe('approving', () => {
  test('says what it waits for besides, where nothing is begun now', () => {
    const record = (overrides: Partial<ReleaseState>) =>
      done({ ...planning(), ...overrides }, 'approve', { target: 'web-2' }, waiting).record;
    const before = `approves v6-b1 on web-2 (plan ${waiting.planHash})`;
    const shadow = { ...planning().spec, mode: 'Shadow' as const };
    expect(record({ spec: shadow })).toBe(
      `${before}; it goes on in mode Enforce: holdfast set-mode release/hive Enforce`,
    );
    const paused = { by: 'bob', reason: '', at: NOW };
    expect(record({ paused })).toBe(`${before}; it goes on once the release is resumed: holdfast resume release/hive`);
    const evaluation = planning().evaluation;
    if (evaluation === null) throw new Error('it was evaluated');
    expect(record({ evaluation: { ...evaluation, modeReason: 'incumbent CronJob ops/nightly is active' } })).toBe(
      `${before}; it goes on once Enforce is in force again: incumbent CronJob ops/nightly is active`,
    );
  });

  test('a waiting step by its target, its digest or the plan', () => {
    for (const about of [
      { target: 'web-2' },
      { digest: TO_DIGEST },
      { digest: TO_DIGEST.slice(0, 'sha256:'.length + 12) },
      { digest: TO_DIGEST.slice('sha256:'.length).slice(0, 12) },
      { plan: waiting.planHash },
      { plan: 'abababab', target: 'web-2', digest: TO_DIGEST },
    ]) {
      const state = planning();
      const answer = done(state, 'approve', about, waiting);
      expect(answer).toMatchObject({
        forward: true,
        decides: ['web-2'],
        effect: 'none',
        record: `approves v6-b1 on web-2 (plan ${waiting.planHash})`,
      });
      // A step's approval must not pass for a plan's.
      expect(answer.state.approval).toBeNull();
      expect(answer.state.evidence).toEqual([
        {
          at: NOW,
          kind: 'decision',
          what: 'release/hive',
          message: `approves v6-b1 on web-2 (plan ${waiting.planHash}): because`,
          by: 'ana',
        },
      ]);
    }
  });

  test('the plan before there is a rollout, for that plan alone', () => {
    const state = planning();
    const plan = state.evaluation?.planHash;
    const answer = done(state, 'approve', { plan });
    expect(answer).toMatchObject({
      forward: false,
      effect: 'evaluate',
      decides: [],
      record: `approves v6-b1 on web-1, web-2, web-3 (plan ${plan})`,
    });
    expect(answer.state.approval).toEqual({ planHash: plan, approved: true, by: 'ana', reason: 'because', at: NOW });
    expect(done(state, 'approve', { digest: TO_DIGEST }).state.approval?.planHash).toBe(plan);
  });

  test('a plan with several images by its hash, which names them all', () => {
    const of = spec({
      approval: 'beforeFirst',
      targets: [target('web-1'), target('web-2', { track: { tag: 'edge' } })],
    });
    const seen = observe(of, resolved('b1'), { 'web-1': managed(FROM), 'web-2': managed(FROM) });
    const [main, edge] = Object.keys(seen.lines);
    const lines = { [main ?? '']: read(resolved('b1')), [edge ?? '']: read(resolved('c1', { tag: 'edge' })) };
    const { state } = evaluate(start(of), { ...seen, lines }, NOW);
    const plan = state.evaluation?.planHash;
    expect(new Set(state.evaluation?.plan.items.map((i) => i.to))).toHaveProperty('size', 2);
    expect(done(state, 'approve', { plan }).state.approval?.planHash).toBe(plan);
  });

  test('refuses a stale plan, naming the one that waits', () => {
    const stale = `sha256:${'00'.repeat(32)}`;
    expect(refusal(planning(), 'approve', { plan: stale }, waiting)).toBe(
      `plan ${stale} is not the one that waits: that is ${waiting.planHash}; look at it (holdfast status release/hive) and decide about it by its own hash`,
    );
    const state = planning();
    expect(refusal(state, 'approve', { plan: stale })).toContain(`that is ${state.evaluation?.planHash}; look at it`);
  });

  test('refuses a target that does not wait, and a digest that is not what waits', () => {
    expect(refusal(planning(), 'approve', { target: 'web-3' }, waiting)).toBe(
      'target web-3 does not wait for anybody; waiting: web-2',
    );
    expect(refusal(planning(), 'approve', { digest: digest('ff') }, waiting)).toBe(
      `digest ${digest('ff')} is not what waits: web-2 waits for ${TO}`,
    );
    const two = rollout([rolling('web-1', { step: 'Approval' }), rolling('web-2', { step: 'Approval' })]);
    expect(refusal(planning(), 'approve', { target: 'web-9' }, two)).toContain('waiting: web-1, web-2');
  });

  test('refuses digits that name two digests which wait', () => {
    const [one, alike] = [rolling('web-1', { step: 'Approval' }), rolling('web-2', { step: 'Approval' })];
    const to = alike.item.to.replace(/0$/, '1');
    const two = rollout([one, { ...alike, item: { ...alike.item, to } }]);
    const digits = TO_DIGEST.slice(0, 'sha256:'.length + 12);
    expect(refusal(planning(), 'approve', { digest: digits }, two)).toContain(`${digits} names several that wait`);
    expect(done(planning(), 'approve', { digest: digits, target: 'web-1' }, two).decides).toEqual(['web-1']);
  });

  test('refuses where nothing waits', () => {
    const idle = rollout([promoted('web-1')]);
    expect(refusal(planning(), 'approve', { target: 'web-1' }, idle)).toBe(
      `rollout hive-1 (plan ${idle.planHash}) waits for nobody at the moment`,
    );
    expect(refusal(start(), 'approve', { target: 'web-1' })).toBe('nothing of release hive waits for an approval');
    const state = planning({ approval: 'none' });
    expect(refusal(state, 'approve', { plan: 'abababab' })).toBe(
      `nothing of release hive waits for an approval; plan abababab is not current, that is ${state.evaluation?.planHash}`,
    );
    expect(refusal(planning({ approval: 'afterCanary' }), 'approve', { target: 'web-1' })).toContain('nothing of');
    const nothing = evaluate(
      start(spec({ approval: 'beforeFirst' })),
      observe(spec(), resolved('b1'), fleet(managed(TO))),
      NOW,
    ).state;
    expect(refusal(nothing, 'approve', { digest: TO_DIGEST })).toContain('nothing of release hive waits');
  });

  test('takes a rejection of the same plan back', () => {
    const state = planning();
    const plan = state.evaluation?.planHash;
    const rejected = done(state, 'reject', { plan }).state;
    const observation = observe(state.spec, resolved('b1'), fleet(managed(FROM)));
    const held = evaluate(rejected, observation, NOW).state;
    expect(held.evaluation?.plan.items).toEqual([]);
    const again = done(held, 'approve', { plan });
    expect(again).toMatchObject({
      record: `approves plan ${plan}, which ana had rejected`,
      effect: 'evaluate',
      forward: false,
    });
    expect(again.state.approval).toEqual({ planHash: plan, approved: true, by: 'ana', reason: 'because', at: NOW });
    expect(evaluate(again.state, observation, NOW).evaluation.plan.items).toHaveLength(3);
    expect(refusal(held, 'approve', { plan: '00000000' })).toContain('nothing of release hive waits');
    expect(refusal(held, 'approve', { plan }, rollout([promoted('web-1')]))).toContain('waits for nobody');
    const planned = evaluate(again.state, observation, NOW).state;
    expect(refusal(planned, 'approve', { plan: '00000000' })).toContain('is not the one that waits');
    expect(planned.evaluation?.planHash).toBe(plan);
    expect(refusal(held, 'approve', { target: 'web-1' })).toContain('nothing of release hive waits');
  });

  test('asks for a verified signature where the release has approvers', () => {
    const state = planning({ approvers: [APPROVER] });
    const sent = action('approve', { plan: state.evaluation?.planHash, signature: 'SIG' });
    expect(applyAction(state, sent, NOW, null)).toEqual({
      ok: false,
      message: `this release has approvers, so an approval needs the SSH signature of one of them over the plan hash: ${approveCommand('hive', state.evaluation?.planHash ?? '', state.spec)}`,
    });
    expect(applyAction(state, sent, NOW, waiting)).toMatchObject({
      message: expect.stringContaining(signCommand(waiting.planHash)) as string,
    });
    if (sent.action !== 'approve') throw new Error('not an approval');
    expect(needsVerification(state, sent)).toBe(true);
    const verified = { ...sent, verifiedBy: 'carol' };
    expect(needsVerification(state, verified)).toBe(false);
    const answer = applyAction(state, verified, NOW, null);
    expect(answer.ok && answer.state.evidence).toMatchObject([{ by: 'carol' }]);
    const { signature: _none, ...unsigned } = sent;
    expect(needsVerification(state, unsigned)).toBe(false);
    expect(needsVerification(planning(), sent)).toBe(false);
    // Turning a plan down needs no signature.
    expect(act(state, 'reject', { plan: state.evaluation?.planHash }).ok).toBe(true);
  });
});

describe('an approval that is to be signed', () => {
  const state = planning({ approvers: [APPROVER] });
  const hash = state.evaluation?.planHash ?? '';
  const sent = (payload: Record<string, unknown> = {}) => {
    const approval = action('approve', { plan: hash.slice(0, 16), signature: signatures['ed25519'], ...payload });
    if (approval.action !== 'approve') throw new Error('not an approval');
    return approval;
  };

  test('is verified over the whole hash of the plan that it is about, wherever that waits', () => {
    const { approvers } = state.spec;
    expect(approvalToVerify(state, sent(), null)).toEqual({
      planHash: hash,
      signature: signatures['ed25519'],
      approvers,
    });
    const { planHash } = waiting;
    expect(approvalToVerify(state, sent({ plan: undefined, target: 'web-2' }), waiting)).toMatchObject({ planHash });
    const rejected = done(state, 'reject', { plan: hash }).state;
    expect(approvalToVerify({ ...rejected, evaluation: null }, sent(), null)).toMatchObject({ planHash: hash });
  });

  test('is refused before anything is verified where it is stale, or its key is nobody’s', () => {
    const other = signatures['ecdsa256'] ?? '';
    expect(approvalToVerify(state, sent({ plan: '00000000' }), null)).toMatchObject({
      message: expect.stringContaining('is not the one that waits') as string,
    });
    expect(approvalToVerify(state, sent({ signature: other }), null)).toMatchObject({
      message: expect.stringContaining('is not that of an approver; approvers are ana') as string,
    });
    expect(whyRefused(state, sent({ signature: other }), NOW, null)).toContain('is not that of an approver');
    expect(whyRefused(state, sent({ plan: '00000000' }), NOW, null)).toContain('is not the one that waits');
    expect(whyRefused(state, sent({ signature: undefined }), NOW, null)).toContain('needs the SSH signature');
  });

  test('would be accepted if its signature is right, and that says nothing yet', () => {
    expect(whyRefused(state, sent(), NOW, null)).toBeNull();
    expect(applyAction(state, sent(), NOW, null).ok).toBe(false);
  });

  test('is recorded as of who signed, with the key, and who sent it', () => {
    const signed = { ...sent(), plan: hash, verifiedBy: 'carol', signedWith: 'SHA256:abc' };
    const answer = applyAction(state, signed, NOW, null);
    if (!answer.ok) throw new Error(answer.message);
    expect(answer.state.approval).toMatchObject({ by: 'carol', planHash: hash });
    expect(answer.record).toContain(', signed with SHA256:abc, sent by ana');
    const own = applyAction(state, { ...signed, verifiedBy: 'ana' }, NOW, null);
    expect(own.ok && own.record).toMatch(/, signed with SHA256:abc$/);
    expect(controlsOf(signed, state, ['web-1'])).toMatchObject([{ kind: 'decide', by: 'carol' }]);
  });
});

describe('rejecting', () => {
  test('a waiting step is told to the rollout', () => {
    const answer = done(planning(), 'reject', { target: 'web-2' }, waiting);
    expect(answer).toMatchObject({
      forward: true,
      decides: ['web-2'],
      effect: 'none',
      record: `rejects v6-b1 on web-2 (plan ${waiting.planHash})`,
    });
  });

  test('the plan holds it', () => {
    const state = planning();
    const plan = state.evaluation?.planHash;
    expect(done(state, 'reject', { plan }).state.approval).toEqual({
      planHash: plan,
      approved: false,
      by: 'ana',
      reason: 'because',
      at: NOW,
    });
  });

  test('no longer lets the candidate hold up what queues behind it', () => {
    const candidate = (id: string) => ({
      digest: digest(id),
      firstSeen: 0,
      resolved: resolved(id),
      tried: false,
      next: null,
    });
    const state = { ...planning(), candidates: { a: candidate('b1'), b: candidate('c1') } };
    const rejected = done(state, 'reject', { target: 'web-2' }, waiting).state;
    expect(rejected.candidates).toEqual({ a: { ...candidate('b1'), tried: true }, b: candidate('c1') });
    expect(done(state, 'approve', { target: 'web-2' }, waiting).state.candidates).toEqual(state.candidates);
  });

  test('refuses what does not wait', () => {
    expect(refusal(planning(), 'reject', { target: 'web-3' }, waiting)).toContain('does not wait for anybody');
  });
});

describe('aborting', () => {
  const change = (step: RolloutState['targets'][number]['step']) =>
    rollout([
      rolling('web-1', { step: 'Done', changed: true, outcome: { phase: 'Current', reason: '', message: '' } }),
      rolling('web-2', { step, changed: step !== 'Approval' }),
    ]);
  const record = (payload: Record<string, unknown>, living: RolloutState) =>
    done(planning(), 'abort', payload, living).record;

  test('is told to a running rollout', () => {
    expect(done(planning(), 'abort', { how: 'stop' }, waiting)).toMatchObject({ forward: true, effect: 'none' });
  });

  test('says what becomes of the target in progress, and of those that have passed', () => {
    const passed = /; web-1 passed and keeps v6-b1; to bring everything back: holdfast pin release\/hive /;
    expect(record({ how: 'stop' }, change('Soaking'))).toMatch(/no target is started, web-2 stays where it is; web-1/);
    const back = record({ how: 'rollback', now: true }, change('Soaking'));
    expect(back).toMatch(/no target is started, web-2 goes back to the image it had/);
    expect(back).toMatch(passed);
    expect(back).toMatch(/; a rollback in progress is cut short$/);
  });

  test('promises no way back where nothing is in progress', () => {
    const said = record({ how: 'rollback' }, change('Approval'));
    expect(said).toMatch(/no target is started, none is in progress; web-1 passed and keeps/);
    expect(said).not.toContain('goes back');
  });

  test('nothing is refused', () => {
    expect(refusal(start(), 'abort', { how: 'stop' })).toBe(
      'no rollout of release hive is running, so there is nothing to abort',
    );
  });
});

describe('pausing and resuming', () => {
  test('remember who paused and why, and may be repeated', () => {
    const paused = done(start(), 'pause', {}, waiting);
    expect(paused).toMatchObject({
      forward: true,
      effect: 'evaluate',
      record: 'pauses: nothing is started or written until resume',
    });
    expect(paused.state.paused).toEqual({ by: 'ana', reason: 'because', at: NOW });
    const again = applyAction(paused.state, action('pause', { by: 'bob' }), NOW, null);
    expect(again).toMatchObject({
      ok: true,
      record: 'pauses what ana has paused already',
      news: false,
      forward: false,
    });
    expect(again.ok && again.state.paused?.by).toBe('ana');
    // What is so already was not decided.
    expect(again.ok && again.state).toBe(paused.state);
    const resumed = done(paused.state, 'resume', {}, waiting);
    expect(resumed).toMatchObject({ forward: true, effect: 'evaluate', record: 'resumes; it was paused by ana' });
    expect(resumed.state.paused).toBeNull();
    expect(done(resumed.state, 'resume')).toMatchObject({
      record: 'resumes what is not paused: nothing changes',
      forward: false,
      effect: 'evaluate',
    });
  });
});

describe('pinning', () => {
  test('moves the default line, whatever failed before', () => {
    const stuck = {
      phase: 'Failed' as const,
      reason: '',
      message: '',
      image: TO,
      wanted: TO,
      rollbackTo: null,
      at: NOW,
    };
    const of = spec({ targets: [target('web-1'), target('web-2', { track: { tag: 'edge' } })] });
    const memory = { ...unknownTarget, stuck, notBefore: 5, notBegun: { reason: 'x', message: 'y' } };
    const state = start(of, { targets: { 'web-1': memory, 'web-2': memory } });
    const answer = done(state, 'pin', { image: 'v6.0.0' });
    expect(answer).toMatchObject({
      effect: 'evaluate',
      forward: false,
      record: 'pins v6.0.0; 1 target with an image, track or pin of its own is not moved',
    });
    expect(answer.state.pin).toEqual({ by: 'ana', reason: 'because', at: NOW, image: 'v6.0.0' });
    expect(answer.state.targets).toEqual({ 'web-1': unknownTarget, 'web-2': memory });
  });

  test('says that a running rollout goes on first, and may be repeated', () => {
    const pinned = done(start(), 'pin', { image: TO_DIGEST }, waiting);
    expect(pinned.record).toBe(
      `pins ${TO_DIGEST}; rollout hive-1 goes on first, unless holdfast abort release/hive --stop (or --roll-back)`,
    );
    const again = applyAction(pinned.state, action('pin', { by: 'bob', image: TO_DIGEST }), NOW + 1, null);
    expect(again).toMatchObject({ ok: true, record: `pins ${TO_DIGEST}, which ana had pinned already` });
    expect(again.ok && again.state.pin).toEqual(pinned.state.pin);
    expect(done(start(), 'pin', { image: 'v6.0.0' }).record).toBe('pins v6.0.0');
  });

  test('is refused where no target would move', () => {
    const of = spec({ targets: [target('web-1', { pin: 'v6.0.0' })] });
    expect(refusal(start(of), 'pin', { image: 'v6.1.0' })).toBe(
      'every target has an image, track or pin of its own, which a pin does not move; change the spec',
    );
  });

  test('is ended by unpin, which is refused without one', () => {
    const pinned = done(start(), 'pin', { image: 'v6.0.0' }).state;
    const answer = done(pinned, 'unpin');
    expect(answer).toMatchObject({ effect: 'evaluate', record: 'unpins v6.0.0, which ana had pinned' });
    expect(answer.state.pin).toBeNull();
    expect(refusal(start(), 'unpin')).toBe('nobody has pinned release hive');
    expect(refusal(start(spec({ pin: 'v6.2.0' })), 'unpin')).toBe(
      'nobody has pinned release hive; spec.pin (v6.2.0) is lifted by changing the spec',
    );
  });
});

describe('blocking', () => {
  const entry = { image: TO_DIGEST, by: 'ana', reason: 'because', at: NOW, cooldownUntil: 0, cooldownOnly: false };

  test.each([
    ['a digest', TO_DIGEST, TO_DIGEST],
    ['a digest in a reference', TO, TO_DIGEST],
    ['a digest in a pin', `v6@${TO_DIGEST}`, TO_DIGEST],
    ['a label', 'v6.1.0', 'v6.1.0'],
  ])('takes %s', (_what, image, blocked) => {
    const answer = done(start(), 'block', { image });
    expect(answer).toMatchObject({ effect: 'evaluate', forward: false, record: `blocks ${blocked}` });
    expect(answer.state.blocked).toEqual([{ ...entry, image: blocked }]);
  });

  test.each(['sha256:abc', 'app:v6', `v6@sha256:abc`, 'v6 beta', `${TO_DIGEST}00`])('refuses %s', (image) => {
    for (const name of ['block', 'unblock'] as const) {
      expect(refusal(start(), name, { image })).toBe(
        `${image} is neither a digest (sha256: and 64 hexadecimal digits) nor a version label such as v6.1.2`,
      );
    }
  });

  test('may be repeated, and keeps who blocked first', () => {
    const once = done(start(), 'block', { image: TO_DIGEST }).state;
    const again = applyAction(once, action('block', { by: 'bob', image: TO_DIGEST }), NOW + 1, null);
    expect(again).toMatchObject({ ok: true, record: `blocks ${TO_DIGEST}, which ana had blocked already` });
    expect(again.ok && again.state.blocked).toEqual([entry]);
  });

  test('makes a block of a mere cooldown, which goes on', () => {
    const cooling = { ...entry, by: 'holdfast', cooldownUntil: NOW + HOUR, cooldownOnly: true };
    const other = { ...entry, image: 'v1' };
    const state = start(spec(), { blocked: [cooling, other], unblocked: { [TO_DIGEST]: 5, v2: 6 } });
    const answer = done(state, 'block', { image: TO_DIGEST });
    expect(answer.state.blocked).toEqual([other, { ...entry, cooldownUntil: NOW + HOUR }]);
    expect(answer.state.unblocked).toEqual({ v2: 6 });
  });

  test('is told to a running rollout, which goes on with what it has begun', () => {
    expect(done(start(), 'block', { image: TO_DIGEST }, waiting)).toMatchObject({
      forward: true,
      record: `blocks ${TO_DIGEST}; targets that rollout hive-1 has begun go on until holdfast abort release/hive --stop (or --roll-back)`,
    });
    expect(done(start(), 'block', { image: 'v6-b1' }, waiting).record).toContain('rollout hive-1 has begun');
    expect(done(start(), 'block', { image: 'v5.0.0' }, waiting).record).toBe('blocks v5.0.0');
    const other = rolling('web-9', { item: { ...rolling('web-9').item, to: image('v5', '55'), toLabel: 'v5' } });
    const one = { ...waiting, targets: [...waiting.targets, other] };
    expect(done(start(), 'block', { image: TO_DIGEST }, one).record).toContain('rollout hive-1 has begun');
  });

  test('says where it is not written to the objects, so that a terminate forgets it', () => {
    const forgets = 'blocks v1; in Shadow nothing is written, so that a terminate of this release forgets it';
    const shadow = spec({ mode: 'Shadow' });
    expect(done(start(shadow), 'block', { image: 'v1' }).record).toBe(forgets);
    const { state } = evaluate(start(), observe(spec(), resolved('b1'), fleet(managed(FROM))), NOW);
    const evaluation = state.evaluation === null ? null : { ...state.evaluation, effectiveMode: 'Shadow' as const };
    expect(done({ ...state, evaluation }, 'block', { image: 'v1' }).record).toBe(forgets);
    expect(done(state, 'block', { image: 'v1' }).record).toBe('blocks v1');
  });

  test('is taken back by unblock, which is remembered against older marks', () => {
    const state = start(spec(), { blocked: [entry, { ...entry, image: 'v1' }], unblocked: { x: 1 } });
    const answer = done(state, 'unblock', { image: TO }, waiting);
    expect(answer).toMatchObject({ effect: 'evaluate', forward: true, record: `unblocks ${TO_DIGEST}` });
    expect(answer.state.blocked).toEqual([{ ...entry, image: 'v1' }]);
    expect(answer.state.unblocked).toEqual({ x: 1, [TO_DIGEST]: NOW });
    expect(done(state, 'unblock', { image: TO }).forward).toBe(false);
  });

  test('leaves a cooldown that is not over', () => {
    const state = (until: number) => start(spec(), { blocked: [{ ...entry, cooldownUntil: until }] });
    const answer = done(state(NOW + 1), 'unblock', { image: TO_DIGEST });
    expect(answer.record).toBe(`unblocks ${TO_DIGEST}; its cooldown still holds it until holdfast retry release/hive`);
    expect(answer.state.blocked).toEqual([{ ...entry, cooldownUntil: NOW + 1, cooldownOnly: true }]);
    expect(done(state(NOW), 'unblock', { image: TO_DIGEST }).state.blocked).toEqual([]);
  });

  test('cannot be taken back where nothing is blocked, or where the spec says so', () => {
    expect(refusal(start(), 'unblock', { image: 'v1' })).toBe('v1 is not blocked; blocked are: none');
    const cooling = { ...entry, cooldownUntil: NOW + 1, cooldownOnly: true };
    const state = start(spec(), { blocked: [cooling, { ...entry, image: 'v2' }, { ...entry, image: 'v3' }] });
    expect(refusal(state, 'unblock', { image: TO_DIGEST })).toBe(`${TO_DIGEST} is not blocked; blocked are: v2, v3`);
    expect(refusal(start(spec({ blocklist: ['v4'] })), 'unblock', { image: 'v4' })).toBe(
      'v4 is in spec.blocklist; remove it there and apply the spec',
    );
  });
});

describe('retrying', () => {
  const stuck = {
    phase: 'Failed' as const,
    reason: 'x',
    message: '',
    image: TO,
    wanted: TO,
    rollbackTo: null,
    at: NOW,
  };
  const memory = {
    ...unknownTarget,
    applied: FROM,
    stuck,
    notBefore: NOW + 5,
    notBegun: { reason: 'x', message: 'y' },
    drifts: { writer: 'argocd', count: 3, lastImage: 'x' },
  };
  const freed = { ...unknownTarget, applied: FROM };
  const entry = { image: TO_DIGEST, by: 'x', reason: '', at: NOW, cooldownUntil: NOW + HOUR, cooldownOnly: true };

  test('ends what holds every target, the cooldowns and a rejection', () => {
    const rejection = { planHash: 'x', approved: false, by: 'bob', reason: '', at: NOW };
    const candidate = { digest: TO_DIGEST, firstSeen: 0, resolved: resolved('b1'), tried: true, next: null };
    const blocked = { ...entry, image: 'v2', cooldownOnly: false };
    const plain = { ...entry, image: 'v3', cooldownOnly: false, cooldownUntil: 0 };
    const state = start(spec(), {
      targets: { 'web-1': memory, 'web-2': memory },
      blocked: [entry, blocked, plain],
      unblocked: { v9: 9 },
      approval: rejection,
      candidates: { a: candidate },
    });
    const answer = done(state, 'retry');
    expect(answer).toMatchObject({ effect: 'evaluate', forward: false, record: 'retries every target now' });
    expect(answer.state.targets).toEqual({ 'web-1': freed, 'web-2': freed });
    expect(answer.state.blocked).toEqual([{ ...blocked, cooldownUntil: 0 }, plain]);
    expect(answer.state.unblocked).toEqual({ v9: 9, [TO_DIGEST]: NOW });
    expect(answer.state.approval).toBeNull();
    expect(answer.state.candidates).toEqual({ a: { ...candidate, tried: false } });
    const approved = { ...rejection, approved: true };
    expect(done({ ...state, approval: approved }, 'retry').state.approval).toEqual(approved);
  });

  test('of one target leaves the others, and ends the cooldown of what failed there', () => {
    const other = { ...entry, image: digest('ee') };
    const cooled = { ...other, cooldownOnly: false };
    const state = start(spec(), {
      targets: { 'web-1': memory, 'web-2': memory },
      blocked: [entry, other, cooled],
    });
    const answer = done(state, 'retry', { target: 'web-1' });
    expect(answer.record).toBe('retries web-1 now');
    expect(answer.state.targets).toEqual({ 'web-1': freed, 'web-2': memory });
    expect(answer.state.blocked).toEqual([other, cooled]);
  });

  test('of one target leaves what failed on others that the spec has no more, and of all ends it', () => {
    const stops = ['web-1', 'gone'].map((name) => ({ target: name, stuck }));
    const state = start(spec(), { targets: { 'web-1': memory }, stops });
    expect(done(state, 'retry', { target: 'web-1' }).state.stops).toEqual([{ target: 'gone', stuck }]);
    expect(done(state, 'retry').state.stops).toEqual([]);
  });

  test('without the preflight gate is recorded as an override, for the targets that are not well', () => {
    const state = { ...planning(), spec: spec() };
    const found = observe(state.spec, resolved('b1'), { ...fleet(managed(FROM)), 'web-3': managed(TO) });
    const before = evaluate(state, found, NOW).state;
    const mark = { by: 'ana', reason: 'because', at: NOW };
    const all = done(before, 'retry', { skipPreflight: true });
    expect(all.record).toBe('retries every target now; without the preflight gate on web-1, web-2');
    expect(Object.entries(all.state.targets).map(([name, m]) => [name, m.skipPreflight])).toEqual([
      ['web-1', mark],
      ['web-2', mark],
      ['web-3', null],
    ]);
    expect(all.state.evidence).toMatchObject([{ kind: 'override', by: 'ana' }]);
    const one = done(all.state, 'retry', { target: 'web-1' });
    expect(one.state.targets['web-1']?.skipPreflight).toEqual(mark);
    expect(one.state.evidence.at(-1)).toMatchObject({ kind: 'decision' });
    // A target that was never read is not taken for one: its marks are still to be read.
    const unseen = done(start(), 'retry', { target: 'web-2', skipPreflight: true });
    expect(unseen.state.targets).toEqual({});
    expect(unseen.record).toBe('retries web-2 now');
  });

  test('says what stays blocked', () => {
    const of = spec({ blocklist: [TO_DIGEST] });
    const { state } = evaluate(start(of), observe(of, resolved('b1'), fleet(managed(FROM))), NOW);
    expect(done(state, 'retry').record).toBe(
      `retries every target now; v6-b1 stays blocked until holdfast unblock release/hive ${TO_DIGEST}`,
    );
  });

  test('of a target that is not there is refused, naming those that are', () => {
    expect(refusal(start(), 'retry', { target: 'web-9' })).toBe(
      'there is no target web-9; the targets are: web-1, web-2, web-3',
    );
    const names = Array.from({ length: 21 }, (_, n) => `t${n}`);
    const of = spec({ targets: names.map((n) => target(n)) });
    expect(refusal(start(of), 'retry', { target: 'x' })).toBe(
      `there is no target x; the targets are: ${names.slice(0, 20).join(', ')} and 1 more`,
    );
  });
});

describe('changing mode and spec', () => {
  test('a new mode is a new generation, and told to a running rollout', () => {
    const answer = done(start(), 'setMode', { mode: 'Shadow' }, waiting);
    expect(answer).toMatchObject({
      forward: true,
      effect: 'evaluate',
      record: 'sets mode Shadow, was Enforce; rollout hive-1 is frozen where it is',
    });
    expect(answer.state).toMatchObject({ generation: 2, spec: { mode: 'Shadow' } });
    expect(done(answer.state, 'setMode', { mode: 'Enforce' }, waiting).record).toBe('sets mode Enforce, was Shadow');
    expect(done(start(), 'setMode', { mode: 'Shadow' })).toMatchObject({
      forward: false,
      record: 'sets mode Shadow, was Enforce',
    });
    const same = done(start(), 'setMode', { mode: 'Enforce' });
    expect(same).toMatchObject({ record: 'sets mode Enforce, which it was already', effect: 'evaluate' });
    expect(same.state.generation).toBe(1);
  });

  test('a new spec is a new generation, and frees the targets whose line changed', () => {
    const stuck = { phase: 'Failed' as const, reason: '', message: '', image: TO, wanted: TO, rollbackTo: null, at: 0 };
    const memory = { ...unknownTarget, stuck };
    const before = spec({ targets: [target('web-1'), target('web-2', { track: { tag: 'edge' } })] });
    const state = start(before, { targets: { 'web-1': memory, 'web-2': memory } });
    const after = spec({
      track: { tag: 'v7-latest' },
      soak: '1h',
      targets: [target('web-1'), target('web-2', { track: { tag: 'edge' } }), target('web-3')],
    });
    const answer = done(state, 'applySpec', { spec: after }, waiting);
    expect(answer).toMatchObject({
      effect: 'evaluate',
      forward: true,
      record:
        'applies a new spec: soak, targets, track; rollout hive-1 goes on as its plan had it, within the new mode, windows, freezes and blocklist',
    });
    expect(answer.state).toMatchObject({ generation: 2, spec: after });
    expect(answer.state.targets).toEqual({ 'web-1': { ...memory, stuck: null }, 'web-2': memory });
    expect(answer.state.spec.targets.map(targetName)).toEqual(['web-1', 'web-2', 'web-3']);
  });

  describe('a target that is another workload under the same name', () => {
    const stuck = { phase: 'Failed' as const, reason: '', message: '', image: TO, wanted: TO, rollbackTo: null, at: 0 };
    const of = (overrides: Record<string, unknown>) => spec({ targets: [{ ...target('web-1'), ...overrides }] });
    const before = of({ name: 'web' });

    test.each([{ deployment: 'other' }, { namespace: 'other' }, { cluster: 'other' }, { container: 'other' }])(
      'is not judged by what was applied to the one before (%o)',
      (moved) => {
        const state = start(before, { targets: { web: { ...unknownTarget, applied: TO, passed: TO } } });
        expect(done(state, 'applySpec', { spec: of({ name: 'web', ...moved }) }).state.targets).toEqual({});
        expect(done(state, 'applySpec', { spec: of({ name: 'web', soak: '1h' }) }).state.targets).toHaveProperty('web');
      },
    );

    test('takes nothing from the others', () => {
      const two = spec({ targets: [target('web-1'), target('web-2')] });
      const kept = { ...unknownTarget, applied: TO, passed: TO };
      const state = start(two, { targets: { 'web-1': kept, 'web-2': kept }, stops: [] });
      const after = done(state, 'applySpec', { spec: spec({ targets: [target('web-2')] }) }).state;
      expect(after.targets).toEqual({ 'web-2': kept });
      expect(after.stops).toEqual([]);
    });

    test('leaves its failure behind, of which the last fifty are kept', () => {
      const failed = { ...unknownTarget, stuck };
      const stops = Array.from({ length: 50 }, (_, n) => ({ target: `old-${n}`, stuck }));
      const two = spec({ targets: [target('web-1'), target('web-2')] });
      const state = start(two, { targets: { 'web-1': failed }, stops });
      const after = done(state, 'applySpec', { spec: spec({ targets: [target('web-2')] }) }).state;
      expect(after.stops?.map((stop) => stop.target)).toEqual([...stops.slice(1).map((s) => s.target), 'web-1']);
    });

    test('is still not started where its image failed before, nor is any other', () => {
      const two = spec({ targets: [target('web-1'), target('web-2')] });
      const one = spec({ targets: [target('web-2')] });
      const state = start(two, { targets: { 'web-1': { ...unknownTarget, stuck } } });
      const without = done(state, 'applySpec', { spec: one }).state;
      const look = (of: ReleaseState) => evaluate(of, observe(one, resolved('b1'), { 'web-2': managed(FROM) }), NOW);
      expect(viewOf(look(without), 'web-2')).toMatchObject({ phase: 'Held', reason: 'StoppedByFailure' });
      expect(planned(look(done(without, 'retry', { skipPreflight: false }).state))).toEqual(['web-2']);
    });
  });

  test("a person's pin keeps the line as it is", () => {
    const stuck = { phase: 'Failed' as const, reason: '', message: '', image: TO, wanted: TO, rollbackTo: null, at: 0 };
    const memory = { ...unknownTarget, stuck };
    const state = start(spec(), {
      targets: { 'web-1': memory },
      pin: { by: 'ana', reason: '', at: 0, image: 'v6.0.0' },
    });
    const answer = done(state, 'applySpec', { spec: spec({ track: { tag: 'v7-latest' } }) });
    expect(answer.state.targets['web-1']).toEqual(memory);
  });

  test('a spec that is there already changes nothing', () => {
    const state = start();
    const answer = done(state, 'applySpec', { spec: spec() }, waiting);
    expect(answer).toMatchObject({ effect: 'none', forward: false, record: 'applies the spec that it has already' });
    expect(answer.state.generation).toBe(1);
  });

  test('a spec with another mode is told to a running rollout', () => {
    expect(done(start(), 'applySpec', { spec: spec({ mode: 'Shadow' }) }, waiting)).toMatchObject({
      forward: true,
      record: 'applies a new spec: mode Shadow, was Enforce; rollout hive-1 is frozen where it is',
    });
    expect(done(start(spec({ mode: 'Shadow' })), 'applySpec', { spec: spec() }, waiting).record).toBe(
      'applies a new spec: mode Enforce, was Shadow; rollout hive-1 goes on as its plan had it, within the new mode, windows, freezes and blocklist',
    );
    const other = spec({ mode: 'Shadow', approval: 'beforeFirst', suspend: true, pin: 'v6.0.0', soak: '1h' });
    expect(done(start(), 'applySpec', { spec: other }).record).toBe(
      'applies a new spec: mode Shadow, was Enforce; suspend true, was false; approval beforeFirst, was none; pin v6.0.0, was none; soak',
    );
    expect(done(start(), 'applySpec', { spec: spec({ mode: 'Shadow' }) }).forward).toBe(false);
    expect(done(start(), 'applySpec', { spec: spec({ minimumAge: '1h', freeze: [] }) }).record).toBe(
      'applies a new spec: freeze, minimumAge',
    );
  });
});

describe('releasing ownership and running now', () => {
  test('hand back only what is not half done', () => {
    expect(done(start(), 'releaseOwnership')).toMatchObject({
      effect: 'release',
      record: expect.stringMatching(/^hands every target back as it is and ends; /) as string,
    });
    expect(refusal(start(), 'releaseOwnership', {}, waiting)).toBe(
      'rollout hive-1 is running; end it first, so that nothing is left half done: holdfast abort release/hive --stop (or --roll-back)',
    );
  });

  test('evaluate at once', () => {
    expect(done(start(), 'runNow')).toMatchObject({ effect: 'evaluate', record: 'evaluates now', forward: false });
  });

  test('that are refused with nobody to answer are recorded', () => {
    expect(recordRefusal(start(), 'unpin by signal: nobody has pinned it', NOW).evidence).toEqual([
      { at: NOW, kind: 'decision', outcome: 'refused', message: 'unpin by signal: nobody has pinned it' },
    ]);
  });

  test('are recorded without a reason where none was given', () => {
    const answer = applyAction(start(), action('runNow', { reason: '' }), NOW, null);
    expect(answer.ok && answer.state.evidence).toEqual([
      { at: NOW, kind: 'decision', what: 'release/hive', message: 'evaluates now', by: 'ana' },
    ]);
  });
});

test.each([
  ['by', 'ana\u001b[2J'],
  ['by', 'ana\nbob'],
  ['reason', 'fine\u001b]0;title\u0007'],
  ['reason', 'fine\u009b2J'],
])('control characters in %s are refused: they steer the terminal of whoever reads them', (field, text) => {
  const payload = { by: 'ana', reason: '', [field]: text };
  expect(parseAction('pause', payload)).toMatchObject({
    ok: false,
    message: expect.stringContaining('control characters') as string,
  });
});

test('a reason may have several lines', () => {
  expect(parseAction('pause', { by: 'ana', reason: 'one\r\n\ttwo' })).toMatchObject({ ok: true });
});
