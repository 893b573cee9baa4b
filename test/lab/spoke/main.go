// Command spoke is the application that the lab's images carry: a small service with agents, whose faults are set by
// the environment that an image bakes in. Pods built from scratch have no shell, so it also holds the few commands
// that a test runs in a pod.
package main

import (
	"fmt"
	"os"
)

const usage = `usage:
  spoke                 serve (environment: PORT, STATE_DIR, SPOKE_*)
  spoke --version       print the version
  spoke probe URL       GET URL, print the body; exit 0 on a 2xx, else 1
  spoke cat FILE        print FILE
  spoke sleep SECONDS   wait, then exit 0
`

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	if len(args) == 0 {
		return serve()
	}
	switch args[0] {
	case "--version", "version":
		fmt.Println(os.Getenv("SPOKE_VERSION"))
		return 0
	case "probe":
		return probe(args[1:])
	case "cat":
		return cat(args[1:])
	case "sleep":
		return sleep(args[1:])
	}
	return refuse("unknown command %q", args[0])
}

// refuse reports a wrong invocation or a wrong setting: exit code 2, so that a typo in a test is not taken for a fault.
func refuse(format string, args ...any) int {
	fmt.Fprintf(os.Stderr, "spoke: "+format+"\n"+usage, args...)
	return 2
}
