import { expect, test } from 'vitest';
import { parseSettingDuration } from '../../../src/domain/node-reboot/setting-duration.ts';

test.each([
  ['1m30s', 90_000],
  ['1min 30s', 90_000],
  ['1min30s', 90_000],
  ['1 min 30 sec', 90_000],
  ['90', 90_000],
  ['90s', 90_000],
  ['1.5m', 90_000],
  ['1m30', 90_000],
  ['1h0m0s', 3_600_000],
  ['2h 5min', 7_500_000],
  ['1d', 86_400_000],
  ['1500ms', 1_500],
  ['30000000us', 30_000],
  ['0s', 0],
  ['0', 0],
  ['infinity', Number.POSITIVE_INFINITY],
])('NR-39 %s is %d ms', (text, ms) => {
  expect(parseSettingDuration(text)).toBe(ms);
});

test.each(['', ' ', 's', '1x', '-30s', '1m-30s', '1,5m', 'constructor', '1constructor', '1m30s!', 'infinitys'])(
  'NR-39 %j is no duration',
  (text) => {
    expect(parseSettingDuration(text)).toBeNull();
  },
);
