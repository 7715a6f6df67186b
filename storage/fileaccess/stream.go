package fileaccess

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// OpenStream opens a regular file, a pipe or an address for reading once. Opening a pipe waits for who writes it; that wait and any read end when ctx does.
func (p *Policy) OpenStream(ctx context.Context, name string) (io.ReadCloser, error) {
	if IsRemote(name) {
		f, err := p.openRemote(ctx, name)
		if err != nil {
			return nil, err
		}
		return f.Stream(), nil
	}
	l, err := p.at(name, false)
	if err != nil {
		return nil, err
	}
	defer l.close()
	info, err := l.stat()
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeNamedPipe == 0 {
		f, err := p.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		return f.Stream(), nil
	}
	f, err := l.openPipe(ctx)
	if err != nil {
		return nil, err
	}
	return &pipe{ctx, f, endReads(ctx, f)}, nil
}

// endReads ends reads of a file when ctx ends, until stop is called: those that wait, which a deadline can end where they can wait.
func endReads(ctx context.Context, f *os.File) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
}

// pipe is an open pipe, or a file like one, whose reads a context ends.
type pipe struct {
	ctx  context.Context
	file *os.File
	stop func() bool
}

func (p *pipe) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, sqlerr.Interrupted(context.Cause(p.ctx))
	}
	n, err := p.file.Read(b)
	if err != nil && err != io.EOF && p.ctx.Err() != nil {
		err = sqlerr.Interrupted(context.Cause(p.ctx))
	}
	return n, err
}

func (p *pipe) Close() error {
	p.stop()
	return p.file.Close()
}

// openPipe opens a pipe for reading. That waits for a writer. If ctx ends before one comes, the end for writing is opened for a moment, which
// ends the wait.
func (l *location) openPipe(ctx context.Context) (*os.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, sqlerr.Interrupted(context.Cause(ctx))
	}
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	own := *l
	if l.root != nil { // the goroutine may outlive the caller's location
		var err error
		if own.root, err = l.root.OpenRoot("."); err != nil {
			return nil, err
		}
	}
	go func() {
		defer own.close()
		var o opened
		o.err = sqlerr.Guard(func() (err error) {
			if o.file, err = own.openFile(os.O_RDONLY); err != nil {
				return err
			}
			info, err := o.file.Stat()
			switch {
			case ctx.Err() != nil:
				err = sqlerr.Interrupted(context.Cause(ctx))
			case err == nil && info.Mode()&fs.ModeNamedPipe == 0:
				err = Changed(own.as) // another file has taken its place
			}
			if err != nil {
				_ = o.file.Close() // nothing was read of it
			}
			return err
		})
		done <- o
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-ctx.Done():
	}
	for {
		w, err := l.openFile(os.O_WRONLY | syscall.O_NONBLOCK)
		if err == nil {
			_ = w.Close() // nothing was written
		} else if !errors.Is(err, syscall.ENXIO) {
			// The process may not write to it. The goroutine goes when a writer comes.
			return nil, sqlerr.Interrupted(context.Cause(ctx))
		}
		select {
		case o := <-done:
			if o.err == nil { // it came just before ctx ended
				_ = o.file.Close()
			}
			return nil, sqlerr.Interrupted(context.Cause(ctx))
		case <-time.After(time.Millisecond): // the goroutine had not begun to wait
		}
	}
}
