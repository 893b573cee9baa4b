import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, digestOf, jsonBlob } from '../image-push.ts';
import { tar } from '../image-tar.ts';

/** The image of the container that holds a pod's network; imported, never pulled. */
export const PAUSE_IMAGE = 'holdfast.dev/lab/pause:1';

/** Puts the image into a containerd, by the client that lies beside it. `archive` is the file to pass it in. */
export function importPauseImage(
  programs: { containerd: string; busybox: string },
  socket: string,
  archive: string,
): void {
  writeFileSync(archive, pauseImageArchive(programs.busybox));
  const ctr = join(dirname(programs.containerd), 'ctr');
  execFileSync(ctr, ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', archive], { stdio: 'pipe' });
}

/** An OCI archive of an image whose command sleeps, made of one static busybox. */
function pauseImageArchive(busybox: string): Buffer {
  const layer = {
    mediaType: 'application/vnd.oci.image.layer.v1.tar',
    content: tar([
      { name: 'bin/', mode: 0o755 },
      { name: 'bin/busybox', mode: 0o755, content: readFileSync(busybox) },
    ]),
  };
  const config = jsonBlob('application/vnd.oci.image.config.v1+json', {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Cmd: ['/bin/busybox', 'sleep', '2147483647'] },
    rootfs: { type: 'layers', diff_ids: [digestOf(layer.content)] },
  });
  const manifest = jsonBlob('application/vnd.oci.image.manifest.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: describe(config),
    layers: [describe(layer)],
  });
  const index = {
    schemaVersion: 2,
    manifests: [{ ...describe(manifest), annotations: { 'io.containerd.image.name': PAUSE_IMAGE } }],
  };
  const text = (value: unknown) => Buffer.from(JSON.stringify(value));
  return tar([
    { name: 'oci-layout', mode: 0o644, content: text({ imageLayoutVersion: '1.0.0' }) },
    { name: 'index.json', mode: 0o644, content: text(index) },
    { name: 'blobs/', mode: 0o755 },
    { name: 'blobs/sha256/', mode: 0o755 },
    ...[layer, config, manifest].map(({ content }) => ({
      name: `blobs/sha256/${digestOf(content).replace('sha256:', '')}`,
      mode: 0o644,
      content,
    })),
  ]);
}
