package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// What /dev holds on a node: none of the machine's disks, memory or watchdogs, so that a privileged pod has none either.
var devices = []struct {
	name         string
	major, minor int
}{
	{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"kmsg", 1, 11}, {"tty", 5, 0},
}

// mountRoot makes the file system that a boot sees, and makes it the root: the machine's files below what the node writes.
func mountRoot(s settings, hierarchies []cgroupMount) error {
	if err := mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	root := s.folder("root")
	layers := fmt.Sprintf("lowerdir=/,upperdir=%s,workdir=%s", s.folder("disk"), s.folder("work"))
	if err := mount("overlay", root, "overlay", 0, layers); err != nil {
		return err
	}
	steps := []struct {
		source, target, kind, options string
		flags                         uintptr
	}{
		{"proc", "/proc", "proc", "", 0},
		{"sysfs", "/sys", "sysfs", "", 0},
		{"tmpfs", "/sys/fs/cgroup", "tmpfs", "mode=755", 0},
		{"tmpfs", "/dev", "tmpfs", "mode=755", 0},
		{"tmpfs", "/tmp", "tmpfs", "mode=1777", 0},
		{s.folder("run"), "/run", "", "", syscall.MS_BIND},
	}
	for _, step := range steps {
		if err := mount(step.source, filepath.Join(root, step.target), step.kind, step.flags, step.options); err != nil {
			return err
		}
	}
	for _, folder := range append(s.Folders, s.folder("shared")) {
		if err := bindFolder(folder, filepath.Join(root, folder)); err != nil {
			return err
		}
	}
	// Layers of containers cannot lie on layers.
	for _, name := range []string{"containerd", "kubelet"} {
		if err := bindFolder(s.folder(name), filepath.Join(root, "var/lib", name)); err != nil {
			return err
		}
	}
	for _, h := range hierarchies {
		if err := mountCgroup(h, root); err != nil {
			return err
		}
	}
	if err := fillDev(filepath.Join(root, "dev")); err != nil {
		return err
	}
	if err := maskKernel(s, filepath.Join(root, "proc")); err != nil {
		return err
	}
	return changeRoot(root)
}

// mountCgroup shows a hierarchy with the node's own cgroup as its root. In version 2 processes may only be in leaves.
func mountCgroup(h cgroupMount, root string) error {
	target := filepath.Join(root, h.folder)
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	if h.kind == "cgroup" {
		return mount("cgroup", target, "cgroup", 0, h.options)
	}
	if err := mount("cgroup2", target, "cgroup2", 0, ""); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(target, "init"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(target, "init", "cgroup.procs"), []byte("0"), 0o644)
}

func fillDev(dev string) error {
	for _, device := range devices {
		number := device.major<<8 | device.minor
		if err := syscall.Mknod(filepath.Join(dev, device.name), syscall.S_IFCHR|0o666, number); err != nil {
			return fmt.Errorf("%s: %w", device.name, err)
		}
	}
	for _, folder := range []string{"pts", "shm"} {
		if err := os.Mkdir(filepath.Join(dev, folder), 0o755); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	if err := mount("devpts", filepath.Join(dev, "pts"), "devpts", 0, "newinstance,ptmxmode=0666,mode=620"); err != nil {
		return err
	}
	return mount("tmpfs", filepath.Join(dev, "shm"), "tmpfs", 0, "mode=1777")
}

// maskKernel gives the node its own boot id, and keeps what it would change for the whole machine in files of its own.
func maskKernel(s settings, proc string) error {
	over := map[string]string{filepath.Join(proc, "sys/kernel/random/boot_id"): s.shared("boot-id")}
	for name, file := range s.KernelSettings {
		over[filepath.Join(proc, "sys", name)] = file
	}
	// Writing a letter into it would reboot the machine at once.
	over[filepath.Join(proc, "sysrq-trigger")] = "/dev/null"
	for target, source := range over {
		if _, err := os.Stat(target); os.IsNotExist(err) {
			continue
		}
		if err := mount(source, target, "", syscall.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}

// changeRoot leaves the machine's files behind. Mounts of pods must be seen by the kubelet, hence shared.
func changeRoot(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := syscall.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the machine's files: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, "")
}

func bindFolder(source, target string) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	return mount(source, target, "", syscall.MS_BIND, "")
}

func mount(source, target, kind string, flags uintptr, options string) error {
	if err := syscall.Mount(source, target, kind, flags, options); err != nil {
		return fmt.Errorf("mount %s on %s: %w", source, target, err)
	}
	return nil
}
