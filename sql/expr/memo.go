package expr

// memos hold what kernels compute once per call: compiled patterns, parsed formats, the state of a generator. Like an
// arena they belong to one Context and start empty in a copy of it.
type memos struct {
	m    map[*Call]any
	self *memos
}

// Memo returns what a kernel has remembered for a call, nil at first.
func (c *Context) Memo(call *Call) any {
	if c.memos.self != &c.memos {
		return nil
	}
	return c.memos.m[call]
}

// Remember keeps a value for the kernel's next batch.
func (c *Context) Remember(call *Call, v any) {
	if c.memos.self != &c.memos {
		c.memos = memos{m: map[*Call]any{}, self: &c.memos}
	}
	c.memos.m[call] = v
}
