package expr

import (
	"context"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// interruptBytes is the length of strings after which a kernel looks whether its statement has been cancelled.
const interruptBytes = 4 << 20

// made counts the bytes of a string that a kernel has made. Kernels whose results may be far longer than their operands call
// it for each, so that a cancelled statement ends before a whole vector of them is there.
func (c *Context) made(s string) error {
	if c.fresh += len(s); c.fresh < interruptBytes {
		return nil
	}
	c.fresh = 0
	return c.Interrupted()
}

// Interrupted returns an error if the statement has been cancelled.
func (c *Context) Interrupted() error {
	if c == nil || c.Ctx == nil || c.Ctx.Err() == nil {
		return nil
	}
	return sqlerr.Interrupted(context.Cause(c.Ctx))
}
