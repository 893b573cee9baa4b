package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

type server struct {
	settings settings
	roster   *roster
	started  time.Time
	requests atomic.Int64
	probes   atomic.Int64
}

func serve() int {
	s, err := readSettings()
	if err != nil {
		return refuse("%v", err)
	}
	if s.faults.crashStart {
		return crash("crash-start: refusing to start")
	}
	roster, err := openRoster(s)
	if err != nil {
		fmt.Fprintln(os.Stderr, "spoke: cannot read the override journal: "+err.Error())
		return 1
	}
	held := hold(s.faults.memoryMiB)
	server := &server{settings: s, roster: roster, started: time.Now()}

	failed := make(chan error, 1)
	go func() { failed <- http.ListenAndServe(":"+s.port, server.routes()) }()
	fmt.Printf("spoke %s serves on :%s, holding %d MiB\n", s.version, s.port, len(held)>>20)

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	for {
		select {
		case <-stop:
			return 0
		case err := <-failed:
			fmt.Fprintln(os.Stderr, "spoke: "+err.Error())
			return 1
		case <-timer(s.faults.crashAfter, server.started):
			return crash("crash-after: giving up")
		case <-timer(s.faults.loseAgentAfter, server.started):
			roster.lose("")
			s.faults.loseAgentAfter = 0
		}
	}
}

// timer fires at a time after the start; never for zero.
func timer(after time.Duration, started time.Time) <-chan time.Time {
	if after == 0 {
		return nil
	}
	return time.After(time.Until(started.Add(after)))
}

func crash(why string) int {
	fmt.Fprintln(os.Stderr, "spoke: "+why)
	return 1
}

// hold touches every page, so that the memory is really used.
func hold(mebibytes int) []byte {
	held := make([]byte, mebibytes<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	return held
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/health", s.health)
	mux.HandleFunc("GET /ready", s.ready)
	mux.HandleFunc("GET /api/status", s.status)
	mux.HandleFunc("PUT /api/config/agent/{name}/models", s.putModels)
	mux.HandleFunc("GET /metrics", s.metrics)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		mux.ServeHTTP(w, r)
	})
}

func (s *server) up() time.Duration {
	return time.Since(s.started)
}

func (s *server) health(w http.ResponseWriter, r *http.Request) {
	f := s.settings.faults
	if f.crashWhenProbed > 0 && s.probes.Add(1) >= int64(f.crashWhenProbed) {
		os.Exit(crash("crash-when-probed: giving up"))
	}
	if f.healthHangs {
		<-r.Context().Done()
		return
	}
	if f.healthFails.shows(s.up()) {
		answer(w, http.StatusInternalServerError, map[string]any{"status": "failing", "version": s.settings.version})
		return
	}
	answer(w, http.StatusOK, map[string]any{"status": "ok", "version": s.settings.version})
}

func (s *server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.settings.faults.unready.shows(s.up()) {
		answer(w, http.StatusServiceUnavailable, map[string]any{"ready": false})
		return
	}
	answer(w, http.StatusOK, map[string]any{"ready": true})
}

func (s *server) initialising() bool {
	return s.settings.faults.stuck || s.up() < s.settings.initialisation
}

func (s *server) status(w http.ResponseWriter, _ *http.Request) {
	if s.settings.faults.statusFails {
		answer(w, http.StatusInternalServerError, map[string]any{"error": "status-500"})
		return
	}
	if s.initialising() {
		answer(w, http.StatusOK, map[string]any{"initializing": true, "agents": []agent{}})
		return
	}
	answer(w, http.StatusOK, map[string]any{"initializing": false, "agents": s.roster.list()})
}

func (s *server) putModels(w http.ResponseWriter, r *http.Request) {
	if s.initialising() {
		answer(w, http.StatusServiceUnavailable, map[string]any{"error": "still initializing"})
		return
	}
	var body struct{ Backend, Model, Effort string }
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"error": err.Error()})
		return
	}
	if body.Backend == "" || body.Model == "" || body.Effort == "" {
		answer(w, http.StatusBadRequest, map[string]any{"error": "backend, model and effort are required"})
		return
	}
	found, err := s.roster.place(r.PathValue("name"), placement{Backend: body.Backend, Model: body.Model, Effort: body.Effort})
	if err != nil {
		answer(w, http.StatusInternalServerError, map[string]any{"error": err.Error()})
		return
	}
	if !found {
		answer(w, http.StatusNotFound, map[string]any{"error": "no agent " + r.PathValue("name")})
		return
	}
	answer(w, http.StatusOK, map[string]any{"name": r.PathValue("name"), "backend": body.Backend, "model": body.Model, "effort": body.Effort})
}

func (s *server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	fmt.Fprintf(w, "# TYPE spoke_requests_total counter\nspoke_requests_total{version=%q} %d\n", s.settings.version, s.requests.Load())
	fmt.Fprintf(w, "# TYPE spoke_error_ratio gauge\nspoke_error_ratio{version=%q} %s\n", s.settings.version, s.settings.errorRatio)
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		fmt.Fprintln(os.Stderr, "spoke: "+err.Error())
	}
}
