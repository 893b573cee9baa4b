package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

const (
	prCapBSetDrop = 24
	cloneCgroup   = 0x02000000
)

// takenAway are rights over the whole machine that no namespace limits: nothing on a node has them, privileged pods included.
// Numbers as in linux/capability.h.
var takenAway = map[string]uint{"CAP_SYS_MODULE": 16, "CAP_SYS_RAWIO": 17, "CAP_SYS_BOOT": 22, "CAP_SYS_TIME": 25}

// enter puts the first process of a boot into the node's cgroup, makes that the root of a cgroup namespace, and gives up the
// rights that a node must not have. Namespace and rights are those of a thread: the program is executed anew from it.
func enter(s settings) error {
	if err := refuseUnlessFirst(); err != nil {
		return err
	}
	runtime.LockOSThread()
	hierarchies, err := cgroupMounts()
	if err != nil {
		return err
	}
	for _, h := range hierarchies {
		removeBelow(filepath.Join(h.folder, s.Cgroup))
		if h.kind == "cgroup2" {
			enableControllers(h.folder, s.Cgroup)
		}
		if err := os.WriteFile(filepath.Join(h.folder, s.Cgroup, "cgroup.procs"), []byte("0"), 0o644); err != nil {
			return fmt.Errorf("the node cannot have a cgroup of its own: %w", err)
		}
	}
	if err := syscall.Unshare(cloneCgroup); err != nil {
		return fmt.Errorf("the node cannot have a cgroup namespace of its own: %w", err)
	}
	for name, number := range takenAway {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prCapBSetDrop, uintptr(number), 0); errno != 0 {
			return fmt.Errorf("the node cannot give up %s: %w", name, errno)
		}
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(program, []string{"reboot-node", "init", s.file}, os.Environ())
}

// refuseUnlessFirst is what keeps the machine safe: in a process namespace of one's own everything ends with its first process.
func refuseUnlessFirst() error {
	if os.Getpid() != 1 {
		return errors.New("refused: a node boots only in a process namespace of its own, as its first process")
	}
	return nil
}

// refuseUnlessHarmless reads what the kernel says about this process and all that it will start.
func refuseUnlessHarmless() error {
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(status), "\n") {
		set, found := strings.CutPrefix(line, "CapBnd:")
		if !found {
			continue
		}
		rights, err := strconv.ParseUint(strings.TrimSpace(set), 16, 64)
		if err != nil {
			return err
		}
		for name, number := range takenAway {
			if rights&(1<<number) != 0 {
				return fmt.Errorf("refused: the node still has %s", name)
			}
		}
		return nil
	}
	return errors.New("refused: the kernel does not say which rights the node has")
}

type cgroupMount struct {
	folder  string
	kind    string
	options string
}

// cgroupMounts are the hierarchies of the machine: one in version 2, one for each controller in version 1.
func cgroupMounts() ([]cgroupMount, error) {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	var found []cgroupMount
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 4 || (fields[2] != "cgroup" && fields[2] != "cgroup2") {
			continue
		}
		var options []string
		for _, option := range strings.Split(fields[3], ",") {
			if option != "rw" && option != "ro" && option != "relatime" && !strings.HasPrefix(option, "no") {
				options = append(options, option)
			}
		}
		found = append(found, cgroupMount{folder: fields[1], kind: fields[2], options: strings.Join(options, ",")})
	}
	return found, nil
}

// enableControllers hands the controllers of version 2 down to the node's cgroup, each level to the next.
func enableControllers(root, cgroup string) {
	folder := root
	for _, name := range strings.Split(cgroup, "/") {
		controllers, _ := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
		for _, controller := range strings.Fields(string(controllers)) {
			// One that cannot be handed down is missed by the kubelet, which says so.
			_ = os.WriteFile(filepath.Join(folder, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
		}
		folder = filepath.Join(folder, name)
	}
}

// removeBelow removes the cgroups of the boot before, whose processes are dead: the kubelet would wait seconds for each.
func removeBelow(cgroup string) {
	entries, _ := os.ReadDir(cgroup)
	for _, entry := range entries {
		if entry.IsDir() {
			below := filepath.Join(cgroup, entry.Name())
			removeBelow(below)
			_ = os.Remove(below)
		}
	}
}
