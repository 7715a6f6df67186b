package expr

import (
	"context"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// stringCount is how many bytes the programs of a Context hold: their vectors, and the strings of the last batch of each, which live until
// its next one, as far as they are heldAtOnce or more.
type stringCount struct {
	fresh   int   // of the current batch, not in held yet
	held    int64 // by all programs
	program *ProgramSet
	grown   int // bytes of programs' vectors, not in held yet
}

// grownAtOnce is how many bytes of vectors are counted together.
const grownAtOnce = 1 << 20

// Made counts a string that neither Reserve nor a Builder has counted. The string is short, or Hold has counted its memory.
func (c *Context) Made(s string) error { return c.Hold(len(s)) }

// heldAtOnce is how many bytes of strings are counted together.
const heldAtOnce = 256 << 10

// Hold counts bytes that the program's values are about to take; a negative number gives bytes back. If it returns an error, nothing was counted.
func (c *Context) Hold(bytes int) error {
	if c == nil {
		return nil
	}
	t := &c.strings
	if t.fresh += bytes; t.fresh < heldAtOnce && t.fresh > -heldAtOnce {
		return nil
	}
	fresh := int64(t.fresh)
	t.fresh = 0
	t.add(fresh)
	if c.Strings != nil {
		if err := c.Strings(t.held); err != nil {
			t.add(-fresh)
			return err
		}
	}
	return c.Interrupted()
}

// add counts bytes of the program that runs.
func (t *stringCount) add(bytes int64) {
	t.held += bytes
	if t.program != nil {
		t.program.held += bytes
	}
}

// grow counts bytes, which may be negative, by which the vectors of a program have grown. They live as long as the program: as Keep's.
func (c *Context) grow(bytes int) error {
	if c == nil {
		return nil
	}
	t := &c.strings
	if t.grown += bytes; t.grown < grownAtOnce {
		return nil
	}
	all := int64(t.grown)
	t.grown = 0
	return c.Keep(all)
}

// Keep counts bytes that a value takes as long as its program lives.
func (c *Context) Keep(bytes int64) error {
	if c == nil || bytes == 0 {
		return nil
	}
	if c.strings.held += bytes; c.Strings == nil {
		return nil
	}
	return c.Strings(c.strings.held)
}

// begin is called when a program starts a batch. The strings of the batch before are not needed any more.
func (c *Context) begin(p *ProgramSet) {
	if c == nil {
		return
	}
	if p.held > 0 && p.holder == c {
		c.strings.held -= p.held
		c.told()
	}
	if p.holder != c && c.begun != nil {
		*c.begun = append(*c.begun, p)
	}
	p.held, p.holder, c.strings.program, c.strings.fresh = 0, c, p, 0
}

// LetGo forgets the strings of all programs that have computed for a worker, whose memory it is about to give back: a sink may keep the programs longer.
func (c *Context) LetGo() {
	for _, p := range *c.begun {
		p.letGo()
	}
}

// told says that fewer bytes are held, which cannot fail.
func (c *Context) told() {
	if c.Strings != nil {
		_ = c.Strings(c.strings.held)
	}
}

// Scratch calls f when there is memory for bytes that f takes for itself, and forgets what was counted meanwhile.
func (c *Context) Scratch(bytes int, f func() error) error {
	return c.While(func() error {
		if err := c.Hold(bytes); err != nil {
			return err
		}
		return f()
	})
}

// While calls f and forgets what it has counted: it lives no longer than f.
func (c *Context) While(f func() error) error {
	if c == nil {
		return f()
	}
	before, program := c.strings, int64(0)
	if before.program != nil {
		program = before.program.held
	}
	err := f()
	held := c.strings.held
	if c.strings = before; before.program != nil {
		before.program.held = program
	}
	if held > before.held {
		c.told()
	}
	return err
}

// ForWorker returns a copy of c for a worker of a query. The copy calls made now and then with the bytes that the worker's programs hold, strings that
// functions have made among them. An error of made ends the worker's statement. made may be nil. Who counts calls LetGo in the end.
func (c Context) ForWorker(made func(bytes int64) error) *Context {
	c.strings, c.Strings, c.begun = stringCount{}, made, nil
	if made != nil {
		c.begun = &[]*ProgramSet{}
	}
	return &c
}

// Interrupted returns an error if the statement has been cancelled.
func (c *Context) Interrupted() error {
	if c == nil || c.Ctx == nil || c.Ctx.Err() == nil {
		return nil
	}
	return sqlerr.Interrupted(context.Cause(c.Ctx))
}
