import { imageParts } from '../../../src/domain/release/deployed-image.ts';
import type { Happening } from './changes.ts';
import { CONTAINER } from './stage.ts';

/** A pod, as far as the timeline tells of it. */
export interface Pod {
  metadata: { name: string; creationTimestamp?: string; labels?: Readonly<Record<string, string>> };
  spec: { containers: { name: string; image: string }[] };
  status?: {
    conditions?: { type: string; status: string }[];
    containerStatuses?: { name: string; state?: { terminated?: Ended }; lastState?: { terminated?: Ended } }[];
  };
}

interface Ended {
  exitCode: number;
  containerID?: string;
}

/**
 * Tells what is new about a pod: that it became ready, that its container ended badly.
 *
 * @param since epoch milliseconds; older pods were there before the story
 */
export function createPodWatch(since: number): (pod: Pod) => readonly Happening[] {
  const told = new Set<string>();
  const once = (key: string) => !told.has(key) && told.add(key) !== undefined;
  return (pod) => {
    const { name, creationTimestamp = '' } = pod.metadata;
    if (Date.parse(creationTimestamp) < since) return [];
    const image = pod.spec.containers.find((container) => container.name === CONTAINER)?.image ?? '';
    const what = `${pod.metadata.labels?.['app'] ?? name}: the pod on ${imageParts(image).tag ?? image}`;
    const status = pod.status?.containerStatuses?.find((container) => container.name === CONTAINER);
    const ended = status?.state?.terminated ?? status?.lastState?.terminated;
    const ready = pod.status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
    const news: Happening[] = [];
    if (ready && once(name)) news.push({ text: `${what} is ready`, tone: 'plain' });
    if (ended !== undefined && ended.exitCode !== 0 && once(ended.containerID ?? name)) {
      news.push({ text: `${what} ended with exit code ${ended.exitCode}`, tone: 'bad' });
    }
    return news;
  };
}
