import { describe, expect, test } from 'vitest';
import type { KubeObject, KubernetesPort, ObjectRef, WatchEvent } from '../../src/activities/kubernetes/port.ts';

/**
 * What every capability relies on from KubernetesPort. The same tests run against a real API server and against the
 * double of this repository, so that what the double teaches holds for the real part.
 */

export interface ContractSubject {
  readonly port: KubernetesPort;
  /** The same cluster as somebody who may do nothing. */
  readonly nobody: KubernetesPort;
  /** An empty namespace. */
  readonly namespace: string;
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: { name: string; image: string }[] } };
  };
}

const manager = { fieldManager: 'contract-test' };

/** Registers the tests. `subject` is called inside each test. */
export function kubernetesContract(name: string, subject: () => ContractSubject): void {
  const ref = (objectName: string): ObjectRef => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: subject().namespace,
    name: objectName,
  });
  const configMap = (
    objectName: string,
    data: Record<string, string>,
    labels: Record<string, string> = {},
  ): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: objectName, namespace: subject().namespace, labels },
    data,
  });

  describe(`KubernetesPort on ${name}`, () => {
    test('an object that was created is read with uid and resourceVersion', async () => {
      const { port } = subject();
      const created = written(await port.create(configMap('read', { a: '1' }), manager));
      const got = await port.get<ConfigMap>(ref('read'));
      expect(got).toMatchObject({ kind: 'read', value: { kind: 'ConfigMap', data: { a: '1' } } });
      expect(created.metadata.uid).toBeTruthy();
      if (got.kind === 'read') expect(got.value.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    });

    test('a missing object is unmeasured as missing, a forbidden one as denied', async () => {
      const { port, nobody } = subject();
      expect(await port.get(ref('absent'))).toMatchObject({
        kind: 'unmeasured',
        why: 'missing',
        what: `ConfigMap ${subject().namespace}/absent`,
      });
      expect(await nobody.get(ref('absent'))).toMatchObject({ kind: 'unmeasured', why: 'denied' });
      expect(await nobody.list({ apiVersion: 'v1', kind: 'ConfigMap' })).toMatchObject({
        kind: 'unmeasured',
        why: 'denied',
      });
    });

    test('a kind that the cluster does not serve is not served, by name, which is no object that is missing', async () => {
      const reading = await subject().port.get({
        apiVersion: 'nowhere.example/v1',
        kind: 'Thing',
        namespace: 'default',
        name: 'x',
      });
      expect(reading).toMatchObject({ kind: 'unmeasured', why: 'not-served' });
      if (reading.kind === 'unmeasured') expect(reading.message).toContain('nowhere.example/v1');
      const noSuchKind = { apiVersion: 'apps/v1', kind: 'Thing', namespace: 'default', name: 'x' };
      expect(await subject().port.get(noSuchKind)).toMatchObject({ kind: 'unmeasured', why: 'not-served' });
    });

    test('a list holds what the selector matches, with apiVersion and kind on each item', async () => {
      const { port, namespace } = subject();
      for (const n of ['1', '2', '3'])
        await port.create(configMap(`listed-${n}`, {}, { set: n === '3' ? 'other' : 'this' }), manager);
      const list = await port.list<ConfigMap>({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        namespace,
        labelSelector: 'set=this',
      });
      if (list.kind !== 'read') throw new Error(list.message);
      expect(list.value.items.map((item) => item.metadata.name).sort()).toEqual(['listed-1', 'listed-2']);
      expect(list.value.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
      expect(list.value.resourceVersion).not.toBe('');
    });

    test('creating what exists is a conflict and changes nothing', async () => {
      const { port } = subject();
      await port.create(configMap('twice', { a: '1' }), manager);
      expect(await port.create(configMap('twice', { a: '2' }), manager)).toMatchObject({ kind: 'conflict' });
      expect(await port.get(ref('twice'))).toMatchObject({ value: { data: { a: '1' } } });
    });

    for (const type of ['strategic', 'merge'] as const) {
      test(`a ${type} patch changes what it names and leaves the rest`, async () => {
        const { port } = subject();
        await port.create(configMap(`patched-${type}`, { a: '1', b: '1' }), manager);
        const outcome = await port.patch<ConfigMap>(ref(`patched-${type}`), { data: { b: '2' } }, { type, ...manager });
        expect(written(outcome).data).toEqual({ a: '1', b: '2' });
      });
    }

    test('a json patch is applied in order', async () => {
      const { port } = subject();
      await port.create(configMap('json', { a: '1' }), manager);
      const body = [
        { op: 'add', path: '/data/b', value: '2' },
        { op: 'remove', path: '/data/a' },
      ];
      expect(written(await port.patch<ConfigMap>(ref('json'), body, { type: 'json', ...manager })).data).toEqual({
        b: '2',
      });
    });

    test('an apply patch needs no apiVersion, kind or name in its body', async () => {
      const { port } = subject();
      await port.create(configMap('applied', {}), manager);
      const outcome = await port.patch<ConfigMap>(
        ref('applied'),
        { data: { a: '1' } },
        { type: 'apply', fieldManager: 'contract-apply' },
      );
      expect(written(outcome).data).toEqual({ a: '1' });
    });

    for (const type of ['strategic', 'merge', 'json', 'apply'] as const) {
      test(`a ${type} patch with an old resourceVersion or another uid is a conflict and writes nothing`, async () => {
        const { port } = subject();
        const first = written(await port.create(configMap(`guarded-${type}`, { a: '1' }), manager));
        const body = (value: string) =>
          type === 'json' ? [{ op: 'replace', path: '/data/a', value }] : { data: { a: value } };
        const patch = (value: string, preconditions: object) =>
          port.patch<ConfigMap>(ref(`guarded-${type}`), body(value), { type, ...manager, preconditions, force: true });
        const { uid = '', resourceVersion = '' } = first.metadata;
        expect(await patch('2', { uid, resourceVersion })).toMatchObject({ kind: 'written' });
        expect(await patch('3', { uid, resourceVersion })).toMatchObject({ kind: 'conflict' });
        expect(await patch('3', { uid: '11111111-1111-4111-8111-111111111111' })).toMatchObject({ kind: 'conflict' });
        expect(await port.get(ref(`guarded-${type}`))).toMatchObject({ value: { data: { a: '2' } } });
      });
    }

    test('a dry run answers with the result and writes nothing', async () => {
      const { port } = subject();
      await port.create(configMap('dry', { a: '1' }), manager);
      const outcome = await port.patch<ConfigMap>(
        ref('dry'),
        { data: { a: '2' } },
        { type: 'merge', ...manager, dryRun: true },
      );
      expect(written(outcome).data).toEqual({ a: '2' });
      expect(await port.get(ref('dry'))).toMatchObject({ value: { data: { a: '1' } } });
    });

    test('writes that are refused say why: missing, denied, invalid', async () => {
      const { port, nobody } = subject();
      expect(await port.patch(ref('absent'), { data: {} }, { type: 'merge', ...manager })).toMatchObject({
        kind: 'missing',
      });
      expect(await nobody.patch(ref('absent'), { data: {} }, { type: 'merge', ...manager })).toMatchObject({
        kind: 'denied',
      });
      expect(await nobody.create(configMap('denied', {}), manager)).toMatchObject({ kind: 'denied' });
      expect(await port.delete(ref('absent'), { propagationPolicy: 'Background' })).toMatchObject({ kind: 'missing' });
      await port.create(deployment('strict'), manager);
      const nameless = { spec: { template: { spec: { containers: [{ image: 'web:2' }] } } } };
      expect((await port.patch(deploymentRef('strict'), nameless, { type: 'strategic', ...manager })).kind).not.toBe(
        'written',
      );
    });

    test('a deletion with another uid is a conflict; with the right one the object goes', async () => {
      const { port } = subject();
      const first = written(await port.create(configMap('deleted', {}), manager));
      const wrong = {
        preconditions: { uid: '11111111-1111-4111-8111-111111111111' },
        propagationPolicy: 'Background' as const,
      };
      expect(await port.delete(ref('deleted'), wrong)).toMatchObject({ kind: 'conflict' });
      const { uid = '' } = first.metadata;
      const right = await port.delete(ref('deleted'), { preconditions: { uid }, propagationPolicy: 'Background' });
      expect(right).toMatchObject({ kind: 'written', object: { metadata: { name: 'deleted' } } });
      expect(await port.get(ref('deleted'))).toMatchObject({ why: 'missing' });
    });

    test('H-A15 a patch of one container leaves the other as it was, in the answer and when read back', async () => {
      const { port } = subject();
      await port.create(deployment('pair'), manager);
      const body = { spec: { template: { spec: { containers: [{ name: 'web', image: 'web:2' }] } } } };
      const after = written(
        await port.patch<Deployment>(deploymentRef('pair'), body, { type: 'strategic', ...manager }),
      );
      const wanted = [
        { name: 'sidecar', image: 'sidecar:1' },
        { name: 'web', image: 'web:2' },
      ];
      expect(images(after)).toEqual(wanted);
      const back = await port.get<Deployment>(deploymentRef('pair'));
      if (back.kind !== 'read') throw new Error(back.message);
      expect(images(back.value)).toEqual(wanted);
      expect(back.value.metadata.generation).toBe(2);
    });

    test('a watch lists first, then tells each change once and in order', async () => {
      const { port, namespace } = subject();
      await port.create(configMap('watched-before', {}, { watch: 'yes' }), manager);
      const stop = new AbortController();
      const events: WatchEvent<ConfigMap>[] = [];
      const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace, labelSelector: 'watch=yes' };
      for await (const event of port.watch<ConfigMap>(query, { signal: stop.signal })) {
        events.push(event);
        if (event.type === 'listed') {
          await port.create(configMap('watched-after', { a: '1' }, { watch: 'yes' }), manager);
          await port.patch(ref('watched-after'), { data: { a: '2' } }, { type: 'merge', ...manager });
          await port.delete(ref('watched-after'), { propagationPolicy: 'Background' });
        }
        if (event.type === 'deleted') stop.abort();
      }
      expect(events.map(summary)).toEqual([
        'listed watched-before',
        'added watched-after 1',
        'modified watched-after 2',
        'deleted watched-after 2',
      ]);
    });

    test('a watch that may not read tells so and ends when told', async () => {
      const { nobody, namespace } = subject();
      const stop = new AbortController();
      for await (const event of nobody.watch(
        { apiVersion: 'v1', kind: 'ConfigMap', namespace },
        { signal: stop.signal },
      )) {
        expect(event).toMatchObject({ type: 'interrupted', reading: { why: 'denied' } });
        stop.abort();
      }
    });

    test('the same event of the same run is recorded once, of another run again', async () => {
      const { port, namespace } = subject();
      const owner = written(await port.create(configMap('evented', {}), manager));
      const about = { ...ref('evented'), uid: owner.metadata.uid ?? '' };
      const event = { type: 'Normal' as const, reason: 'Rolled', message: 'web to v2', action: 'Roll', runId: 'one' };
      const first = written(await port.event(about, event));
      const again = written(await port.event(about, event));
      const other = written(await port.event(about, { ...event, runId: 'two' }));
      expect(again.metadata.uid).toBe(first.metadata.uid);
      expect(other.metadata.uid).not.toBe(first.metadata.uid);
      const list = await port.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event', namespace });
      if (list.kind !== 'read') throw new Error(list.message);
      expect(list.value.items.filter((item) => item.metadata.name.startsWith('evented.'))).toHaveLength(2);
    });

    test('the client knows what it may do, and the version of the server', async () => {
      const { port, nobody, namespace } = subject();
      const review = { verb: 'patch', group: 'apps', resource: 'deployments', namespace };
      expect(await port.can(review)).toEqual({ kind: 'read', value: true });
      const asNobody = await nobody.can(review);
      // A stranger may be told no, or not even be let ask; never yes.
      expect(asNobody.kind === 'read' ? asNobody.value : asNobody.why).toBeOneOf([false, 'denied']);
      const version = await port.version();
      expect(version).toMatchObject({ kind: 'read', value: expect.stringMatching(/^v1\.\d+/) as string });
    });

    test('names that would address something else never leave the process', async () => {
      const { port } = subject();
      for (const name of ['../../secrets', '..', 'a/b', 'a%2Fb', '']) {
        expect(await port.get(ref(name))).toMatchObject({ kind: 'unmeasured', why: 'error' });
        expect(await port.patch(ref(name), {}, { type: 'merge', ...manager })).toMatchObject({ kind: 'invalid' });
      }
    });
  });

  function deploymentRef(objectName: string): ObjectRef {
    return { apiVersion: 'apps/v1', kind: 'Deployment', namespace: subject().namespace, name: objectName };
  }

  function deployment(objectName: string): Deployment {
    const labels = { app: objectName };
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: objectName, namespace: subject().namespace },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              { name: 'web', image: 'web:1' },
              { name: 'sidecar', image: 'sidecar:1' },
            ],
          },
        },
      },
    } as Deployment;
  }
}

function images(deployment: Deployment): object[] {
  return deployment.spec.template.spec.containers
    .map(({ name, image }) => ({ name, image }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

function summary(event: WatchEvent<ConfigMap>): string {
  if (event.type === 'listed') return `listed ${event.items.map((item) => item.metadata.name).join(' ')}`;
  if (event.type === 'interrupted') return `interrupted ${event.reading.message}`;
  const value = event.object.data?.a;
  return `${event.type} ${event.object.metadata.name}${value === undefined ? '' : ` ${value}`}`;
}

function written<T>(outcome: { kind: string } | { kind: 'written'; object: T }): T {
  if ('object' in outcome) return outcome.object;
  throw new Error(`expected a write, got ${JSON.stringify(outcome)}`);
}
