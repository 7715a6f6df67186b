package sqlerr

import (
	"fmt"
	"runtime/debug"
)

// Guard runs f and turns a panic, which is a bug of ours, into an internal error with its stack, so that a program that embeds Radish does not crash. It
// stands at the top of every goroutine that Radish starts for a statement.
//
// A goroutine that waits for others and cannot return their error panics with it. Guard keeps such an error, with the stack of where it happened.
func Guard(f func() error) (err error) {
	defer func() {
		p := recover()
		if known, ok := p.(*Error); ok && known.Kind == Internal {
			err = known
		} else if p != nil {
			err = Bug("%v", p).WithCause(fmt.Errorf("%v\n%s", p, debug.Stack()))
		}
	}()
	return f()
}
