package sqlerr

import (
	"fmt"
	"runtime/debug"
)

// Guard runs f and turns a panic, which is a bug of ours, into an internal error with its stack: a program that embeds Radish
// does not go down with a statement. It stands at the top of every goroutine that Radish starts for one. A goroutine that waits for others, and has
// no way to return their error, panics with it: then it stays the error that it is, with the stack of where it happened.
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
