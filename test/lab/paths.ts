import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where built and unpacked binaries are kept between runs, a folder for each part and version. */
export function cacheDir(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'holdfast', 'lab');
}

/** Where the labs of this user are listed, so that the next start finds what a killed one left behind. */
export function labsDir(): string {
  return join(process.env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state'), 'holdfast', 'labs');
}

/** The prefix of a lab's state folder when none is asked for. Short, since unix sockets lie in it. */
export function temporaryLabPrefix(): string {
  return join(tmpdir(), 'hf-lab-');
}

/** The files of one lab, all below its state folder. */
export function labFiles(dir: string) {
  return {
    state: join(dir, 'lab.json'),
    processes: join(dir, 'processes'),
    logs: join(dir, 'log'),
    kubeconfig: join(dir, 'kubeconfig'),
    auditLog: join(dir, 'control-plane', 'audit.log'),
    caFile: join(dir, 'control-plane', 'certs', 'apiserver.crt'),
    prometheusTargets: join(dir, 'prometheus', 'targets.json'),
    prometheusRules: join(dir, 'prometheus', 'rules.yml'),
    rebootNode: (name: string) => join(dir, name),
    registryHosts: join(dir, 'node', 'registry-hosts'),
  };
}
