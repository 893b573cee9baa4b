import { unmeasured } from '../../domain/core/verdict.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import type { CheckReading } from '../../domain/release/judge-soak.ts';
import type { Check } from '../../domain/release/spec.ts';
import type { ReleaseDependencies } from './dependencies.ts';

/** Asks Prometheus for the value of every check, at the same time. */
export function askChecks(
  { prometheus }: ReleaseDependencies,
  checks: readonly Check[],
  target: TargetAddress,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<CheckReading[]> {
  return Promise.all(
    checks.map(async (check) => {
      if (prometheus !== null) {
        return { check, value: await prometheus.value(queryFor(check, target), { timeoutMs, signal }) };
      }
      const message = "this worker has no Prometheus; add prometheus: to the worker's configuration";
      return { check, value: unmeasured(`check ${check.name}`, 'this worker', 'missing', message) };
    }),
  );
}

/** The names are Kubernetes names, which need no escaping in a query. */
function queryFor({ query }: Check, { name, namespace, workload }: TargetAddress): string {
  return query
    .replaceAll('{{target}}', name)
    .replaceAll('{{namespace}}', namespace)
    .replaceAll('{{workload}}', workload);
}
