// Command reboot-node is a machine of the lab that can be rebooted without any machine being rebooted: a process tree in
// namespaces of its own, whose first process is this program. A reboot ends that tree and starts another one, with another
// boot id. It knows no way to reboot the machine that it runs on, and takes the right to do so from everything it starts.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const usage = `usage:
  reboot-node power SETTINGS    switch the node on, and again after each reboot
  reboot-node enter SETTINGS    (started by power) the first process of a boot, before it has a cgroup namespace
  reboot-node init SETTINGS     (started by enter) the first process of a boot
On the node, under its names there:
  systemctl reboot | poweroff   ask the node's first process
  reboot, poweroff, halt, shutdown
`

func main() {
	name := filepath.Base(os.Args[0])
	if name == "systemctl" || isPowerCommand(name) {
		os.Exit(systemctl(name, os.Args[1:]))
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "reboot-node: "+err.Error())
		os.Exit(exitFailed)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("a mode and a file of settings are needed\n%s", usage)
	}
	s, err := readSettings(args[1])
	if err != nil {
		return err
	}
	switch args[0] {
	case "power":
		return power(s)
	case "enter":
		return enter(s)
	case "init":
		return initialise(s)
	}
	return fmt.Errorf("unknown mode %q\n%s", args[0], usage)
}
