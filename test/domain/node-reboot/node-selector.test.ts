import { expect, test } from 'vitest';
import { nodeSelectorSchema, nodeSelectorText } from '../../../src/domain/node-reboot/node-selector.ts';

const controlPlane = 'node-role.kubernetes.io/control-plane';

test.each([
  [{ matchLabels: { 'kubernetes.io/os': 'linux' } }, 'kubernetes.io/os=linux'],
  [{ matchLabels: { [controlPlane]: '' } }, `${controlPlane}=`],
  [{ matchExpressions: [{ key: controlPlane, operator: 'DoesNotExist' }] }, `!${controlPlane}`],
  [
    {
      matchLabels: { pool: 'a' },
      matchExpressions: [
        { key: 'zone', operator: 'In', values: ['a', 'b'] },
        { key: 'disk', operator: 'NotIn', values: ['hdd'] },
        { key: 'gpu', operator: 'Exists' },
      ],
    },
    'pool=a,zone in (a,b),disk notin (hdd),gpu',
  ],
])('nodes are chosen as Kubernetes chooses them: %j', (selector, text) => {
  expect(nodeSelectorText(nodeSelectorSchema.parse(selector))).toBe(text);
});

test.each([
  [{}, 'expected one label at least'],
  [{ matchLabels: {}, matchExpressions: [] }, 'every node has kubernetes.io/os'],
  [{ matchLabels: { 'node role!': 'x' } }, 'Invalid key'],
  [{ matchLabels: { role: 'x y' } }, 'the value of a label'],
  [{ matchLabels: { role: 'a,!b' } }, 'the value of a label'],
  [{ matchExpressions: [{ key: 'zone', operator: 'In' }] }, 'In needs values'],
  [{ matchExpressions: [{ key: 'zone', operator: 'Exists', values: ['a'] }] }, 'Exists takes no values'],
  [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a)'] }] }, 'the value of a label'],
])('what would choose other nodes than it says, or all of them unsaid, is refused: %j', (selector, message) => {
  const parsed = nodeSelectorSchema.safeParse(selector);
  expect(parsed.error?.message ?? '').toContain(message);
});
