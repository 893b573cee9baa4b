import { join } from 'node:path';
import { PAUSE_IMAGE } from './pause-image.ts';

/** The pods' network: one bridge, addresses from 10.N.0.2 on, and no route to anywhere else. */
export function cniConfig(home: string, bridge: string, network: number): object {
  const range = { subnet: `10.${network}.0.0/17`, rangeStart: `10.${network}.0.2`, gateway: `10.${network}.0.1` };
  return {
    cniVersion: '0.4.0',
    name: bridge,
    plugins: [
      {
        type: 'bridge',
        bridge,
        isGateway: false,
        ipMasq: false,
        ipam: { type: 'host-local', dataDir: join(home, 'cni-data'), ranges: [[range]] },
      },
      { type: 'loopback' },
    ],
  };
}

/** containerd's own root, state and socket, beside whatever else runs on the machine. */
export function containerdConfig(home: string, cniDir: string, registryHosts: string): string {
  const q = (text: string) => JSON.stringify(text);
  return `version = 2
root = ${q(join(home, 'containerd'))}
state = ${q(join(home, 'containerd-state'))}
[grpc]
  address = ${q(join(home, 'containerd.sock'))}
[plugins."io.containerd.internal.v1.opt"]
  path = ${q(join(home, 'opt'))}
[plugins."io.containerd.grpc.v1.cri"]
  # Without it runc cannot start a container on a machine that lacks CAP_SYS_RESOURCE.
  restrict_oom_score_adj = true
  sandbox_image = ${q(PAUSE_IMAGE)}
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${q(cniDir)}
    conf_dir = ${q(join(home, 'cni'))}
  # Registries on the loopback address are asked over plain http as they are; a test may describe others there.
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = ${q(registryHosts)}
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
