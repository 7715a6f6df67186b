package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"github.com/radish-sql/radish/storage/textfile"
)

// sink is where .output and .once send results: a file, compressed if its name ends in .gz or .zst, or the input of a command behind |.
type sink struct {
	name  string
	to    io.WriteCloser
	close func() error // what is behind to
}

func openSink(name string) (*sink, error) {
	if command, ok := strings.CutPrefix(name, "|"); ok {
		c := systemShell(context.Background(), strings.TrimSpace(command))
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		return &sink{name, untilClosed{in}, func() error {
			if err := c.Wait(); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}}, err
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	packed, err := textfile.NewWriter(f, name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &sink{name, packed, f.Close}, nil
}

// Close ends the file, or waits for the command.
func (s *sink) Close() error {
	err := s.to.Close()
	if e := s.close(); err == nil {
		err = e
	}
	return err
}

// untilClosed writes to a command that may end before it has read everything, as head does.
type untilClosed struct{ io.WriteCloser }

func (u untilClosed) Write(b []byte) (int, error) {
	n, err := u.WriteCloser.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		return len(b), nil
	}
	return n, err
}

// systemShell is a command of the system, which ctx ends.
func systemShell(ctx context.Context, command string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "cmd", "/c", command)
	}
	return exec.CommandContext(ctx, "sh", "-c", command)
}
