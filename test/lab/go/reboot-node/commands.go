package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
)

// On the node; the first process listens there.
const commandSocket = "/run/reboot-node.sock"

func isPowerCommand(name string) bool {
	return slices.Contains([]string{"reboot", "poweroff", "halt", "shutdown"}, name)
}

// systemctl is the node's command of that name, and `reboot` and its like. It only asks the node's first process, and cannot
// do anything else: where that is not this program it refuses.
func systemctl(name string, args []string) int {
	command := name
	if name == "systemctl" {
		at := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
		if at < 0 {
			return refuseCommand("it wants a command")
		}
		command = args[at]
	}
	if !isPowerCommand(command) {
		return refuseCommand("this node's systemctl knows reboot and poweroff, not " + command)
	}
	if command == "shutdown" && slices.Contains(args, "-r") {
		command = "reboot"
	}
	if command != "reboot" {
		command = "poweroff"
	}
	connection, err := net.Dial("unix", commandSocket)
	if err != nil {
		return refuseCommand("process 1 is not the first process of a node of the lab: " + err.Error())
	}
	defer connection.Close()
	if pid, err := peerOf(connection.(*net.UnixConn)); err != nil || pid != 1 {
		return refuseCommand(fmt.Sprintf("process %d answers, and not the first process of a node of the lab", pid))
	}
	fmt.Fprintln(connection, command)
	if answer, err := bufio.NewReader(connection).ReadString('\n'); err != nil || answer != "ok\n" {
		return refuseCommand("the node's first process does not answer")
	}
	return 0
}

func refuseCommand(reason string) int {
	fmt.Fprintln(os.Stderr, "refused: "+reason)
	return 1
}

func peerOf(connection *net.UnixConn) (int32, error) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *syscall.Ucred
	var failure error
	err = raw.Control(func(fd uintptr) {
		peer, failure = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err != nil {
		return 0, err
	}
	if failure != nil {
		return 0, failure
	}
	return peer.Pid, nil
}

// listenForCommands records each command that the node is given, and passes on the exit code of those that it obeys.
func listenForCommands(s settings) (<-chan int, error) {
	listener, err := net.Listen("unix", commandSocket)
	if err != nil {
		return nil, err
	}
	bootID, err := os.ReadFile(s.shared("boot-id"))
	if err != nil {
		return nil, err
	}
	asked := make(chan int, 1)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			answer(s, strings.TrimSpace(string(bootID)), connection, asked)
		}
	}()
	return asked, nil
}

func answer(s settings, bootID string, connection net.Conn, asked chan<- int) {
	defer connection.Close()
	line, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil {
		return
	}
	command := strings.TrimSpace(line)
	f, err := s.faults()
	if err != nil {
		fmt.Fprintln(os.Stderr, "reboot-node: "+err.Error())
		return
	}
	fields := map[string]any{"bootId": bootID, "command": command, "ignored": f.IgnoresReboot}
	if err := s.record("asked", fields); err != nil {
		fmt.Fprintln(os.Stderr, "reboot-node: "+err.Error())
		return
	}
	fmt.Fprintln(connection, "ok")
	if f.IgnoresReboot {
		return
	}
	code := exitReboot
	if command == "poweroff" {
		code = exitPowerOff
	}
	select {
	case asked <- code:
	default: // on its way down already
	}
}
