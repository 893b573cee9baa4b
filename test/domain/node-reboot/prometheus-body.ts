/** What Prometheus answers, as far as gates ask. */

export function vectorBody(series: readonly Readonly<Record<string, string>>[], value = '1'): object {
  const result = series.map((metric) => ({ metric, value: [1_780_000_000.123, value] }));
  return { status: 'success', data: { resultType: 'vector', result } };
}

/** @param recorded the name of a recording rule beside the alerting ones */
export function rulesBody(names: readonly string[], health = 'ok', recorded = 'job:up:sum'): object {
  const rules = names.map((name) => ({
    type: 'alerting',
    name,
    health,
    state: 'inactive',
    query: 'up == 0',
    alerts: [],
  }));
  const recording = { type: 'recording', name: recorded, health: 'ok', query: 'sum(up)' };
  return {
    status: 'success',
    data: { groups: [{ name: 'storage', file: 'rules.yaml', rules: [recording, ...rules] }] },
  };
}
