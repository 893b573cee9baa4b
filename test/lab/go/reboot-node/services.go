package main

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// services keeps the node's units running and reaps every process that loses its parent.
type services struct {
	mutex    sync.Mutex
	waiting  map[int]chan struct{}
	stopping bool
	allGone  chan struct{}
}

func newServices() *services {
	s := &services{waiting: map[int]chan struct{}{}, allGone: make(chan struct{})}
	go s.reap()
	return s
}

// keep starts a unit once the file that it needs is there, and again whenever it ends.
func (s *services) keep(u unit) {
	for {
		for u.After != "" && !exists(u.After) {
			time.Sleep(downPoll)
		}
		ended, err := s.start(u)
		if err != nil {
			fmt.Fprintf(os.Stderr, "reboot-node: %s: %v\n", u.Name, err)
		} else if ended == nil {
			return
		} else {
			<-ended
			fmt.Fprintf(os.Stderr, "reboot-node: %s ended\n", u.Name)
		}
		time.Sleep(restartPause)
	}
}

// start gives a channel that is closed when the unit has ended, or none when the node is going down.
func (s *services) start(u unit) (<-chan struct{}, error) {
	// Held until the process is listed, or it could be reaped before anyone waits for it.
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.stopping {
		return nil, nil
	}
	program, err := exec.LookPath(u.Command[0])
	if err != nil {
		return nil, err
	}
	process, err := os.StartProcess(program, u.Command, &os.ProcAttr{
		Files: []*os.File{nil, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	s.waiting[process.Pid] = ended
	return ended, nil
}

// reap collects what has ended: nobody else on the node would.
func (s *services) reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, 0, nil)
		if err == syscall.ECHILD {
			s.mutex.Lock()
			if s.stopping {
				close(s.allGone)
				s.mutex.Unlock()
				return
			}
			s.mutex.Unlock()
			time.Sleep(downPoll)
			continue
		}
		s.mutex.Lock()
		if ended := s.waiting[pid]; ended != nil {
			close(ended)
			delete(s.waiting, pid)
		}
		s.mutex.Unlock()
	}
}

// stop asks everything on the node to end and waits a little. What stays ends with the first process.
func (s *services) stop() {
	s.mutex.Lock()
	s.stopping = true
	s.mutex.Unlock()
	_ = syscall.Kill(-1, syscall.SIGTERM)
	select {
	case <-s.allGone:
	case <-time.After(stopGrace):
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
