import { describe, expect, test } from 'vitest';
import {
  comparePlacements,
  overlayJournal,
  parseJournal,
  parseStatus,
  runsAs,
} from '../../../src/domain/release/placements.ts';

const scout = { name: 'scout', backend: 'claude', model: 'opus', effort: 'high', paused: false };
const smith = { name: 'smith', backend: 'codex', model: 'o4', effort: 'low', paused: true };

describe('the status of a spoke', () => {
  test('tells its agents; what else it says is let pass', () => {
    const body = JSON.stringify({ uptime: 3, initializing: false, agents: [{ ...scout, mood: 'good' }, smith] });
    expect(parseStatus(body, 'status')).toEqual({ kind: 'read', value: [scout, smith] });
  });

  test('takes an agent that does not say so for not paused, and no word on initializing for ready', () => {
    const { paused: _, ...silent } = scout;
    expect(parseStatus(JSON.stringify({ agents: [silent] }), 'status')).toEqual({ kind: 'read', value: [scout] });
  });

  test('is unmeasured while it initialises: an empty list would be lost agents', () => {
    expect(parseStatus(JSON.stringify({ initializing: true, agents: [] }), 'GET /api/status')).toEqual({
      kind: 'unmeasured',
      what: 'GET /api/status',
      from: 'the spoke',
      why: 'not-ready',
      message: 'GET /api/status: it is still initializing',
    });
  });

  test.each([
    ['not JSON', '<html>'],
    ['not a status', '{}'],
    ['an agent without a model', JSON.stringify({ agents: [{ name: 'scout', backend: 'claude' }] })],
    ['an agent without a name', JSON.stringify({ agents: [{ ...scout, name: '' }] })],
  ])('is unmeasured where it is %s', (_, body) => {
    expect(parseStatus(body, 'GET /api/status')).toMatchObject({
      kind: 'unmeasured',
      from: 'the spoke',
      why: 'unparsed',
      message: expect.stringMatching(/^GET \/api\/status: the answer is not a status: \S/) as string,
    });
  });

  test('that cannot be understood says where', () => {
    const body = JSON.stringify({ agents: [{ ...scout, effort: 3 }] });
    expect(parseStatus(body, 'status')).toMatchObject({
      message: 'status: the answer is not a status: agents.0.effort Invalid input: expected string, received number',
    });
    expect(parseStatus('', 'status')).toMatchObject({
      message: 'status: the answer is not a status: Invalid input: expected object, received undefined',
    });
  });
});

describe('the override journal', () => {
  test('overlays what the status reports, field by field', () => {
    const overrides = parseJournal(
      JSON.stringify({ agents: { scout: { model: 'sonnet', paused: true }, gone: {} } }),
      'journal',
    );
    expect(overrides.kind === 'read' && overlayJournal([scout, smith], overrides.value)).toEqual([
      { ...scout, model: 'sonnet', paused: true },
      smith,
    ]);
    const whole = { scout: { backend: 'b', model: 'm', effort: 'e' } };
    expect(overlayJournal([scout], whole)).toEqual([
      { name: 'scout', backend: 'b', model: 'm', effort: 'e', paused: false },
    ]);
  });

  test('may be empty, and is unmeasured where it is not a journal', () => {
    expect(parseJournal('{}', 'journal')).toEqual({ kind: 'read', value: {} });
    expect(parseJournal('[]', 'journal')).toEqual({
      kind: 'unmeasured',
      what: 'journal',
      from: 'the spoke',
      why: 'unparsed',
      message: 'journal: it is not a journal: Invalid input: expected object, received array',
    });
  });
});

describe('placements before and after a swap', () => {
  test('tell who is lost, who has moved, and who is paused otherwise', () => {
    const now = [
      { ...scout, model: 'haiku', paused: true },
      { ...smith, name: 'new' },
    ];
    expect(comparePlacements([scout, smith], now)).toEqual({ lost: ['smith'], moved: [scout], paused: ['scout'] });
    expect(comparePlacements([scout, smith], [smith, scout])).toEqual({ lost: [], moved: [], paused: [] });
  });

  test('count backend, model and effort, and never paused', () => {
    expect(runsAs(scout, { ...scout, paused: true })).toBe(true);
    for (const other of [{ backend: 'x' }, { model: 'x' }, { effort: 'x' }]) {
      expect(runsAs({ ...scout, ...other }, scout)).toBe(false);
    }
  });
});
