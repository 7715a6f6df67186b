package textfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// Source is a text that can be read more than once.
type Source struct {
	Name string // for messages
	Open func(ctx context.Context) (io.ReadCloser, error)
	// Near reads text from about a share of the text on, 0 to 1; nil: it can be read from its start only.
	Near func(ctx context.Context, share float64, p []byte) (n int, err error)
}

// FileSource is the text in a regular file or at an address that a policy allows, unpacked if its name says that it is compressed.
func FileSource(policy *fileaccess.Policy, path string) Source {
	s := Source{Name: fileaccess.Shown(path), Open: func(ctx context.Context) (io.ReadCloser, error) {
		f, err := policy.Open(ctx, path)
		if err != nil {
			return nil, err
		}
		return unpack(ctx, f.Stream(), path)
	}}
	if compression(path) == "" {
		s.Near = func(ctx context.Context, share float64, p []byte) (int, error) {
			f, err := policy.Open(ctx, path)
			if err != nil {
				return 0, err
			}
			defer f.Close()
			now, err := f.State()
			if err != nil {
				return 0, err
			}
			return f.ReadAt(p, max(0, int64(share*float64(now.Size-int64(len(p))))))
		}
	}
	return s
}

// sampleBytes is how much [Sample] reads at each offset.
const sampleBytes = 256 << 10

// Sample calls f with whole lines from the middle and from the end of a text of more than one block, as far as it can be read there. They may begin within a field in quotes,
// and lines of text are not known. Reading all of the text comes to errors again.
func (s Source) Sample(ctx context.Context, whole func(text []byte) bool, f func(b *Block)) {
	if s.Near == nil {
		return
	}
	for _, share := range []float64{0.5, 1} {
		buf := make([]byte, sampleBytes)
		n, _ := s.Near(ctx, share, buf)
		text := buf[:n]
		for range sampleStarts {
			start, end := bytes.IndexByte(text, '\n')+1, bytes.LastIndexByte(text, '\n')+1
			if start == 0 || start >= end {
				break
			}
			if text = text[start:]; whole(text[:end-start]) {
				f(&Block{Source: s.Name, Text: text[: end-start : end-start]})
				break
			}
		}
	}
}

// sampleStarts is how many lines are tried as the first one of a sample.
const sampleStarts = 20

// failed turns an error of reading into one that names the source.
func (s Source) failed(err error) error {
	var e *sqlerr.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, fs.ErrNotExist):
		return sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "can't find file '%s'", s.Name).WithCause(err)
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.Resource, "can't read '%s': %s", s.Name, err).WithCause(err)
}
