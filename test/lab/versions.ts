/**
 * Every version that the lab pins, in one place. A cached binary is keyed by the version here, so that changing one line
 * builds that part anew and nothing else. The Go versions are repeated in `go/<module>/go.mod`, which also pins what they
 * depend on.
 */
export const VERSIONS = {
  kubernetes: '1.34.2',
  etcd: '3.6.4',
  kwok: '0.7.0',
  registry: '3.0.0',
  temporal: '1.9.1',
  keycloak: '26.7.3',
} as const;

/**
 * Parts that come from the distribution's packages: what was tried. Another version is taken as it is, since these are
 * used through interfaces that have been stable for years (containerd's version 2 configuration, CNI 0.4.0).
 */
export const DEBIAN_PACKAGES = {
  containerd: 'containerd',
  runc: 'runc',
  cni: 'containernetworking-plugins',
  busybox: 'busybox-static',
  prometheus: 'prometheus',
  chromium: 'chromium',
} as const;

/** What downloads Maven artifacts; its own version is pinned as everything else is. */
export const MAVEN_DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';
