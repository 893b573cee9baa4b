import { describe, expect, test } from 'vitest';
import { read, unmeasured, type Reading } from '../../../../src/domain/core/verdict.ts';
import {
  customGate,
  readCustomObjects,
  readCustomSamples,
  type CustomResult,
} from '../../../../src/domain/node-reboot/gates/custom.ts';
import { gatesSchema } from '../../../../src/domain/node-reboot/gates-spec.ts';
import { vectorBody } from '../prometheus-body.ts';

const written = {
  name: 'rooms',
  resource: { apiVersion: 'example.com/v1', kind: 'Room' },
  jsonPath: '{.status.ready}',
  equals: 'true',
  results: 2,
};

function specOf(changes: object = {}) {
  const [spec] = gatesSchema.parse({ custom: [{ ...written, ...changes }] }).custom;
  if (spec === undefined) throw new Error('no gate was parsed');
  return spec;
}

function gate(results: Reading<readonly CustomResult[]>, changes: object = {}) {
  return customGate({ results }, specOf(changes));
}

const room = (name: string, ...values: readonly string[]): CustomResult => ({ name, values });

describe('gates of an operator', () => {
  test('as many objects as expected, all as expected, let a node go', () => {
    const reading = gate(read([room('a/1', 'true'), room('a/2', 'true', 'true')]));
    expect(reading).toMatchObject({ gate: 'custom.rooms', verdict: { kind: 'pass' } });
  });

  test('one value that is another holds the node back, names its object, and is not told itself', () => {
    expect(gate(read([room('a/1', 'true'), room('a/2', 'true', 'password-of-a')]))).toMatchObject({
      verdict: { kind: 'fail', message: 'gate rooms: a/2 is to be "true", and is not' },
      lift: 'bring {.status.ready} of each Room to "true"',
    });
  });

  test('another number of results fails, none at all is unmeasured, and none passes where none is expected', () => {
    expect(gate(read([room('a/1', 'true')])).verdict).toMatchObject({ kind: 'fail', reason: 'ResultsMissing' });
    expect(gate(read([])).verdict).toMatchObject({ kind: 'unmeasured', why: 'empty' });
    expect(gate(read([]), { results: 0 }).verdict.kind).toBe('pass');
    expect(gate(read([room('a/1', 'true')]), { results: 0 }).verdict.kind).toBe('fail');
  });

  test('an object of which the path yields nothing proves nothing', () => {
    expect(gate(read([room('a/1', 'true'), room('a/2')])).verdict).toMatchObject({ kind: 'unmeasured', why: 'empty' });
  });

  test('each sample of a query must be 1', () => {
    const query = { resource: undefined, jsonPath: undefined, equals: undefined, query: 'up', results: 1 };
    expect(gate(read([room('{job="a"}', '1')]), query)).toMatchObject({
      verdict: { kind: 'pass' },
      lift: 'bring each sample of up to 1',
    });
    for (const value of ['0', '1.5', 'NaN', 'Infinity', '']) {
      expect(gate(read([room('{job="a"}', value)]), query).verdict.kind).toBe('fail');
    }
  });

  test('what could not be evaluated stays unmeasured', () => {
    const late = unmeasured('gate rooms', 'API server', 'timeout', 'no answer');
    expect(gate(late).verdict).toBe(late);
  });

  test('objects are read by the path, each under its name', () => {
    const rooms = read([
      { metadata: { namespace: 'a', name: '1' }, status: { ready: true } },
      { metadata: { name: '2' }, status: {} },
    ]);
    expect(readCustomObjects(rooms, specOf()).results).toEqual(read([room('a/1', 'true'), room('2')]));
    const denied = unmeasured('gate rooms', 'API server', 'denied', 'forbidden');
    expect(readCustomObjects(denied, specOf()).results).toBe(denied);
    expect(readCustomObjects(read([{}]), specOf()).results).toMatchObject({ why: 'unparsed' });
    const odd = specOf({ jsonPath: '{..ready}' });
    expect(readCustomObjects(rooms, odd).results).toMatchObject({ kind: 'unmeasured', from: 'the spec' });
  });

  test('samples are read as numbers, so that 1 is 1 in whatever form', () => {
    const query = specOf({ resource: undefined, jsonPath: undefined, equals: undefined, query: 'up', results: 1 });
    const verdictOf = (value: string) =>
      customGate(readCustomSamples(read(vectorBody([{ job: 'a' }], value)), query), query).verdict;
    for (const value of ['1', '1.0', '1e+00']) expect(verdictOf(value).kind).toBe('pass');
    for (const value of ['0', 'NaN', '+Inf', '-Inf', '2']) expect(verdictOf(value).kind).toBe('fail');
    expect(
      readCustomSamples(read({ status: 'error', errorType: 'timeout', error: 'slow' }), query).results,
    ).toMatchObject({
      why: 'timeout',
    });
  });
});
