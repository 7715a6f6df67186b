package residency

import (
	"errors"

	"github.com/radish-sql/radish/gpukernels"
)

// uploader uploads one entry.
type uploader struct {
	r *Residency
	s *gpukernels.Stream
	e *entry
}

// errYielded ends an upload that no query has asked for, since queries need the memory.
var errYielded = errors.New("gpu: the upload of a column has given up its memory for queries")

// alloc takes memory that the entry keeps.
func (l *uploader) alloc(bytes int64) (gpukernels.Ptr, error) {
	if err := l.interrupted(); err != nil {
		return 0, err
	}
	var address gpukernels.Ptr
	var err error
	if l.e.idle() {
		address, err = l.r.ledger.take(l.s, l.r.ledger.columns, "its upload", bytes) // nothing is evicted for it
		if errors.Is(err, gpukernels.ErrOutOfMemory) {
			err = errYielded
		}
	} else {
		address, err = l.r.Alloc(l.s, l.r.ledger.columns, "its upload", bytes)
	}
	if err != nil {
		return 0, err
	}
	l.e.memory = append(l.e.memory, address)
	l.e.size.Add(bytes)
	return address, nil
}

// interrupted says why the upload is to end early; nil: it is not.
func (l *uploader) interrupted() error {
	select {
	case <-l.e.stop:
		return errYielded
	default:
	}
	if l.r.closing.Load() {
		return errClosing
	}
	return nil
}

func (l *uploader) upload(dst gpukernels.Ptr, src []byte) error {
	if err := l.interrupted(); err != nil {
		return err
	}
	l.e.sent += int64(len(src))
	return l.s.Upload(dst, src)
}

var errClosing = errors.New("gpu: the device is being closed")
