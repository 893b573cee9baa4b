import { expect, test } from 'vitest';
import { fail, pass, unmeasured, type Verdict } from '../../../src/domain/core/verdict.ts';
import { campaignFingerprint } from '../../../src/domain/node-reboot/fingerprint.ts';
import { MINUTE, NOW, observation } from './world.ts';

function fingerprint(verdict: Verdict): string {
  return campaignFingerprint(observation(['n1'], { gates: [{ gate: 'alerts', verdict, lift: null }] }));
}

const active = fail('AlertActive', 'alert NodeExporterDown is active');

test.each([
  ['another alert', fail('AlertActive', 'alert KubeNodeNotReady is active')],
  ['another reason', fail('RuleMissing', 'alert NodeExporterDown is active')],
  ['no answer', unmeasured('alerts', 'Prometheus', 'timeout', 'no answer in 10 s')],
  ['a pass', pass()],
])('a gate that holds a node back for %s is told at the next look', (_, verdict) => {
  expect(fingerprint(verdict)).not.toBe(fingerprint(active));
});

test('a gate that could not be read for another reason is told at the next look, and the words alone are not', () => {
  const timeout = unmeasured('alerts', 'Prometheus', 'timeout', 'no answer in 10 s');
  expect(fingerprint(unmeasured('alerts', 'Prometheus', 'denied', 'no answer in 10 s'))).not.toBe(fingerprint(timeout));
  expect(fingerprint(unmeasured('alerts', 'Prometheus', 'timeout', 'no answer in 11 s'))).toBe(fingerprint(timeout));
});

test('what is as it was is not told again, however late it is read and in whatever words it passes', () => {
  expect(fingerprint(fail(active.reason, active.message))).toBe(fingerprint(active));
  expect(fingerprint(pass('12 pods'))).toBe(fingerprint(pass('13 pods')));
  expect(campaignFingerprint(observation(['n1'], { at: NOW + 5 * MINUTE }))).toBe(
    campaignFingerprint(observation(['n1'])),
  );
});
