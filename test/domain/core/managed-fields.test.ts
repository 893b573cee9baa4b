import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { fieldOwner, fieldOwners } from '../../../src/domain/core/managed-fields.ts';

const image = 'spec.template.spec.containers[name=web].image';

function entry(manager: string, time: string, fieldsV1: object, operation = 'Update') {
  return { manager, operation, time, fieldsV1 };
}

/** As an API server writes it for `kubectl set image deployment/web web=…`. */
const containersWith = (inner: object) => ({
  'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"web"}': inner } } } },
});

describe('the owner of a field', () => {
  test('is the manager that has it, not one that has its neighbour', () => {
    const entries = [
      entry('kubectl-create', '2026-01-01T00:00:00Z', containersWith({ '.': {}, 'f:name': {}, 'f:resources': {} })),
      entry('argocd-controller', '2026-01-02T00:00:00Z', containersWith({ 'f:image': {} })),
      entry('kube-controller-manager', '2026-01-03T00:00:00Z', { 'f:status': { 'f:replicas': {} } }),
    ];
    expect(fieldOwner(entries, image)).toEqual({
      manager: 'argocd-controller',
      operation: 'Update',
      time: '2026-01-02T00:00:00Z',
    });
  });

  test('is nobody for another container, an absent field, and an object without managedFields', () => {
    const entries = [entry('x', '2026-01-01T00:00:00Z', containersWith({ 'f:image': {} }))];
    expect(fieldOwner(entries, 'spec.template.spec.containers[name=sidecar].image')).toBeNull();
    expect(fieldOwner(entries, 'spec.replicas')).toBeNull();
    expect(fieldOwner(undefined, image)).toBeNull();
    expect(fieldOwner([{}], image)).toBeNull();
  });

  test('the one that wrote last comes first when several agree on the value', () => {
    const entries = [
      entry('old', '2026-01-01T00:00:00Z', containersWith({ 'f:image': {} }), 'Apply'),
      entry('new', '2026-02-01T00:00:00Z', containersWith({ 'f:image': {} })),
    ];
    expect(fieldOwners(entries, image).map((owner) => owner.manager)).toEqual(['new', 'old']);
  });

  test('owning the whole of a list or map is owning what is in it', () => {
    expect(
      fieldOwner([entry('atomic', '', { 'f:spec': { 'f:selector': {} } })], 'spec.selector.matchLabels')?.manager,
    ).toBe('atomic');
  });

  test('keys of list items are compared by value, whatever their order', () => {
    const ports = { 'f:spec': { 'f:ports': { 'k:{"protocol":"TCP","port":80}': { 'f:name': {} } } } };
    expect(fieldOwner([entry('x', '', ports)], 'spec.ports[port=80,protocol=TCP].name')?.manager).toBe('x');
    expect(fieldOwner([entry('x', '', ports)], 'spec.ports[port=80].name')).toBeNull();
  });

  test('names with dots are quoted, items by position are numbers', () => {
    const annotated = { 'f:metadata': { 'f:annotations': { 'f:holdfast.dev/applied': {} } } };
    expect(fieldOwner([entry('x', '', annotated)], 'metadata.annotations["holdfast.dev/applied"]')?.manager).toBe('x');
    const indexed = { 'f:spec': { 'f:args': { 'i:1': {} } } };
    expect(fieldOwner([entry('x', '', indexed)], 'spec.args[1]')?.manager).toBe('x');
    expect(fieldOwner([entry('x', '', indexed)], 'spec.args[0]')).toBeNull();
  });

  test('a path that cannot be read is a mistake in code, and says where', () => {
    expect(() => fieldOwner([], '')).toThrow('no field path');
    expect(() => fieldOwner([], 'spec.[')).toThrow('"spec.[" is no field path: cannot read it from ".["');
    expect(() => fieldOwner([], 'spec]')).toThrow('cannot read it from "]"');
  });

  property.prop([fc.jsonValue()])('any fieldsV1 is read without an error', (fieldsV1) => {
    expect(fieldOwners([{ manager: 'x', fieldsV1 }], image).length).toBeLessThanOrEqual(1);
  });
});
