package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

type placement struct {
	Backend string `json:"backend"`
	Model   string `json:"model"`
	Effort  string `json:"effort"`
	Paused  bool   `json:"paused"`
}

type agent struct {
	Name string `json:"name"`
	placement
}

// journal is the content of hive-state.json: the placements that somebody set, by agent.
type journal struct {
	Agents map[string]placement `json:"agents"`
}

// roster holds the agents and their placements: the image's defaults overlaid by the override journal.
type roster struct {
	mutex   sync.Mutex
	agents  []agent
	journal journal
	file    string
}

func openRoster(s settings) (*roster, error) {
	r := &roster{agents: append([]agent{}, s.agents...), file: filepath.Join(s.stateDir, "hive-state.json")}
	if err := r.readJournal(); err != nil {
		return nil, err
	}
	if s.faults.loseAgent != nil {
		r.lose(*s.faults.loseAgent)
	}
	// A version that loses placements comes up with its own defaults, although the journal is still there.
	if s.resetPlacements {
		return r, nil
	}
	for i := range r.agents {
		if set, ok := r.journal.Agents[r.agents[i].Name]; ok {
			r.agents[i].placement = set
		}
	}
	return r, nil
}

func (r *roster) readJournal() error {
	r.journal = journal{Agents: map[string]placement{}}
	content, err := os.ReadFile(r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, &r.journal); err != nil {
		return err
	}
	if r.journal.Agents == nil {
		r.journal.Agents = map[string]placement{}
	}
	return nil
}

func (r *roster) list() []agent {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]agent{}, r.agents...)
}

// place sets backend, model and effort of an agent at once and notes it in the journal; paused stays as it was.
// It reports whether there is such an agent.
func (r *roster) place(name string, wanted placement) (bool, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for i := range r.agents {
		if r.agents[i].Name != name {
			continue
		}
		wanted.Paused = r.agents[i].Paused
		before, had := r.journal.Agents[name]
		r.journal.Agents[name] = wanted
		if err := r.writeJournal(); err != nil {
			delete(r.journal.Agents, name)
			if had {
				r.journal.Agents[name] = before
			}
			return true, err
		}
		r.agents[i].placement = wanted
		return true, nil
	}
	return false, nil
}

// writeJournal replaces the file in one step, so that a reader never sees half of it.
func (r *roster) writeJournal() error {
	content, err := json.Marshal(r.journal)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(r.file+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(r.file+".new", r.file)
}

// lose removes an agent: the named one, or the last one.
func (r *roster) lose(name string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for i := len(r.agents) - 1; i >= 0; i-- {
		if name == "" || r.agents[i].Name == name {
			r.agents = append(r.agents[:i], r.agents[i+1:]...)
			return
		}
	}
}
