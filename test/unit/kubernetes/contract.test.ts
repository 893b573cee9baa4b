import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { kubernetesContract } from '../../contract/kubernetes.ts';
import { startApiServer } from '../../doubles/api-server.ts';
import type { ApiServerDouble } from '../../doubles/api-server.ts';

let server: ApiServerDouble;
let port: KubernetesClient;
let nobody: KubernetesClient;
let namespaces = 0;

beforeAll(async () => {
  const forbidden = JSON.stringify({
    kind: 'Status',
    status: 'Failure',
    reason: 'Forbidden',
    message: 'forbidden: nobody',
    code: 403,
  });
  server = await startApiServer({
    fault: (request) =>
      request.headers['user-agent'] === 'nobody' ? { kind: 'answer', status: 403, body: forbidden } : undefined,
  });
  const kubeconfig = server.kubeconfig();
  port = await createKubernetes({ name: 'double', kubeconfig });
  nobody = await createKubernetes({ name: 'double', kubeconfig, userAgent: 'nobody' });
});

beforeEach(() => {
  namespaces += 1;
});

afterAll(async () => {
  await port.close();
  await nobody.close();
  await server.stop();
});

kubernetesContract("the API server's double", () => ({ port, nobody, namespace: `contract-${namespaces}` }));
