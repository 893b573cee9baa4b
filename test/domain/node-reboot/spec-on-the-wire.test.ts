import { expect, test } from 'vitest';
import { parseAction } from '../../../src/domain/node-reboot/actions.ts';
import { spec } from './world.ts';

test('a spec that was read already is taken as it is, with each of its durations', () => {
  const durations = {
    interval: '20m',
    worstCase: '90m',
    moveTimeout: '4m',
    returnTimeout: '20m',
    readyHold: '90s',
    settleDeadline: '1h',
    releaseDelay: '45m',
    drain: { timeout: '10m' },
    gates: { host: { gracePeriod: '90s' } },
  };
  const parsed = spec(durations);
  expect(parseAction('applySpec', { by: 'ana', spec: parsed })).toMatchObject({ ok: true, action: { spec: parsed } });
});
