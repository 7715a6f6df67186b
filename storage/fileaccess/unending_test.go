package fileaccess

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// A read that waits ends with its context, and says so. An end of a pipe stands for files of the system's that wait.
func TestUnendingFiles(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := newUnending(ctx, r)
	s := f.Stream()
	defer s.Close()
	if _, err := w.WriteString("some"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 10)
	if n, err := s.Read(b); n != 4 || err != nil {
		t.Fatalf("%q, %v", b[:n], err)
	}
	done := make(chan error)
	go func() {
		_, err := s.Read(b)
		done <- err
	}()
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, sqlerr.Cancelled) {
			t.Errorf("%v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the read goes on")
	}
}
