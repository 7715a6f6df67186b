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
		c := &commandInput{name: name, command: strings.TrimSpace(command)}
		return &sink{name, c, func() error { return nil }}, nil
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

// commandInput is the input of a command, which starts when there is something for it: a pager should not wait beside the prompt.
type commandInput struct {
	name, command string
	running       *exec.Cmd
	in            io.WriteCloser
}

func (c *commandInput) Write(b []byte) (n int, err error) {
	if c.running == nil {
		c.running = systemShell(context.Background(), c.command)
		c.running.Stdout, c.running.Stderr = os.Stdout, os.Stderr
		if c.in, err = c.running.StdinPipe(); err == nil {
			err = c.running.Start()
		}
		if err != nil {
			return 0, err
		}
	}
	n, err = c.in.Write(b)
	if errors.Is(err, syscall.EPIPE) { // it needs no more, as head
		return len(b), nil
	}
	return n, err
}

// Close waits for the command to end.
func (c *commandInput) Close() error {
	if c.running == nil || c.in == nil {
		return nil
	}
	err := c.in.Close()
	if e := c.running.Wait(); e != nil {
		return fmt.Errorf("%s: %w", c.name, e)
	}
	return err
}

// systemShell is a command of the system, which ctx ends.
func systemShell(ctx context.Context, command string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "cmd", "/c", command)
	}
	return exec.CommandContext(ctx, "sh", "-c", command)
}
