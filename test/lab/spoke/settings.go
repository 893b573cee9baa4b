package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// settings are what an image's environment says.
type settings struct {
	port            string
	stateDir        string
	version         string
	agents          []agent
	initialisation  time.Duration
	resetPlacements bool
	errorRatio      string
	faults          faults
}

func readSettings() (settings, error) {
	s := settings{
		port:            orDefault("PORT", "8080"),
		stateDir:        orDefault("STATE_DIR", "/state"),
		version:         orDefault("SPOKE_VERSION", "unknown"),
		resetPlacements: os.Getenv("SPOKE_RESET_PLACEMENTS") == "true",
		errorRatio:      orDefault("SPOKE_ERROR_RATIO", "0"),
	}
	if text := os.Getenv("SPOKE_AGENTS"); text != "" {
		if err := json.Unmarshal([]byte(text), &s.agents); err != nil {
			return s, fmt.Errorf("SPOKE_AGENTS is not a list of agents: %w", err)
		}
	}
	if text := os.Getenv("SPOKE_INIT"); text != "" {
		wait, err := time.ParseDuration(text)
		if err != nil {
			return s, fmt.Errorf("SPOKE_INIT is not a duration: %w", err)
		}
		s.initialisation = wait
	}
	found, err := parseFaults(os.Getenv("SPOKE_FAULT"))
	s.faults = found
	return s, err
}

func orDefault(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
