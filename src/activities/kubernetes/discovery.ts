import { read, unmeasured } from '../../domain/core/verdict.ts';
import type { Reading } from '../../domain/core/verdict.ts';
import { isRecord, parseJson, unmeasuredBy, unusable } from './errors.ts';
import { groupVersionPath, knownResource } from './kinds.ts';
import type { Resource } from './kinds.ts';
import { sendRead } from './retry.ts';
import type { Transport } from './transport.ts';

/** How a kind is addressed on this cluster: from the table, else asked for and remembered for a while. */
export interface Discovery {
  resource(kind: { readonly apiVersion: string; readonly kind: string }, timeoutMs: number): Promise<Reading<Resource>>;
}

const rememberMs = 10 * 60_000;

export function createDiscovery(transport: Transport, now: () => number = Date.now): Discovery {
  const remembered = new Map<string, { readonly at: number; readonly kinds: ReadonlyMap<string, Resource> }>();

  async function kindsOf(apiVersion: string, timeoutMs: number): Promise<Reading<ReadonlyMap<string, Resource>>> {
    const what = `kinds of ${apiVersion}`;
    const path = groupVersionPath(apiVersion);
    if (path === undefined) return unmeasured(what, transport.server, 'error', `"${apiVersion}" is no apiVersion`);
    const served = await isServed(apiVersion, timeoutMs);
    if (served.kind === 'unmeasured') return served;
    if (!served.value)
      return unmeasured(
        what,
        transport.server,
        'not-served',
        `the cluster does not serve ${apiVersion}: is its CustomResourceDefinition installed?`,
      );
    const answer = await sendRead(transport, { method: 'GET', path, timeoutMs });
    if (answer.kind === 'none' || answer.status !== 200) return unmeasuredBy(what, transport.server, answer);
    const body = parseJson(answer.body);
    if (!isRecord(body) || body.kind !== 'APIResourceList' || !Array.isArray(body.resources)) {
      const { why, message } = unusable(answer);
      return unmeasured(what, transport.server, why, `${what}: ${message}`);
    }
    const kinds = new Map<string, Resource>();
    for (const entry of body.resources.filter(isRecord)) {
      // Subresources are listed as `pods/exec`.
      if (typeof entry.name !== 'string' || typeof entry.kind !== 'string' || entry.name.includes('/')) continue;
      kinds.set(entry.kind, { plural: entry.name, namespaced: entry.namespaced === true });
    }
    return read(kinds);
  }

  /**
   * Whether the list of groups has it. A path that is not served answers 404 without a Status, as any other web server
   * does: only a list that lacks the group proves it absent.
   */
  async function isServed(apiVersion: string, timeoutMs: number): Promise<Reading<boolean>> {
    if (!apiVersion.includes('/')) return read(true);
    const what = 'list of API groups';
    const answer = await sendRead(transport, { method: 'GET', path: '/apis', timeoutMs });
    if (answer.kind === 'none' || answer.status !== 200) return unmeasuredBy(what, transport.server, answer);
    const body = parseJson(answer.body);
    if (!isRecord(body) || body.kind !== 'APIGroupList' || !Array.isArray(body.groups)) {
      const { why, message } = unusable(answer);
      return unmeasured(what, transport.server, why, `${what}: ${message}`);
    }
    const versions = body.groups
      .filter(isRecord)
      .flatMap((group): unknown[] => (Array.isArray(group.versions) ? group.versions : []));
    return read(versions.some((version) => isRecord(version) && version.groupVersion === apiVersion));
  }

  return {
    async resource({ apiVersion, kind }, timeoutMs) {
      const table = knownResource(apiVersion, kind);
      if (table !== undefined) return read(table);
      const cached = remembered.get(apiVersion);
      const fresh = cached !== undefined && now() - cached.at < rememberMs ? cached.kinds.get(kind) : undefined;
      if (fresh !== undefined) return read(fresh);
      const kinds = await kindsOf(apiVersion, timeoutMs);
      if (kinds.kind === 'unmeasured') return kinds;
      remembered.set(apiVersion, { at: now(), kinds: kinds.value });
      const found = kinds.value.get(kind);
      if (found !== undefined) return read(found);
      return unmeasured(
        `kind ${kind}`,
        transport.server,
        'not-served',
        `the cluster serves ${apiVersion}, but no kind ${kind} in it`,
      );
    },
  };
}
