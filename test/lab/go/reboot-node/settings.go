package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// settings are what a node is, from a file that stays as it is while the node exists.
type settings struct {
	Name string `json:"name"`
	// Home holds the node's folders: what it writes to its disk (disk, containerd, kubelet), what is gone with each boot (run), and what the
	// test and the node both see (shared).
	Home string `json:"home"`
	// Cgroup is the node's own, below each hierarchy. It exists already.
	Cgroup string `json:"cgroup"`
	// Folders are shown on the node where they are on the machine.
	Folders []string `json:"folders"`
	// KernelSettings are files to show in place of what a kubelet would change for the whole machine, by name below /proc/sys.
	KernelSettings map[string]string `json:"kernelSettings"`
	// Commands are the files on the node that must be this program and no other.
	Commands []string `json:"commands"`
	// ToMachine are ports of the machine's loopback address that are reached on the node's, ToNode the other way round.
	ToMachine []int `json:"toMachine"`
	ToNode    []int `json:"toNode"`
	// Units are started in this order and again when they end.
	Units []unit `json:"units"`

	file string
}

type unit struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	// After is a file that must be there first.
	After string `json:"after"`
}

// faults are what a test wants to go wrong, read anew each time they matter.
type faults struct {
	// BootMs is how long the node stays down on each boot, in milliseconds.
	BootMs int `json:"bootMs"`
	// Returns says what brings it back: "by-itself", "power-button" or "never".
	Returns string `json:"returns"`
	// IgnoresReboot: the command succeeds and nothing happens.
	IgnoresReboot bool `json:"ignoresReboot"`
	// RebootsAgainAfterMs is how long after a boot that a reboot asked for the node reboots once more; 0 for not at all.
	RebootsAgainAfterMs int `json:"rebootsAgainAfterMs"`
	// KeepsSentinel: the file that says that a reboot is required is still there after a boot.
	KeepsSentinel bool `json:"keepsSentinel"`
}

func readSettings(file string) (settings, error) {
	s := settings{file: file}
	text, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

func (s settings) folder(name string) string { return filepath.Join(s.Home, name) }

func (s settings) shared(name string) string { return filepath.Join(s.Home, "shared", name) }

func (s settings) faults() (faults, error) {
	var f faults
	text, err := os.ReadFile(s.shared("faults.json"))
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(text, &f)
}

// publish writes a file for tests at once as a whole.
func (s settings) publish(name, content string) error {
	unfinished := s.shared(name + ".new")
	if err := os.WriteFile(unfinished, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(unfinished, s.shared(name))
}

// record adds a line to the log of what happened to the node, which tests read.
func (s settings) record(event string, fields map[string]any) error {
	line := map[string]any{"at": time.Now().UTC().Format(time.RFC3339Nano), "event": event}
	for name, value := range fields {
		line[name] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(s.shared("events.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.Write(append(text, '\n'))
	return err
}
