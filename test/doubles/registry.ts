import { read, unmeasured, type Reading, type UnmeasuredCause } from '../../src/domain/core/verdict.ts';
import type { RegistryPort, ResolvedImage } from '../../src/activities/registry/port.ts';

/** A registry in this process: tags and images that a test sets, and what was asked of it. */
export interface RegistryDouble extends RegistryPort {
  /** What was asked, such as `headDigest app:v6-latest`. */
  readonly asked: string[];
  /** Stores an image under its tag, if it has one. */
  put(image: Partial<ResolvedImage> & Pick<ResolvedImage, 'repository' | 'digest'>): void;
  remove(repository: string, digest: string): void;
  /** While set, every answer is this. */
  down: UnmeasuredCause | null;
}

export function createRegistryDouble(): RegistryDouble {
  const images = new Map<string, ResolvedImage>();
  const tags = new Map<string, string>();

  function answer<T>(question: string, value: T | undefined): Promise<Reading<T>> {
    double.asked.push(question);
    if (double.down !== null) {
      return Promise.resolve(unmeasured(question, 'registry', double.down, 'the registry does not answer'));
    }
    if (value === undefined)
      return Promise.resolve(unmeasured(question, 'registry', 'missing', `${question}: unknown`));
    return Promise.resolve(read(value));
  }

  const double: RegistryDouble = {
    asked: [],
    down: null,
    put(image) {
      const whole: ResolvedImage = {
        tag: null,
        mediaType: 'application/vnd.oci.image.index.v1+json',
        labels: {},
        revision: null,
        platforms: ['linux/amd64'],
        unplatformed: 0,
        platformDigests: { 'linux/amd64': image.digest },
        ...image,
      };
      images.set(`${image.repository}@${image.digest}`, whole);
      if (whole.tag !== null) tags.set(`${image.repository}:${whole.tag}`, image.digest);
    },
    remove(repository, digest) {
      images.delete(`${repository}@${digest}`);
      for (const [tag, to] of tags) if (to === digest && tag.startsWith(`${repository}:`)) tags.delete(tag);
    },
    resolveTag(repository, tag) {
      const digest = tags.get(`${repository}:${tag}`);
      return answer(
        `resolveTag ${repository}:${tag}`,
        digest === undefined ? undefined : images.get(`${repository}@${digest}`),
      );
    },
    resolveDigest: (repository, digest) =>
      answer(`resolveDigest ${repository}@${digest}`, images.get(`${repository}@${digest}`)),
    headDigest(repository, what) {
      const digest = images.has(`${repository}@${what}`) ? what : tags.get(`${repository}:${what}`);
      return answer(`headDigest ${repository}:${what}`, digest);
    },
    listTags(repository) {
      const found = [...tags.keys()]
        .filter((t) => t.startsWith(`${repository}:`))
        .map((t) => t.slice(repository.length + 1));
      return answer(`listTags ${repository}`, found);
    },
  };
  return double;
}
