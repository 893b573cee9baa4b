import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { kubernetesContract } from '../../contract/kubernetes.ts';
import { connect } from './cluster.ts';
import type { TestCluster } from './cluster.ts';

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await connect(inject('lab').kubeconfig);
});

beforeEach(async () => {
  namespace = await cluster.namespace();
});

afterAll(() => cluster.close());

kubernetesContract('a real API server', () => ({ port: cluster.port, nobody: cluster.nobody, namespace }));
