import { describe, expect, test } from 'vitest';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import {
  image,
  managed,
  NOW,
  observe,
  planned,
  resolved,
  seen,
  spec,
  start,
  unread,
  viewOf,
  workload,
} from './world.ts';
import { read } from '../../../src/domain/core/verdict.ts';

const OLD = image('v6-latest', 'a0');
const of = spec();
const dark = (why: 'timeout' | 'denied' | 'missing') => ({ workload: unread(why), architectures: read(['amd64']) });
const fleetWith = (first: ReturnType<typeof dark> | ReturnType<typeof seen>) =>
  observe(of, resolved('b1'), { 'web-1': first, 'web-2': managed(OLD), 'web-3': managed(OLD) });

describe('a run that has lost its memory', () => {
  test('rolls nothing before it has read the marks of every target: one may carry a block', () => {
    for (const why of ['timeout', 'denied'] as const) {
      const result = evaluate(start(of), fleetWith(dark(why)), NOW);
      expect(planned(result)).toEqual([]);
      expect(viewOf(result, 'web-2')).toMatchObject({
        phase: 'Held',
        reason: 'MarksUnread',
        message: `web-1 may carry a block from an earlier run, and it has not been read yet: Deployment shop/web-1 could not be read: ${why}`,
      });
    }
    const unobserved = observe(of, resolved('b1'), { 'web-2': managed(OLD), 'web-3': managed(OLD) });
    expect(viewOf(evaluate(start(of), unobserved, NOW), 'web-2')).toMatchObject({
      message: 'web-1 may carry a block from an earlier run, and it has not been read yet: it was not observed',
    });
  });

  test('goes on once each was read, even if one cannot be read any more', () => {
    const first = evaluate(start(of), fleetWith(seen(managed(OLD))), NOW);
    expect(planned(evaluate(first.state, fleetWith(dark('timeout')), NOW))).toEqual(['web-2', 'web-3']);
  });

  test('does not wait for a workload that does not exist', () => {
    expect(planned(evaluate(start(of), fleetWith(dark('missing')), NOW))).toEqual(['web-2', 'web-3']);
  });

  test('still proves what is there, and rolls what is pinned', () => {
    const NEW = image('v6-latest', 'b1');
    const unproven = managed(NEW, { marks: { ...managed(NEW).marks, passed: null } });
    const verify = observe(of, resolved('b1'), { 'web-1': dark('timeout'), 'web-2': unproven, 'web-3': workload(NEW) });
    expect(planned(evaluate(start(of), verify, NOW))).toEqual(['web-2']);
    const pinned = spec({ pin: 'v6-latest' });
    const result = evaluate(
      start(pinned),
      observe(pinned, resolved('b1'), { 'web-1': dark('timeout'), 'web-2': managed(OLD) }),
      NOW,
    );
    expect(planned(result)).toEqual(['web-2']);
  });
});
