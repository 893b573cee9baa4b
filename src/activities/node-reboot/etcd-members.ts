import { z } from 'zod';
import { unmeasured, type Reading } from '../../domain/core/verdict.ts';
import { readEtcd, type EtcdFacts } from '../../domain/node-reboot/gates/etcd.ts';
import type { EtcdOptions, EtcdPort } from '../etcd/port.ts';

/** Where members say that they are reached. */
const addressesSchema = z.object({
  members: z.array(z.object({ name: z.string().default(''), clientURLs: z.array(z.string()).default([]) })),
});

/** Asks etcd for its members, and each member how it is: side by side, since one that is down takes its whole time. */
export async function readEtcdMembers(cluster: EtcdPort, options: EtcdOptions): Promise<EtcdFacts> {
  const list = await cluster.members(options);
  const addresses = list.kind === 'read' ? addressesSchema.safeParse(list.value) : null;
  const members = addresses?.success === true ? addresses.data.members : [];
  const health = await Promise.all(
    members
      .filter(({ name }) => name !== '')
      .map(async ({ name, clientURLs: [url] }): Promise<readonly [string, Reading<unknown>]> => {
        if (url !== undefined) return [name, await cluster.health(url, options)];
        return [name, unmeasured(`health of etcd member ${name}`, 'etcd', 'missing', `${name} names no client URL`)];
      }),
  );
  return readEtcd(list, Object.fromEntries(health));
}
