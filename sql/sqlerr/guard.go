package sqlerr

import (
	"fmt"
	"runtime/debug"
)

// Guard runs f and turns a panic, which is a bug of ours, into an internal error with its stack: a program that embeds Radish
// does not go down with a statement. It stands at the top of every goroutine that Radish starts for one.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Bug("%v", p).WithCause(fmt.Errorf("%v\n%s", p, debug.Stack()))
		}
	}()
	return f()
}
