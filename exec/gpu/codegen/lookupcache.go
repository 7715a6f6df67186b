package codegen

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"weak"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// LookupCache keeps lookup tables over dictionaries between the runs of queries. It may be used by several goroutines. It does not
// keep dictionaries alive: what belongs to one that is gone is never found again and is evicted in its turn.
type LookupCache struct {
	mu      sync.Mutex
	entries map[lookupKey]*list.Element // of *cached
	recent  list.List                   // the least recently used last
	bytes   int
	limit   int
}

// lookupKey names what is computed: from which dictionary, of how many strings, by what.
type lookupKey struct {
	dict weak.Pointer[column.Dictionary]
	n    int
	what string
}

type cached struct {
	key   lookupKey
	made  any
	bytes int
	once  sync.Once
	err   error
}

// NewLookupCache returns a cache for tables of so many bytes in all.
func NewLookupCache(limit int) *LookupCache {
	return &LookupCache{entries: map[lookupKey]*list.Element{}, limit: limit}
}

// get returns what was made under a key, or makes it. Others who ask for it meanwhile wait; where a statement ended before it was made the next one does.
func get[T any](c *LookupCache, key lookupKey, make func() (T, int, error)) (T, error) {
	for {
		e, mine := c.entry(key), false
		e.once.Do(func() {
			mine = true
			made, bytes, err := make()
			e.made, e.err = made, err
			c.keep(e, bytes)
		})
		if mine || !ended(e.err) {
			return e.made.(T), e.err
		}
	}
}

// entry returns the entry of a key, which may still have to be made.
func (c *LookupCache) entry(key lookupKey) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.entries[key]
	if el == nil {
		el = c.recent.PushFront(&cached{key: key})
		c.entries[key] = el
	} else {
		c.recent.MoveToFront(el)
	}
	return el.Value.(*cached)
}

// keep counts what was made, and evicts others for it. What was not made because a statement ended is forgotten.
func (c *LookupCache) keep(e *cached, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.entries[e.key]
	switch {
	case el == nil || el.Value.(*cached) != e: // evicted meanwhile
		return
	case ended(e.err):
		c.recent.Remove(el)
		delete(c.entries, e.key)
		return
	}
	e.bytes = bytes + 200
	c.bytes += e.bytes
	for c.bytes > c.limit && c.recent.Len() > 1 {
		last := c.recent.Remove(c.recent.Back()).(*cached)
		delete(c.entries, last.key)
		c.bytes -= last.bytes
	}
}

// ended says whether an error is a statement's own, which was cancelled or has no more memory, not one of the value that was to be computed.
func ended(err error) bool {
	return errors.Is(err, sqlerr.Cancelled) || errors.Is(err, sqlerr.Resource)
}

// of returns an expression's values over a dictionary column. Errors are kept too: they are refusals.
func (c *LookupCache) of(e expr.Expr, col *expr.Column, d *column.Dictionary, nullable bool, ctx *expr.Context) (*lookup, error) {
	values := d.Values()
	key := lookupKey{weak.Make(d), len(values), fmt.Sprintf("%x", fingerprint(e, nullable, ctx))}
	return get(c, key, func() (*lookup, int, error) {
		l, err := makeLookup(e, col, values, nullable, ctx)
		if err != nil {
			return nil, 0, err
		}
		bytes := len(l.values.Data)
		for _, t := range []*Table{l.nulls, l.failed} {
			if t != nil {
				bytes += len(t.Data)
			}
		}
		if l.dict != nil {
			bytes += int(l.dict.Bytes())
		}
		return l, bytes, nil
	})
}

// strings returns a dictionary's strings for the device: their bytes, and their offsets, one more than there are strings.
func (c *LookupCache) strings(d *column.Dictionary) (data, offsets *Table) {
	values := d.Values()
	type packed struct{ data, offsets *Table }
	p, _ := get(c, lookupKey{weak.Make(d), len(values), "strings"}, func() (packed, int, error) {
		if len(values) == 0 {
			values = []string{""} // NULLs have code 0
		}
		text, offsets := packStrings(values)
		return packed{&Table{Data: text, Kept: true}, &Table{Data: offsets, Kept: true}}, len(text) + len(offsets), nil
	})
	return p.data, p.offsets
}

