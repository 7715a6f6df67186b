package fileaccess

import (
	"context"
	"io"
	"os"
)

// File is an open file that is read at any offset, by several goroutines at once. Reading one on a network ends with the context that it was opened with.
type File interface {
	io.ReaderAt
	io.Closer
	// State describes the file as it is now. One on a network stays in the state in which it was opened: reading what has changed is an error.
	State() (State, error)
	// Stream returns a reader from the file's start on to the end that it had when it was opened: what others append meanwhile is not read, or there might be
	// no end of it. Closing it closes the file.
	Stream() io.ReadCloser
	// IsRemote says that each read takes a round trip through a network, so that few large ones are better than many small ones.
	IsRemote() bool
}

// State describes a file at some time. Two equal ones mean that it has not changed between.
type State struct {
	Size     int64
	modified int64  // when it was written last; 0: it is on a network
	tag      string // what the server calls this state
}

// local is a file of the system's.
type local struct{ *os.File }

func (f local) State() (State, error) {
	info, err := f.Stat()
	if err != nil {
		return State{}, err
	}
	return State{Size: info.Size(), modified: info.ModTime().UnixNano()}, nil
}

func (f local) Stream() io.ReadCloser { return &bounded{io.LimitReader(f, f.size()), f} }

func (f local) IsRemote() bool { return false }

// unending is a file whose size the system does not tell. Some, as /proc/kmsg, wait for what others write. A context ends such waits.
type unending struct {
	local
	ctx  context.Context
	stop func() bool
}

func newUnending(ctx context.Context, f *os.File) *unending {
	return &unending{local{f}, ctx, endReads(ctx, f)}
}

func (u *unending) Stream() io.ReadCloser { return &pipe{u.ctx, u.File, u.stop} }

func (u *unending) Close() error {
	u.stop()
	return u.File.Close()
}

// bounded is the part of a file that it had when it was opened.
type bounded struct {
	io.Reader
	io.Closer
}

// size is what is to be read of a file: what it has, or to the end where the system does not tell it any more.
func (f local) size() int64 {
	const all = 1<<63 - 1
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return all
	}
	return info.Size()
}
