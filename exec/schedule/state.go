package schedule

import (
	"errors"
	"sync"
	"sync/atomic"
)

// State says whether a query goes on.
type State struct {
	// Stopped says that no worker goes on after its current vector.
	Stopped atomic.Bool

	mu     sync.Mutex
	err    error  // guarded by mu: the first failure
	onFail func() // called after a failure, when the workers have been told to stop
}

// ErrStop ends a pipeline early without being a failure: a LIMIT has its rows, or the client has gone.
var ErrStop = errors.New("schedule: pipeline stopped")

// Fail keeps the first error and stops all workers.
func (s *State) Fail(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
	s.Stopped.Store(true)
	if s.onFail != nil {
		s.onFail()
	}
}

// Failure returns the first error; nil: there was none.
func (s *State) Failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Check returns the query's error once it has been stopped.
func (s *State) Check() error {
	if !s.Stopped.Load() {
		return nil
	}
	if err := s.Failure(); err != nil {
		return err
	}
	return ErrStop
}