// union returns a dictionary that begins with d's strings (nil: none) and has the literals too.
func (c *LookupCache) union(d *column.Dictionary, literals []string) *column.Dictionary {
	missing := d == nil
	if d != nil {
		if d.Len() > maxLookup {
			return nil
		}
		for _, s := range literals {
			_, ok := d.Lookup(s)
			missing = missing || !ok
		}
	}
	if !missing {
		return d
	}
	var key lookupKey
	var values []string
	if d != nil {
		values = d.Values()
		key = lookupKey{dict: weak.Make(d), n: len(values)}
	}
	key.what = fmt.Sprintf("union %q", literals)
	u, _ := get(c, key, func() (*column.Dictionary, int, error) {
		u := column.NewDictionary(values...)
		u.AddAll(nil, literals)
		return u, int(u.Bytes()), nil
	})
	return u
}

// enum returns a dictionary of an ENUM's names and the codes of its indexes; 0 is the empty text.
func (c *LookupCache) enum(members *types.EnumMembers) (*column.Dictionary, *Table) {
	type named struct {
		dict  *column.Dictionary
		codes *Table
	}
	e, _ := get(c, lookupKey{what: fmt.Sprintf("enum %q", members.Names)}, func() (named, int, error) {
		d := column.NewDictionary()
		data := binary.LittleEndian.AppendUint32(nil, d.Add(""))
		for _, name := range members.Names {
			data = binary.LittleEndian.AppendUint32(data, d.Add(name))
		}
		return named{d, &Table{Data: data, Kept: true}}, len(data) + int(d.Bytes()), nil
	})
	return e.dict, e.codes
}

// evaluationContext is a copy of a statement's context that gathers warnings of its own and refuses side effects.
func evaluationContext(ctx *expr.Context) (*expr.Context, *sqlerr.Warnings) {
	own := *ctx
	warnings := &sqlerr.Warnings{}
	own.Warnings, own.FoldOnly = warnings, true
	return &own, warnings
}

// fingerprint stands for an expression of one column, and for what of the statement its value may depend on.
func fingerprint(e expr.Expr, nullable bool, ctx *expr.Context) [sha256.Size]byte {
	h := sha256.New()
	mode := types.Value{} // of AES_ENCRYPT
	if ctx.Variables != nil {
		mode, _ = ctx.Variables.SystemVariable("block_encryption_mode")
	}
	fmt.Fprintf(h, "%v %v %v %v %v %s %s %s", nullable, ctx.SQLMode, ctx.Writing, ctx.Location, ctx.Today(), ctx.Session.Database, ctx.Session.User, mode.S)
	writeExpr(h, e)
	return [sha256.Size]byte(h.Sum(nil))
}

func writeExpr(w io.Writer, e expr.Expr) {
	fmt.Fprintf(w, "(%T %v", e, e.Type())
	switch x := e.(type) {
	case *expr.Const:
		writeValue(w, x.Value)
	case *expr.Compare:
		fmt.Fprint(w, x.Op)
	case *expr.In:
		fmt.Fprint(w, len(x.List), x.HasNull)
		for _, v := range x.List {
			writeValue(w, v)
		}
	case *expr.Case:
		fmt.Fprint(w, len(x.Whens), x.Else != nil)
	case *expr.Cast:
		fmt.Fprintf(w, "%v %v %v %q", x.Strict, x.Compared, x.Written, x.Column)
	case *expr.Call:
		fmt.Fprintf(w, "%q %p", x.Fn.Name, x.Fn) // programs add functions, each to a database of its own
	}
	for _, c := range e.Children() {
		writeExpr(w, c)
	}
	fmt.Fprint(w, ")")
}

func writeValue(w io.Writer, v types.Value) {
	fmt.Fprintf(w, "[%v %v %d %b %d %d %q]", v.Type, v.Null, v.I, v.F, v.D.Hi, v.D.Lo, v.S)
}
