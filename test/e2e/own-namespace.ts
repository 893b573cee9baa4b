import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { LabEnv } from '../lab/lab.ts';
import { SEARCH_ATTRIBUTES } from '../lab/parts/temporal.ts';
import { waitFor } from '../lab/wait.ts';

const INDEXED = proto.temporal.api.enums.v1.IndexedValueType;

/**
 * Makes a namespace of its own on the lab's Temporal: a worker's queue names are the product's, so that workers of two
 * tests in one namespace would take each other's work.
 *
 * @param prefix of its name
 */
export async function ownNamespace(lab: LabEnv, prefix: string): Promise<string> {
  const namespace = `${prefix}-${randomBytes(3).toString('hex')}`;
  const connection = await Connection.connect({ address: lab.temporalAddress });
  try {
    await registerNamespace(connection, namespace);
  } finally {
    await connection.close();
  }
  return namespace;
}

/** Makes a Temporal namespace that knows the search attributes. */
export async function registerNamespace(connection: Connection, namespace: string): Promise<void> {
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 24 * 60 * 60 } as never,
  });
  const searchAttributes = Object.fromEntries(
    Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [
      name,
      type === 'Keyword' ? INDEXED.INDEXED_VALUE_TYPE_KEYWORD : INDEXED.INDEXED_VALUE_TYPE_KEYWORD_LIST,
    ]),
  );
  // The server takes a moment to know a new namespace everywhere.
  await waitFor(`the namespace ${namespace} has its search attributes`, async () => {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
    return true;
  });
}
