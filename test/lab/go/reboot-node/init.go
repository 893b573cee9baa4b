package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const (
	restartPause = time.Second
	// No machine goes down in the very moment that it is asked. One that did would often catch containerd before it has
	// written down that the asking container was started, and the kubelet then leaves that pod Pending for ever.
	stopPause = 500 * time.Millisecond
	stopGrace = 3 * time.Second
)

// initialise is the first process of a boot: it makes the node's view of the machine, starts its services, and waits until
// it is asked to go down. When it ends, the kernel kills everything that is left on the node.
func initialise(s settings) error {
	if err := refuseUnlessFirst(); err != nil {
		return err
	}
	if err := refuseUnlessHarmless(); err != nil {
		return err
	}
	// Signals from within the node must not end it: it goes down when it is asked, or with its power. They are received and
	// not ignored, since what is ignored stays so in every program that is started.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	if err := clearRun(s); err != nil {
		return err
	}
	hierarchies, err := cgroupMounts()
	if err != nil {
		return err
	}
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	if err := mountRoot(s, hierarchies); err != nil {
		return err
	}
	if err := refuseForeignCommands(s, program); err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte(s.Name)); err != nil {
		return err
	}
	if err := exec.Command("ip", "link", "set", "lo", "up").Run(); err != nil {
		return err
	}
	if err := relayOnNode(s); err != nil {
		return err
	}
	asked, err := listenForCommands(s)
	if err != nil {
		return err
	}
	services := newServices()
	for _, u := range s.Units {
		go services.keep(u)
	}
	code := <-asked
	time.Sleep(stopPause)
	services.stop()
	os.Exit(code)
	return nil
}

// clearRun empties what does not outlive a boot, with the file that said that a reboot is required.
func clearRun(s settings) error {
	f, err := s.faults()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(s.folder("run"))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		isSentinel := entry.Name() == "reboot-required" || entry.Name() == "reboot-required.pkgs"
		if isSentinel && f.KeepsSentinel {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.folder("run"), entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// refuseForeignCommands reads what the node would run when it is told to reboot.
func refuseForeignCommands(s settings, program []byte) error {
	if len(s.Commands) == 0 {
		return errors.New("refused: the settings do not say which commands are the node's own")
	}
	for _, command := range s.Commands {
		found, err := os.ReadFile(command)
		if err != nil {
			return err
		}
		if !bytes.Equal(found, program) {
			return fmt.Errorf("refused: %s on the node is not the lab's", command)
		}
	}
	return nil
}
