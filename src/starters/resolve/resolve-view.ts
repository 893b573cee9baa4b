import { table } from '../output/table.ts';
import type { Resolution } from './resolution.ts';

/** What was resolved, for people. */
export function resolveView(resolution: Resolution): string {
  const { rejected, unplatformed } = resolution;
  const more = unplatformed === 0 ? '' : `, and ${unplatformed} without platform`;
  const facts: (readonly [string, string])[] = [
    ['Reference', resolution.reference ?? '-'],
    ['Tag', resolution.tag ?? '-'],
    ['Digest', resolution.digest ?? '-'],
    ['Label', resolution.label ?? '-'],
    ['Revision', resolution.revision ?? 'the image has no label org.opencontainers.image.revision'],
    ['Version', resolution.version ?? 'neither tag nor labels tell'],
    ['Architectures', `${resolution.architectures.join(', ') || 'none'}${more}`],
  ];
  return [
    ...facts.map(([name, value]) => `${`${name}:`.padEnd(15)}${value}`),
    ...(rejected.length === 0
      ? []
      : [
          '',
          table(
            ['OTHER TAG', 'WHY NOT'],
            rejected.map(({ tag, reason }) => [tag, reason]),
          ),
        ]),
  ].join('\n');
}
