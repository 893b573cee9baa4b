import { z } from 'zod';
import { unmeasured, type Reading } from '../../domain/core/verdict.ts';
import { readEtcd, type EtcdFacts } from '../../domain/node-reboot/gates/etcd.ts';
import type { EtcdOptions, EtcdPort } from '../etcd/port.ts';

/** Where members say that they are reached. */
const addressesSchema = z.object({
  members: z.array(
    z.object({ ID: z.string(), name: z.string().default(''), clientURLs: z.array(z.string()).default([]) }),
  ),
});

/** Asks etcd for its members, and each member how it is: side by side, since one that is down takes its whole time. */
export async function readEtcdMembers(cluster: EtcdPort, options: EtcdOptions): Promise<EtcdFacts> {
  const list = await cluster.members(options);
  const addresses = list.kind === 'read' ? addressesSchema.safeParse(list.value) : null;
  const members = addresses?.success === true ? addresses.data.members : [];
  const health = await Promise.all(
    members
      .filter(({ name }) => name !== '')
      .map(async ({ ID, name, clientURLs: [url] }): Promise<readonly [string, Reading<unknown>]> => {
        const what = `health of etcd member ${name}`;
        if (url === undefined) return [ID, unmeasured(what, 'etcd', 'missing', `${name} names no client URL`)];
        // Whoever answers there does not say which member it is.
        const twin = members.find((other) => other.ID !== ID && other.clientURLs[0] === url);
        if (twin === undefined) return [ID, await cluster.health(url, options)];
        const message = `etcd members ${name} and ${twin.name} name the same client URL, ${url}: give each its own`;
        return [ID, unmeasured(what, 'etcd', 'unparsed', message)];
      }),
  );
  return readEtcd(list, Object.fromEntries(health));
}
