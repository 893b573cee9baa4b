package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// How the first process of a boot ends, beside being killed.
const (
	exitFailed   = 1
	exitReboot   = 100
	exitPowerOff = 101
)

const downPoll = 50 * time.Millisecond

// power is the node's power supply: it boots the node, and again whenever it goes down, as its faults allow.
// SIGUSR1 cuts the power, SIGUSR2 presses the power button.
func power(s settings) error {
	// The death signal of the node is bound to the thread that starts it, so that this must be the main one.
	runtime.LockOSThread()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	if err := relayOnMachine(s); err != nil {
		return err
	}
	for why := "power-button"; ; {
		next, err := powerOn(s, why, signals)
		if err != nil {
			return err
		}
		if err := stayDown(s, next, signals); err != nil {
			return err
		}
		why = next
	}
}

// powerOn boots the node and waits until it is down again; it tells why it went down.
func powerOn(s settings, bootedBy string, signals <-chan os.Signal) (string, error) {
	bootID := newBootID()
	if err := s.publish("boot-id", bootID+"\n"); err != nil {
		return "", err
	}
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	node := exec.Command(program, "enter", s.file)
	node.Stdout, node.Stderr = os.Stdout, os.Stderr
	node.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	if err := node.Start(); err != nil {
		return "", fmt.Errorf("the node cannot have namespaces of its own: %w", err)
	}
	// As the machine counts processes: by it the node's files are found from outside.
	if err := s.publish("pid", strconv.Itoa(node.Process.Pid)); err != nil {
		return "", err
	}
	if err := s.record("boot", map[string]any{"bootId": bootID}); err != nil {
		return "", err
	}
	why, err := untilDown(s, node, bootedBy, signals)
	if err != nil {
		return "", err
	}
	return why, s.record("down", map[string]any{"bootId": bootID, "why": why})
}

func untilDown(s settings, node *exec.Cmd, bootedBy string, signals <-chan os.Signal) (string, error) {
	ended := make(chan error, 1)
	go func() { ended <- node.Wait() }()
	var again <-chan time.Time
	if f, err := s.faults(); err != nil {
		return "", err
	} else if f.RebootsAgainAfterMs > 0 && bootedBy == "reboot" {
		again = time.After(time.Duration(f.RebootsAgainAfterMs) * time.Millisecond)
	}
	cut := ""
	for {
		select {
		case err := <-ended:
			if cut != "" {
				return cut, nil
			}
			return whyDown(err)
		case <-again:
			cut = "reboots-again"
		case received := <-signals:
			if received != syscall.SIGUSR1 {
				continue // the button of a node that is on
			}
			cut = "power-cut"
		}
		// The first process takes the whole namespace with it.
		if err := node.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return "", err
		}
	}
}

func whyDown(err error) (string, error) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return "", fmt.Errorf("the node's first process ended without a reason: %v", err)
	}
	switch exit.ExitCode() {
	case exitReboot:
		return "reboot", nil
	case exitPowerOff:
		return "poweroff", nil
	case exitFailed:
		return "", errors.New("the node does not boot")
	}
	return "power-cut", nil
}

// stayDown waits as long as a boot takes, or until the power button where only that brings the node back.
func stayDown(s settings, why string, signals <-chan os.Signal) error {
	since := time.Now()
	pressed := false
	for {
		select {
		case received := <-signals:
			if received == syscall.SIGUSR2 {
				pressed = true
				// The boot takes as long from here.
				since = time.Now()
				if err := s.record("power-button", nil); err != nil {
					return err
				}
			}
		case <-time.After(downPoll):
		}
		f, err := s.faults()
		if err != nil {
			return err
		}
		returns := f.Returns != "never" && (pressed || (f.Returns == "by-itself" && why != "poweroff"))
		if returns && time.Since(since) >= time.Duration(f.BootMs)*time.Millisecond {
			return nil
		}
	}
}

func newBootID() string {
	b := make([]byte, 16)
	rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
