package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/textfile"
)

// sink is where --output, .output and .once send results: a file, or the input of a command behind a bar. A file gets its name when it is whole.
type sink struct {
	name   string
	look   render.Format // how results are written; "": as .mode says
	isData bool          // results are written by storage/files, so that FROM can read them
	to     io.WriteCloser
	file   *fileaccess.NewFile // nil: to is no file that has yet to get its name
	pieces int                 // results that have been written
	torn   bool                // there is a part of a result in it
	failed bool                // a statement failed that would have written to it
	bytes  int64               // of strings
}

// looks are the endings of files that are no data to FROM. "" is what .mode says.
var looks = map[string]render.Format{
	".md": render.Markdown, ".markdown": render.Markdown, ".html": render.HTML, ".htm": render.HTML, ".sql": render.Insert, ".txt": "", ".log": "", ".out": "", "": "",
}

// looksOfData are the shell's formats that are the same text as one of storage/files. Other texts have none.
var looksOfData = map[files.Look]render.Format{
	{Format: files.CSV}: render.CSV, {Format: files.CSV, Delimiter: '\t'}: render.TSV,
	{Format: files.JSONLines}: render.JSONLines, {Format: files.JSON}: render.JSON,
}

// lookOf says how results are written to a file of a name: as data, by storage/files, or in a format of the shell's. chosen is the format that
// was asked for by its name; "": none was.
func lookOf(name string, chosen render.Format) (look render.Format, isData bool, err error) {
	if err := files.Check(name); err != nil {
		return "", false, plainly(err)
	}
	ending := strings.ToLower(filepath.Ext(textfile.Trim(name)))
	look, known := looks[ending]
	if known {
		return look, false, nil
	}
	format := files.FormatOf(name)
	if format == files.Unknown {
		if chosen != "" {
			return "", false, nil
		}
		return "", false, fmt.Errorf("no format has the ending '%s' of %s; there are %s, and .md, .html, .sql, .txt; --format or .mode names a format for other names", ending, name, files.Endings())
	}
	return looksOfData[files.Look{Format: format, Delimiter: files.CSVOptions(name).Delimiter}], true, nil
}

// openSink opens what a name stands for, as far as the policy allows it.
func openSink(policy *fileaccess.Policy, name string, chosen render.Format) (*sink, error) {
	if command, ok := strings.CutPrefix(name, "|"); ok {
		if !policy.Unrestricted() {
			return nil, policy.Refuse("running '" + strings.TrimSpace(command) + "'")
		}
		return &sink{name: name, to: &commandInput{name: name, command: strings.TrimSpace(command)}}, nil
	}
	look, isData, err := lookOf(name, chosen)
	if err != nil {
		return nil, err
	}
	s := &sink{name: name, look: look, isData: isData}
	if policy.Unrestricted() && isDevice(name) {
		s.isData = false
		if isPipe(name) {
			s.to, err = openPipe(name)
			return s, err
		}
		s.to, err = os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		return s, err
	}
	target := name
	if policy.Unrestricted() {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			target = real // a link stays one
		}
	}
	if s.file, err = policy.Replace(target); err != nil || isData {
		return s, err
	}
	if s.to, err = textfile.NewWriter(s.file, name); err != nil {
		s.file.Discard()
	}
	return s, err
}

// isDevice says whether a name is that of something that is written to as it is: a device, a pipe, or an open file of the process.
func isDevice(name string) bool {
	if strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/dev/std") || strings.HasPrefix(name, "/proc/") {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// isPipe says whether a name is that of a pipe.
func isPipe(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

// result writes the rows of a result as data. hold counts what the writer has in memory, limit is how much there may be (0: any).
func (s *sink) result(rows *radish.Rows, settings render.Settings, limit int64, hold func(bytes int64) error) (done render.Written, err error) {
	format := files.FormatOf(s.name)
	if s.pieces > 0 && !format.IsText() {
		return done, fmt.Errorf("%s has a result already, and such a file holds one; .output names another", s.name)
	}
	var names []string
	var columns []types.Type
	for _, c := range rows.Columns() {
		names, columns = append(names, c.Name), append(columns, c.Type)
	}
	options := files.Options{Zone: rows.Location(), NoHeader: settings.NoHeaders, Limit: limit, Meter: hold}
	if settings.Null != nil {
		options.Null = *settings.Null
	}
	var w files.Writer
	for {
		b := rows.NextBatch()
		if w == nil && rows.Err() == nil {
			if settings.Begin != nil {
				settings.Begin()
			}
			if w, err = files.NewWriter(s.file, s.name, names, columns, options); err != nil {
				return done, err
			}
			defer w.Abandon()
			s.torn = true
		}
		if b == nil {
			break
		}
		done.Rows += int64(b.Rows())
		if err := w.Write(b); err != nil {
			return done, err
		}
	}
	if err := rows.Err(); err != nil {
		return done, err
	}
	if err := w.Close(); err != nil {
		return done, err
	}
	s.torn = false
	s.pieces++
	done.Shown = done.Rows
	return done, nil
}

// Write writes text.
func (s *sink) Write(b []byte) (int, error) {
	n, err := s.to.Write(b)
	s.bytes += int64(n)
	return n, err
}

// Close gives the file its name, or waits for the command. A file with a part of a result is removed.
func (s *sink) Close() error {
	if s.file == nil {
		return s.to.Close()
	}
	if s.torn {
		s.file.Discard()
		return fmt.Errorf("%s is not written: a result in it is not whole", s.name)
	}
	if s.failed && s.pieces == 0 && s.bytes == 0 {
		s.file.Discard()
		return fmt.Errorf("%s is not written: what would have been in it failed", s.name)
	}
	if s.isData && s.pieces == 0 && !files.FormatOf(s.name).IsText() {
		s.file.Discard()
		return fmt.Errorf("%s is not written: no statement gave rows", s.name)
	}
	if s.to != nil {
		if err := s.to.Close(); err != nil {
			s.file.Discard()
			return err
		}
	}
	if err := s.file.Commit(); err != nil {
		return fmt.Errorf("cannot write %s: %w", s.name, reason(err))
	}
	return nil
}

// discard removes the file, of which nothing is seen then, or ends the command.
func (s *sink) discard() {
	if s.file != nil {
		s.file.Discard()
		return
	}
	_ = s.to.Close() // what failed before matters
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

// pipeInput is the end of a pipe that is written to. Ctrl-C ends a wait for who reads it.
type pipeInput struct {
	name string
	file *os.File
}

// openPipe opens a pipe for writing, which waits for a reader.
func openPipe(name string) (*pipeInput, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.ENXIO) { // which says that there is none
			return &pipeInput{name, f}, err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("cannot write %s: no program has this pipe open for reading; start that program, or use .once |COMMAND", name)
		}
	}
}

func (p *pipeInput) Write(b []byte) (int, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	defer context.AfterFunc(ctx, func() { _ = p.file.SetWriteDeadline(time.Unix(1, 0)) })() // which a pipe can have
	n, err := p.file.Write(b)
	switch {
	case errors.Is(err, syscall.EPIPE): // the reader needs no more, as head
		return len(b), nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, fmt.Errorf("cannot write %s: interrupted while its reader took nothing", p.name)
	}
	return n, err
}

func (p *pipeInput) Close() error { return p.file.Close() }

// systemShell is a command of the system, which ctx ends.
func systemShell(ctx context.Context, command string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "cmd", "/c", command)
	}
	return exec.CommandContext(ctx, "sh", "-c", command)
}
