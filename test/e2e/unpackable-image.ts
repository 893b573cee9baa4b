import type { PushedImage } from '../lab/images.ts';
import { digestOf, jsonBlob, pushBlob, pushManifest } from '../lab/image-push.ts';
import { hostArchitecture } from '../lab/image-binary.ts';
import type { Rig } from './rig.ts';

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** Pushes an image whose registry gives out every byte of it, and whose one layer is no archive. */
export async function pushUnpackableImage(rig: Rig, name: string, version: string): Promise<PushedImage> {
  const { registry } = rig.lab;
  const path = `${rig.namespace}/${name}`;
  const content = Buffer.from(`no archive, but version ${version}`);
  const layer = await pushBlob(registry, path, { mediaType: 'application/vnd.oci.image.layer.v1.tar', content });
  const platform = { os: 'linux', architecture: hostArchitecture() };
  const config = await pushBlob(
    registry,
    path,
    jsonBlob('application/vnd.oci.image.config.v1+json', {
      ...platform,
      config: { Labels: { 'org.opencontainers.image.version': version } },
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    }),
  );
  const manifest = jsonBlob(MANIFEST, { schemaVersion: 2, mediaType: MANIFEST, config, layers: [layer] });
  await pushManifest(registry, path, version, manifest);
  const digest = digestOf(manifest.content);
  const repository = `${registry}/${path}`;
  return { reference: `${repository}:${version}@${digest}`, repository, digest, manifests: {} };
}
