import type { RealmUnderTest } from './flow-rig.ts';

/** Somebody else who edits the same realm, such as a person in the admin console. */
export interface SecondWriter {
  /** Puts the realm as it is now, with these fields changed. */
  editRealm(fields: Readonly<Record<string, unknown>>): Promise<void>;
  /** Sets attributes of the realm, and keeps the others. */
  editAttributes(attributes: Readonly<Record<string, string>>): Promise<void>;
  /** Changes the requirement of a row of a flow. */
  setRequirement(flow: string, row: number, requirement: string): Promise<void>;
  /** Adds an execution at the end of a flow. */
  addExecution(flow: string, provider: string): Promise<void>;
  /** A flow of its own, a copy of the built-in one. */
  copyBrowserFlow(alias: string): Promise<void>;
}

export function secondWriter({ ask }: Pick<RealmUnderTest, 'ask'>): SecondWriter {
  const read = async () => {
    // What Keycloak shows of it is masked, and would be stored so.
    const { smtpServer: _, ...realm } = await ask<Record<string, unknown>>('GET', '');
    return realm;
  };
  return {
    async editRealm(fields) {
      await ask('PUT', '', { ...(await read()), ...fields });
    },
    async editAttributes(attributes) {
      const realm = await read();
      await ask('PUT', '', { ...realm, attributes: { ...(realm['attributes'] as object), ...attributes } });
    },
    async setRequirement(flow, row, requirement) {
      const path = `/authentication/flows/${flow}/executions`;
      const rows = await ask<{ id: string; priority: number }[]>('GET', path);
      await ask('PUT', path, { id: rows[row]?.id, priority: rows[row]?.priority, requirement });
    },
    async addExecution(flow, provider) {
      await ask('POST', `/authentication/flows/${flow}/executions/execution`, { provider });
    },
    async copyBrowserFlow(alias) {
      await ask('POST', '/authentication/flows/browser/copy', { newName: alias });
    },
  };
}
