import { fail, pass, read, unmeasured, type Reading, type Verdict } from '../../core/verdict.ts';
import type { GateReading, GateStage } from '../gate.ts';
import type { GatesSpec } from '../gates-spec.ts';
import { readRules, readSamples, type LoadedRule } from '../prometheus-answer.ts';

export interface AlertsFacts {
  readonly alerts: Reading<readonly Alert[]>;
  readonly rules: Reading<readonly LoadedRule[]>;
}

export interface Alert {
  readonly name: string;
  readonly state: 'firing' | 'pending';
}

/** What our own drain brings about: copies of volumes leave with the node, and others hold the data. */
const ofOurDrain = 'LonghornVolumeDegraded';

/**
 * @param alerts the answer of `/api/v1/query` for `ALERTS`
 * @param rules the answer of `/api/v1/rules`
 */
export function readAlerts(alerts: Reading<unknown>, rules: Reading<unknown>): AlertsFacts {
  return { alerts: activeAlerts(alerts), rules: readRules(rules) };
}

function activeAlerts(answer: Reading<unknown>): Reading<readonly Alert[]> {
  const samples = readSamples(answer, 'alerts');
  if (samples.kind === 'unmeasured') return samples;
  const alerts: Alert[] = [];
  for (const { labels } of samples.value) {
    const { alertname: name, alertstate: state } = labels;
    if (name === undefined || (state !== 'firing' && state !== 'pending')) {
      return unmeasured('alerts', 'Prometheus', 'unparsed', 'a series of ALERTS has no name or is in no known state');
    }
    alerts.push({ name, state });
  }
  return read(alerts);
}

/**
 * None of the alerts that block is active, and Prometheus has loaded and evaluated the rule of each: no alert and no data
 * look the same otherwise. Names are compared in whole; alerts that are not named never block.
 */
export function alertsGate(
  { alerts, rules }: AlertsFacts,
  spec: NonNullable<GatesSpec['alerts']>,
  stage: GateStage,
): GateReading {
  return { gate: 'alerts', verdict: judge(alerts, rules, spec, stage), lift: 'clear the alert, or load its rule' };
}

function judge(
  alerts: Reading<readonly Alert[]>,
  rules: Reading<readonly LoadedRule[]>,
  { blocking, pendingBlocks }: NonNullable<GatesSpec['alerts']>,
  stage: GateStage,
): Verdict {
  if (alerts.kind === 'unmeasured') return alerts;
  const active = alerts.value.filter(
    ({ name, state }) =>
      blocking.includes(name) && (state === 'firing' || pendingBlocks) && !(stage === 'last' && name === ofOurDrain),
  );
  if (active.length > 0) {
    const named = [...new Set(active.map(({ name, state }) => `${name} is ${state}`))];
    return fail('AlertActive', named.join(', '));
  }
  if (rules.kind === 'unmeasured') return rules;
  return judgeRules(rules.value, blocking);
}

function judgeRules(rules: readonly LoadedRule[], blocking: readonly string[]): Verdict {
  const not = (why: 'missing' | 'not-ready', message: string) => unmeasured('alerts', 'Prometheus', why, message);
  const absent = blocking.filter((name) => !rules.some((rule) => rule.name === name));
  if (absent.length > 0) return not('missing', `Prometheus has no rule for ${absent.join(', ')}`);
  const sick = rules.find(({ name, health }) => blocking.includes(name) && health !== 'ok');
  if (sick !== undefined) {
    const why = sick.lastError === '' ? `its health is ${sick.health}` : sick.lastError;
    return not('not-ready', `Prometheus does not evaluate the rule of ${sick.name}: ${why}`);
  }
  return pass(`none of ${blocking.length} blocking alerts is active, and the rules of all are loaded`);
}
