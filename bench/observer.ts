import type { KubeObject, KubernetesPort } from '../src/activities/kubernetes/port.ts';

interface ContainerState {
  readonly waiting?: { readonly reason?: string };
  readonly terminated?: { readonly exitCode?: number };
}

interface Pod extends KubeObject {
  status?: {
    containerStatuses?: {
      restartCount?: number;
      image?: string;
      ready?: boolean;
      state?: ContainerState;
      lastState?: ContainerState;
    }[];
  };
  spec?: { containers?: { image?: string }[] };
}

interface Deployment extends KubeObject {
  spec?: { template?: { spec?: { containers?: { image?: string }[] } } };
}

/** What an observer beside Holdfast saw on the API's own watch, with the time each event reached it. */
export interface Sightings {
  /** A deployment's template took this image, by `name image`. */
  readonly images: ReadonlyMap<string, number>;
  /** First failing status of a pod with this image: terminated, waiting with an error, or restarted. */
  readonly failing: ReadonlyMap<string, number>;
  /** First status of a pod with this image that shows the given word: a waiting reason, `terminated` or `restarted`. */
  first(image: string, words: readonly string[]): number | undefined;
  stop(): void;
}

/**
 * Watches deployments and pods of a namespace. It is a process of its own beside the worker, so both get each event
 * from the API server at about the same time.
 *
 * @param onImage called at once when a deployment's template takes an image
 */
export function observe(
  kubernetes: KubernetesPort,
  namespace: string,
  onImage: (deployment: string, image: string) => void = () => undefined,
): Sightings {
  const ending = new AbortController();
  const images = new Map<string, number>();
  const failing = new Map<string, number>();
  const words = new Map<string, number>();
  const note = (map: Map<string, number>, key: string): boolean => {
    if (map.has(key)) return false;
    map.set(key, performance.timeOrigin + performance.now());
    return true;
  };

  const lastImage = new Map<string, string>();
  const deployments = async (): Promise<void> => {
    const query = { apiVersion: 'apps/v1', kind: 'Deployment', namespace };
    for await (const event of kubernetes.watch<Deployment>(query, { signal: ending.signal })) {
      if (event.type !== 'added' && event.type !== 'modified') continue;
      const name = event.object.metadata.name ?? '';
      const image = event.object.spec?.template?.spec?.containers?.[0]?.image ?? '';
      if (lastImage.get(name) === image) continue;
      // The time at which it was last taken: going back to an image is a new sighting of it.
      images.delete(`${name} ${image}`);
      note(images, `${name} ${image}`);
      lastImage.set(name, image);
      onImage(name, image);
    }
  };
  const pods = async (): Promise<void> => {
    for await (const event of kubernetes.watch<Pod>(
      { apiVersion: 'v1', kind: 'Pod', namespace },
      { signal: ending.signal },
    )) {
      if (event.type !== 'added' && event.type !== 'modified') continue;
      const image = event.object.spec?.containers?.[0]?.image ?? '';
      for (const status of event.object.status?.containerStatuses ?? []) {
        const seen = [
          ...(status.state?.terminated === undefined ? [] : ['terminated']),
          ...((status.restartCount ?? 0) > 0 ? ['restarted'] : []),
          ...(isError(status.state?.waiting?.reason) ? [status.state?.waiting?.reason ?? ''] : []),
        ];
        for (const word of seen) note(words, `${image} ${word}`);
        if (seen.length > 0) note(failing, image);
      }
    }
  };
  const watching = Promise.all([deployments(), pods()]);
  watching.catch((error: unknown) => console.error('the observer has failed', error));
  return {
    images,
    failing,
    first: (image, wanted) => {
      const times = wanted.flatMap((word) => words.get(`${image} ${word}`) ?? []);
      return times.length === 0 ? undefined : Math.min(...times);
    },
    stop: () => ending.abort(),
  };
}

function isError(reason: string | undefined): boolean {
  return reason !== undefined && reason !== 'ContainerCreating' && reason !== 'PodInitializing';
}
