package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// faults are what SPOKE_FAULT tells: names parted by commas, some with a value.
//
//	crash-start             exit 1 at once
//	crash-after=5s          serve, then exit 1
//	crash-when-probed[=N]   exit 1 on the Nth GET /api/health [1]
//	lose-agent[=NAME]       the agent is not there from the start [the last one]
//	lose-agent-after=5s     the last agent disappears then
//	health-500              GET /api/health answers 500
//	health-500-after=5s     from then on
//	health-hang             GET /api/health never answers
//	never-ready             GET /ready answers 503
//	unready-after=5s        from then on
//	status-500              GET /api/status answers 500
//	stuck-initializing      GET /api/status says initializing for ever
//	memory=64               hold so many MiB
type faults struct {
	crashStart      bool
	crashAfter      time.Duration
	crashWhenProbed int
	loseAgent       *string
	loseAgentAfter  time.Duration
	healthFails     since
	healthHangs     bool
	unready         since
	statusFails     bool
	stuck           bool
	memoryMiB       int
}

// since tells from when after the start a fault shows.
type since struct {
	set   bool
	after time.Duration
}

func (s since) shows(up time.Duration) bool {
	return s.set && up >= s.after
}

func parseFaults(text string) (faults, error) {
	var f faults
	for _, word := range strings.Split(text, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		name, value, _ := strings.Cut(word, "=")
		if err := f.set(name, value); err != nil {
			return f, fmt.Errorf("SPOKE_FAULT %q: %w", word, err)
		}
	}
	return f, nil
}

func (f *faults) set(name, value string) (err error) {
	switch name {
	case "crash-start":
		f.crashStart = true
	case "crash-after":
		f.crashAfter, err = time.ParseDuration(value)
	case "crash-when-probed":
		f.crashWhenProbed = 1
		if value != "" {
			f.crashWhenProbed, err = strconv.Atoi(value)
		}
	case "lose-agent":
		f.loseAgent = &value
	case "lose-agent-after":
		f.loseAgentAfter, err = time.ParseDuration(value)
	case "health-500":
		f.healthFails.set = true
	case "health-500-after":
		f.healthFails.set = true
		f.healthFails.after, err = time.ParseDuration(value)
	case "health-hang":
		f.healthHangs = true
	case "never-ready":
		f.unready.set = true
	case "unready-after":
		f.unready.set = true
		f.unready.after, err = time.ParseDuration(value)
	case "status-500":
		f.statusFails = true
	case "stuck-initializing":
		f.stuck = true
	case "memory":
		f.memoryMiB, err = strconv.Atoi(value)
	default:
		err = fmt.Errorf("no such fault")
	}
	return err
}
