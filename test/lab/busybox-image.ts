import { readFileSync } from 'node:fs';
import { findProgram } from './find/find-program.ts';
import { BUSYBOX } from './find/programs.ts';
import { hostArchitecture } from './image-binary.ts';
import { describe, digestOf, jsonBlob, pushBlob, pushManifest } from './image-push.ts';
import { tar } from './image-tar.ts';

const APPLETS = ['sh', 'cat', 'grep', 'nsenter', 'sleep', 'test', 'true', 'wget'];
const REPOSITORY = 'lab/busybox';

/**
 * Pushes an image with a shell and a few small programs to a plain-http registry (`host:port`): what a one-shot pod on a node
 * needs. Unlike the spoke's, its containers can run scripts.
 *
 * @returns the reference, with its digest
 */
export async function pushBusyboxImage(registry: string): Promise<string> {
  const busybox = readFileSync(await findProgram(BUSYBOX, () => {}));
  const content = tar([
    { name: 'bin/', mode: 0o755 },
    { name: 'tmp/', mode: 0o1777 },
    { name: 'bin/busybox', mode: 0o755, content: busybox },
    ...APPLETS.map((name) => ({ name: `bin/${name}`, mode: 0o777, linkTo: 'busybox' })),
  ]);
  const layer = { mediaType: 'application/vnd.oci.image.layer.v1.tar', content };
  const config = jsonBlob('application/vnd.oci.image.config.v1+json', {
    architecture: hostArchitecture(),
    os: 'linux',
    config: { Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'], Cmd: ['/bin/sh'] },
    rootfs: { type: 'layers', diff_ids: [digestOf(content)] },
  });
  await pushBlob(registry, REPOSITORY, layer);
  await pushBlob(registry, REPOSITORY, config);
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = jsonBlob(mediaType, {
    schemaVersion: 2,
    mediaType,
    config: describe(config),
    layers: [describe(layer)],
  });
  const digest = digestOf(manifest.content);
  await pushManifest(registry, REPOSITORY, digest, manifest);
  return `${registry}/${REPOSITORY}@${digest}`;
}
