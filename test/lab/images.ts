import type { Blob, Descriptor } from './image-push.ts';
import { describe, digestOf, jsonBlob, pullManifest, pushBlob, pushManifest, removeManifest } from './image-push.ts';
import type { GoTarget } from './image-binary.ts';
import { hostArchitecture, spokeBinary } from './image-binary.ts';
import { tar } from './image-tar.ts';

const INDEX = 'application/vnd.oci.image.index.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar';
const STATEMENT = 'application/vnd.in-toto+json';

/** An agent of a spoke, with its placement. */
export interface SpokeAgent {
  readonly name: string;
  readonly backend: string;
  readonly model: string;
  readonly effort: string;
  readonly paused: boolean;
}

/** A spoke image to be built. */
export interface ImageSpec {
  /** Path in the registry, such as `shop/web`. */
  readonly repository: string;
  readonly tag?: string | readonly string[];
  /** What `/api/health` and `--version` answer, and the label `org.opencontainers.image.version`. */
  readonly version: string;
  /** The label `org.opencontainers.image.revision`. */
  readonly revision?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Such as `arm64` or `arm/v7` [this machine's]. More than one gives an index. */
  readonly architectures?: readonly string[];
  /** An index also for one architecture. */
  readonly index?: boolean;
  /** An attestation entry beside each image, under platform unknown/unknown, as buildx pushes it. Gives an index. */
  readonly attestation?: boolean;
  /** Further environment of the image, such as `SPOKE_INIT: 3s` or `SPOKE_RESET_PLACEMENTS: 'true'`. */
  readonly env?: Readonly<Record<string, string>>;
  /** `SPOKE_FAULT`, such as `crash-start` or `crash-after=5s`: see spoke/faults.go. */
  readonly fault?: string;
  /** The image's default agents [none]. */
  readonly agents?: readonly SpokeAgent[];
  /** Arguments of the spoke [none: serve], such as `['sleep', '2147483647']` for a sandbox image. */
  readonly args?: readonly string[];
}

/** A pushed image. */
export interface PushedImage {
  /** `host:port/repository:tag@digest`, with the first tag. */
  readonly reference: string;
  /** `host:port/repository` */
  readonly repository: string;
  /** Of the index where there is one, else of the manifest. */
  readonly digest: string;
  /** Digest of each platform's manifest, by `linux/amd64`. */
  readonly manifests: Readonly<Record<string, string>>;
}

/**
 * Builds a spoke image and pushes it to a plain-http registry (`host:port`). The same spec gives the same digest.
 */
export async function pushSpokeImage(registry: string, spec: ImageSpec): Promise<PushedImage> {
  const targets = (spec.architectures ?? [hostArchitecture()]).map(parseArchitecture);
  const manifests: Record<string, string> = {};
  const entries: object[] = [];
  let top: Blob | undefined;
  for (const target of targets) {
    const manifest = await pushPlatform(registry, spec, target);
    const { digest } = await pushManifest(registry, spec.repository, digestOf(manifest.content), manifest);
    const platform = platformOf(target);
    manifests[['linux', target.architecture, target.variant].filter((part) => part !== undefined).join('/')] = digest;
    entries.push({ ...describe(manifest), platform });
    if (spec.attestation) entries.push(await pushAttestation(registry, spec.repository, digest));
    top = manifest;
  }
  if (top === undefined) throw new Error(`image ${spec.repository}: architectures is empty`);
  if (targets.length > 1 || spec.index || spec.attestation) {
    top = jsonBlob(INDEX, { schemaVersion: 2, mediaType: INDEX, manifests: entries });
  }
  const digest = digestOf(top.content);
  const tags = typeof spec.tag === 'string' ? [spec.tag] : (spec.tag ?? []);
  for (const name of tags.length > 0 ? tags : [digest]) await pushManifest(registry, spec.repository, name, top);
  const repository = `${registry}/${spec.repository}`;
  const tag = tags[0] === undefined ? '' : `:${tags[0]}`;
  return { reference: `${repository}${tag}@${digest}`, repository, digest, manifests };
}

/** Moves a tag: what is stored under `digest` gets `tag`, too. */
export async function tagImage(registry: string, repository: string, digest: string, tag: string): Promise<void> {
  await pushManifest(registry, repository, tag, await pullManifest(registry, repository, digest));
}

/** Removes a manifest, and with it every tag that points to it. */
export async function deleteManifest(registry: string, repository: string, digest: string): Promise<void> {
  await removeManifest(registry, repository, digest);
}

function parseArchitecture(text: string): GoTarget {
  const [architecture, variant] = text.replace(/^linux\//, '').split('/');
  if (!architecture) throw new Error(`"${text}" is not an architecture such as arm64 or arm/v7`);
  return variant === undefined ? { architecture } : { architecture, variant };
}

function platformOf(target: GoTarget): object {
  return { architecture: target.architecture, os: 'linux', ...(target.variant ? { variant: target.variant } : {}) };
}

async function pushPlatform(registry: string, spec: ImageSpec, target: GoTarget): Promise<Blob> {
  const content = tar([
    { name: 'spoke', mode: 0o755, content: await spokeBinary(target) },
    { name: 'state/', mode: 0o1777 },
    { name: 'tmp/', mode: 0o1777 },
  ]);
  const layer = await pushBlob(registry, spec.repository, { mediaType: LAYER, content });
  const config = jsonBlob(CONFIG, {
    ...platformOf(target),
    config: {
      Entrypoint: ['/spoke', ...(spec.args ?? [])],
      Env: Object.entries(environment(spec)).map(([name, value]) => `${name}=${value}`),
      ExposedPorts: { '8080/tcp': {} },
      Labels: labels(spec),
    },
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  });
  const configDescriptor = await pushBlob(registry, spec.repository, config);
  return manifestOf(configDescriptor, [layer]);
}

function manifestOf(config: Descriptor, layers: readonly object[]): Blob {
  return jsonBlob(MANIFEST, { schemaVersion: 2, mediaType: MANIFEST, config, layers });
}

function environment(spec: ImageSpec): Record<string, string> {
  return sorted({
    PATH: '/',
    SPOKE_VERSION: spec.version,
    ...(spec.fault === undefined ? {} : { SPOKE_FAULT: spec.fault }),
    ...(spec.agents === undefined ? {} : { SPOKE_AGENTS: JSON.stringify(spec.agents) }),
    ...spec.env,
  });
}

function labels(spec: ImageSpec): Record<string, string> {
  return sorted({
    'org.opencontainers.image.version': spec.version,
    ...(spec.revision === undefined ? {} : { 'org.opencontainers.image.revision': spec.revision }),
    ...spec.labels,
  });
}

function sorted(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** As buildx does: a manifest whose layer is a statement about the image, marked by two annotations. */
async function pushAttestation(registry: string, repository: string, about: string): Promise<object> {
  const statement = jsonBlob(STATEMENT, {
    _type: 'https://in-toto.io/Statement/v0.1',
    predicateType: 'https://slsa.dev/provenance/v0.2',
    subject: [{ name: repository, digest: { sha256: about.replace('sha256:', '') } }],
    predicate: {},
  });
  const layer = await pushBlob(registry, repository, statement);
  const unknown = { architecture: 'unknown', os: 'unknown' };
  const config = jsonBlob(CONFIG, { ...unknown, config: {}, rootfs: { type: 'layers', diff_ids: [layer.digest] } });
  const manifest = manifestOf(await pushBlob(registry, repository, config), [
    { ...layer, annotations: { 'in-toto.io/predicate-type': 'https://slsa.dev/provenance/v0.2' } },
  ]);
  const descriptor = await pushManifest(registry, repository, digestOf(manifest.content), manifest);
  const annotations = {
    'vnd.docker.reference.type': 'attestation-manifest',
    'vnd.docker.reference.digest': about,
  };
  return { ...descriptor, annotations, platform: unknown };
}
