// Answers for pods that no machine runs: 200, and 500 once a target has had the bad image for as long as that image
// would have lived. A process of the lab, so that it stays with `--keep` and ends with the lab.
//
//   node fake-health.ts LAB-FOLDER NAMESPACE PORT
import { createServer } from 'node:http';
import { kube } from '../kube-api.ts';
import { attachLab } from '../lab.ts';
import { imageIn, type Deployment } from './shop.ts';
import { BAD_VERSION, BREAKS_AFTER_SECONDS } from './stage.ts';

const [dir = '', namespace = '', port = ''] = process.argv.slice(2);
const { env } = await attachLab(dir);
/** Since when a target has the bad image, epoch milliseconds. */
const badSince = new Map<string, number>();

async function isHealthy(target: string): Promise<boolean> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${target}`;
  const image = imageIn(await kube<Deployment>(env, 'GET', path));
  if (!image.includes(`:${BAD_VERSION}@`)) {
    badSince.delete(target);
    return true;
  }
  const since = badSince.get(target) ?? Date.now();
  badSince.set(target, since);
  return Date.now() - since < BREAKS_AFTER_SECONDS * 1000;
}

createServer((request, response) => {
  const target = (request.url ?? '/').slice(1);
  if (target === '') {
    response.end();
    return;
  }
  isHealthy(target).then(
    (healthy) => response.writeHead(healthy ? 200 : 500).end(),
    () => response.destroy(), // not known, so not answered
  );
}).listen(Number(port), '127.0.0.1');
