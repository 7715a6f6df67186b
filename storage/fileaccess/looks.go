package fileaccess

import (
	"context"
	"slices"
	"sync"
	"time"
)

// look is what the server has said of a file. All who read that state of it share it.
type look struct {
	state  State
	strong string    // the entity tag, if it can be a condition; else empty
	time   time.Time // of the last change, as the server says
	tail   keptBlock // the file's end, where Parquet and Arrow files have what is read first
}

// looks are the files at addresses that a statement has looked at, by address, and what patterns stood for. A file that has changed since is nil.
type looks struct {
	mu    sync.Mutex
	files map[string]*look
	lists map[string][]string
}

// looksKey is the key under which a context has its looks.
type looksKey struct{}

// LookOnce returns a context in which a server is asked once for the state of a file: whoever opens it again reads that state, until reading finds that the file has another.
func LookOnce(ctx context.Context) context.Context {
	return context.WithValue(ctx, looksKey{}, &looks{files: map[string]*look{}, lists: map[string][]string{}})
}

// looksOf returns the context's looks; nil: it has none, and each opening looks for itself.
func looksOf(ctx context.Context) *looks {
	l, _ := ctx.Value(looksKey{}).(*looks)
	return l
}

func (l *looks) find(address string) *look {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files[address]
}

func (l *looks) keep(address string, of *look) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files[address] = of
}

// offer keeps what a list says of a file that nobody has looked at.
func (l *looks) offer(address string, of *look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.files[address]; !known {
		l.files[address] = of
	}
}

// listed returns what a pattern stood for.
func (l *looks) listed(pattern string) (names []string, ok bool) {
	if l == nil {
		return nil, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	names, ok = l.lists[pattern]
	return slices.Clone(names), ok
}

func (l *looks) keepList(pattern string, names []string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lists[pattern] = slices.Clone(names)
}

// forget makes the next opening ask the server again, unless another has asked since. Patterns are looked up again, too.
func (l *looks) forget(address string, of *look) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.lists)
	if l.files[address] == of {
		l.files[address] = nil
	}
}
