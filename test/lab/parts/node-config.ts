import { join } from 'node:path';
import { PAUSE_IMAGE } from './pause-image.ts';

export interface PodNetwork {
  bridge: string;
  /** As in `10.90.0.0/17`; its first address is the node's own. */
  subnet: string;
  /** Whether the network plugin makes the bridge [false: it is there already]. */
  makesBridge: boolean;
  /** Where the plugin notes the addresses that are taken. */
  dataDir: string;
}

/** The pods' network: one bridge, addresses of one subnet, and no route to anywhere else. */
export function cniConfig({ bridge, subnet, makesBridge, dataDir }: PodNetwork): object {
  const prefix = subnet.replace(/\.0\/\d+$/, '');
  const range = { subnet, rangeStart: `${prefix}.2`, gateway: `${prefix}.1` };
  return {
    cniVersion: '0.4.0',
    name: bridge,
    plugins: [
      {
        type: 'bridge',
        bridge,
        isGateway: makesBridge,
        ipMasq: false,
        ipam: { type: 'host-local', dataDir, ranges: [[range]] },
      },
      { type: 'loopback' },
    ],
  };
}

export interface ContainerdPaths {
  root: string;
  state: string;
  socket: string;
  opt: string;
  cniDir: string;
  cniConfigDir: string;
  registryHosts: string;
}

/** containerd's own root, state and socket, beside whatever else runs on the machine. */
export function containerdConfig(paths: ContainerdPaths): string {
  const q = (text: string) => JSON.stringify(text);
  return `version = 2
root = ${q(paths.root)}
state = ${q(paths.state)}
[grpc]
  address = ${q(paths.socket)}
[plugins."io.containerd.internal.v1.opt"]
  path = ${q(paths.opt)}
[plugins."io.containerd.grpc.v1.cri"]
  # Without it runc cannot start a container on a machine that lacks CAP_SYS_RESOURCE.
  restrict_oom_score_adj = true
  sandbox_image = ${q(PAUSE_IMAGE)}
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${q(paths.cniDir)}
    conf_dir = ${q(paths.cniConfigDir)}
  # Registries on the loopback address are asked over plain http as they are; a test may describe others there.
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = ${q(paths.registryHosts)}
`;
}

/**
 * The kubelet's configuration. Back-off of crashing containers and probing are left as they are on real nodes.
 * It answers whoever can reach it on the loopback address: the API server has no client certificate to show.
 */
export function kubeletConfig(
  home: string,
  socket: string,
  ports: { kubelet: number; kubeletHealth: number },
  cgroup: string,
): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    address: '127.0.0.1',
    port: ports.kubelet,
    readOnlyPort: 0,
    healthzBindAddress: '127.0.0.1',
    healthzPort: ports.kubeletHealth,
    containerRuntimeEndpoint: `unix://${socket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    localStorageCapacityIsolation: false,
    // The machine's disk and memory are not the lab's to judge.
    evictionHard: {
      'memory.available': '1Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
      'imagefs.inodesFree': '1%',
    },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    maxPods: 250,
    // Pulls of different images do not wait for each other.
    serializeImagePulls: false,
    registryPullQPS: 0,
    eventRecordQPS: 0,
    // No chains in the machine's packet filter: nothing here is reached by a host port.
    makeIPTablesUtilChains: false,
    podLogsDir: join(home, 'pod-logs'),
    volumePluginDir: join(home, 'volume-plugins'),
    resolvConf: '',
  };
}

/** As the kubelet wants them (kubernetes, pkg/kubelet/cm/container_manager_linux.go). */
export const KERNEL_SETTINGS: Readonly<Record<string, string>> = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};
