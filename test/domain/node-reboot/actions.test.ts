import { expect, test } from 'vitest';
import { parseAction } from '../../../src/domain/node-reboot/actions.ts';

const force = { by: 'ada', gate: 'budgets', node: 'node-1', reason: 'the budget is mended tomorrow', for: '1h' };

test.each([
  ['by', 'ada\u001b[2J'],
  ['reason', 'because\u0007'],
])('control characters in %s are refused: they steer the terminal of whoever reads them', (field, text) => {
  for (const action of ['force', 'cancel'] as const) {
    const payload = action === 'force' ? force : { by: 'ada' };
    expect(parseAction(action, payload)).toMatchObject({ ok: true });
    expect(parseAction(action, { ...payload, [field]: text })).toEqual({
      ok: false,
      message: expect.stringContaining('control characters') as string,
    });
  }
});

test.each([undefined, '', '  '])('a gate is set aside with a reason only, and %j is none', (reason) => {
  const { reason: _, ...rest } = force;
  expect(parseAction('force', reason === undefined ? rest : { ...rest, reason })).toEqual({
    ok: false,
    message: expect.stringContaining('why this gate may be set aside') as string,
  });
});
