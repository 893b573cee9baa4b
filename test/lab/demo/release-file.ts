import type { ReleaseSpecInput } from '../../../src/domain/release/spec.ts';
import { CONTAINER, SOAK_SECONDS, TARGETS, type Stage } from './stage.ts';

/** The release of the demo as its file: everything that the defaults would let take hours is short here. */
export function releaseDocument(stage: Stage): object {
  const spec: ReleaseSpecInput = {
    mode: 'Enforce',
    image: stage.repository,
    track: { line: '^1\\.' },
    pollInterval: '1s',
    soak: `${SOAK_SECONDS}s`,
    soakProbeInterval: '1s',
    rolloutTimeout: '90s',
    approval: 'afterCanary',
    waves: ['100%'],
    targets: TARGETS.map((name) => ({
      namespace: stage.namespace,
      deployment: name,
      container: CONTAINER,
      kind: 'plain',
      health: stage.fakeHealth === null ? { http: {} } : { url: `${stage.fakeHealth}/${name}` },
    })),
  };
  return { apiVersion: 'holdfast.dev/v1alpha1', kind: 'Release', metadata: { name: stage.release }, spec };
}
