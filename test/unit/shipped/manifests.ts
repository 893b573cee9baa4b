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

interface Kustomization {
  readonly resources: readonly string[];
  readonly configMapGenerator?: readonly Generator[];
}

interface Generator {
  readonly name: string;
  readonly namespace: string;
  readonly behavior?: string;
  readonly files: readonly string[];
}

/** What `kubectl apply -k FOLDER` creates, by the kustomization's own lists, but for the hashes in names of ConfigMaps. */
export function kustomized(folder: string): Manifest[] {
  const { resources, configMapGenerator = [] } = shippedYaml<Kustomization>(`${folder}/kustomization.yaml`);
  const listed = resources.flatMap((resource) => {
    const path = pathFrom(folder, resource);
    if (!path.endsWith('.yaml')) return kustomized(path);
    return parseAllDocuments(shippedText(path)).map((document) => document.toJS() as Manifest);
  });
  return [...listed, ...configMapGenerator.map((generator) => configMapOf(folder, generator))];
}

/** A path of the repository, as a file in one of its folders names it. */
export function pathFrom(folder: string, named: string): string {
  return new URL(`file:///${folder}/${named}`).pathname.slice(1);
}

function configMapOf(folder: string, { name, namespace, files }: Generator): Manifest {
  const data = files.map((file) => {
    const [key = '', path = ''] = file.split('=');
    return [key, shippedText(pathFrom(folder, path))] as const;
  });
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } };
  return { ...object, data: Object.fromEntries(data) } as Manifest;
}
