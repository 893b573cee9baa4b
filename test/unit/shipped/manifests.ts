import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';

/** An object of deploy/, with what tests look at. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

const root = new URL('../../../', import.meta.url);

/** A file of the repository, such as `docker-compose.yml`. */
export function shippedText(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

/** A file of the repository that is one YAML document. */
export function shippedYaml<T>(path: string): T {
  return parse(shippedText(path)) as T;
}

/** What `kubectl apply -k FOLDER` creates, in its order, by the kustomization's own list of files and folders. */
export function kustomized(folder: string): Manifest[] {
  const { resources } = shippedYaml<{ resources: string[] }>(`${folder}/kustomization.yaml`);
  return resources.flatMap((resource) => {
    const path = new URL(`file:///${folder}/${resource}`).pathname.slice(1);
    if (!path.endsWith('.yaml')) return kustomized(path);
    return parseAllDocuments(shippedText(path)).map((document) => document.toJS() as Manifest);
  });
}
