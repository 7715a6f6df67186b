package parquet

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/jsontext"
)

// assembler reads a nested column of a row group.
type assembler struct {
	ctx    context.Context
	column *leaf
	leaves []*leafReader
	memory meter
	row    int // of the row group, at which it stands
	rows   *jsontext.Rows
	names  jsontext.Rows // keys of maps
	held   int64         // bytes of the rows that it has given
}

// leafReader reads the values of a leaf with their levels, in order.
type leafReader struct {
	*cursor
	branch   *branch
	maxDef   uint32
	maxRep   uint32
	reps     []uint32
	defs     []uint32
	at       int           // in reps and defs
	values   encoding.Data // those that are there, of the levels that were read
	value    int           // the next one
	defCodes hybrid
	repCodes hybrid
	total    int64 // entries of the column chunk that were not read yet

	// The entry at which the reader stands. At the end rep is 0 and ended is set.
	rep, def uint32
	ended    bool
}

// levelsAtOnce is how many entries are read at once.
const levelsAtOnce = 1024

// openNested returns a reader of a nested column of a row group.
func (f *File) openNested(x access, group int, l *leaf) (_ *assembler, err error) {
	a := &assembler{ctx: x.ctx, column: l, memory: x.memory}
	a.rows = jsontext.NewRows(0, a.hold)
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	l.tree.leaves(func(b *branch) {
		if err != nil {
			return
		}
		var c *cursor
		if c, err = f.openChunk(x, group, b.leaf); err != nil {
			return
		}
		c.reuse()
		r := &leafReader{cursor: c, branch: b, maxDef: b.level, total: c.pages.left}
		a.leaves = append(a.leaves, r)
	})
	if err != nil {
		return nil, err
	}
	l.tree.repeat(0, a.leaves)
	for _, r := range a.leaves {
		r.pages.levels = pageLevels{repetition: r.maxRep, definition: r.maxDef}
		if r.total < f.footer.groups[group].rows {
			return nil, r.failed(errTooShort)
		}
		if err := r.next(); err != nil {
			return nil, r.failed(err)
		}
	}
	return a, nil
}

// repeat tells the leaves below a branch how deep in lists they lie.
func (b *branch) repeat(depth uint32, leaves []*leafReader) {
	if b.kind == listBranch || b.kind == mapBranch {
		depth = b.rep
	}
	if b.kind == leafBranch {
		leaves[b.from].maxRep = depth
	}
	for _, c := range b.inner {
		c.repeat(depth, leaves)
	}
}

// hold asks for memory of documents. It ends long work.
func (a *assembler) hold(bytes int64) error {
	if err := a.ctx.Err(); err != nil {
		return sqlerr.Interrupted(err)
	}
	err := a.memory.Add(bytes)
	if err == nil {
		a.held += bytes
	}
	return err
}

func (a *assembler) close() {
	for _, r := range a.leaves {
		r.cursor.close()
	}
	a.memory.Free(a.held)
	a.held = 0
}

// read implements columnReader.
func (a *assembler) read(rows int) (encoding.Data, error) {
	a.memory.Free(a.held)
	a.held = 0
	a.rows = jsontext.NewRows(rows, a.hold)
	valid, err := a.assemble(rows, nil)
	d := a.rows.Data(a.column.typ)
	d.Valid = valid
	return d, err
}

// gather stores those of n rows from a row of the row group on that sel selects (nil: all) in a vector. The others are empty.
func (a *assembler) gather(dst *column.Vector, t types.Type, row, n int, sel []int32) error {
	if err := a.seek(row); err != nil {
		return err
	}
	a.memory.Free(a.held)
	a.held = 0
	a.rows.Reset()
	valid, err := a.assemble(n, sel)
	if err != nil {
		return err
	}
	dst.Type = t
	dst.Reserve(n)
	dst.Str, dst.Valid = a.rows.Strings(dst.Str[:0]), valid
	return nil
}

// assemble makes the documents of the next n rows, of which sel selects some (nil: all).
func (a *assembler) assemble(n int, sel []int32) (valid column.Bitmap, err error) {
	tree := a.column.tree
	for i := range n {
		if sel != nil {
			if len(sel) == 0 || int(sel[0]) != i {
				if err := a.skip(1); err != nil {
					return nil, err
				}
				if err := a.rows.End(); err != nil {
					return nil, err
				}
				continue
			}
			sel = sel[1:]
		}
		if err := a.begins(); err != nil {
			return nil, err
		}
		first := a.leaves[0]
		if first.def < tree.present {
			if valid == nil {
				valid = column.NewBitmap(n, true)
			}
			valid.Clear(i)
			err = a.pass(tree, tree.present)
		} else {
			err = a.value(a.rows, tree)
		}
		if err == nil {
			err = a.rows.End()
		}
		if err != nil {
			return nil, a.failed(err)
		}
		a.row++
	}
	return valid, nil
}

func (a *assembler) failed(err error) error { return a.leaves[0].failed(err) }

// begins says whether all leaves stand where a row begins.
func (a *assembler) begins() error {
	for _, r := range a.leaves {
		if r.ended {
			return r.failed(errTooShort)
		}
		if r.rep != 0 {
			return r.failed(errLevels)
		}
	}
	return nil
}

// seek implements columnReader.
func (a *assembler) seek(row int) error { return a.skip(row - a.row) }

// skip passes over rows.
func (a *assembler) skip(rows int) error {
	if rows <= 0 {
		return nil
	}
	if err := a.begins(); err != nil {
		return err
	}
	for _, r := range a.leaves {
		for range rows {
			for again := true; again; again = r.rep != 0 {
				if r.ended {
					return r.failed(errTooShort)
				}
				if err := r.next(); err != nil {
					return r.failed(err)
				}
			}
		}
	}
	a.row += rows
	return nil
}

// pass passes over one entry of each leaf below a branch, which have to be less defined than level.
func (a *assembler) pass(b *branch, level uint32) error {
	for _, r := range a.leaves[b.from:b.to] {
		if r.def >= level || r.ended {
			return errLevels
		}
		if err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

// document appends what a branch has, NULL or not.
func (a *assembler) document(out *jsontext.Rows, b *branch) error {
	if a.leaves[b.from].def < b.present {
		out.Bytes = append(out.Bytes, "null"...)
		return a.pass(b, b.present)
	}
	return a.value(out, b)
}

// value appends what a branch has, which is not NULL.
func (a *assembler) value(out *jsontext.Rows, b *branch) error {
	switch b.kind {
	case leafBranch:
		return a.leaves[b.from].append(out)
	case structBranch:
		out.Bytes = append(out.Bytes, '{')
		for i, c := range b.inner {
			if i > 0 {
				out.Bytes = append(out.Bytes, ',')
			}
			out.Bytes = append(out.Bytes, c.name...)
			if err := a.document(out, c); err != nil {
				return err
			}
		}
		out.Bytes = append(out.Bytes, '}')
		return out.Check()
	}
	brackets := "[]"
	if b.kind == mapBranch {
		brackets = "{}"
	}
	if a.leaves[b.from].def < b.level {
		out.Bytes = append(out.Bytes, brackets...)
		return a.pass(b, b.level)
	}
	out.Bytes = append(out.Bytes, brackets[0])
	for {
		if err := a.item(out, b); err != nil {
			return err
		}
		if err := out.Check(); err != nil {
			return err
		}
		rep := a.leaves[b.from].rep
		for _, r := range a.leaves[b.from+1 : b.to] {
			if r.rep != rep {
				return errLevels
			}
		}
		if rep > b.rep {
			return errLevels
		}
		if rep < b.rep {
			break
		}
		out.Bytes = append(out.Bytes, ',')
	}
	out.Bytes = append(out.Bytes, brackets[1])
	return nil
}

// item appends an item of a list, or a member of a map.
func (a *assembler) item(out *jsontext.Rows, b *branch) error {
	if b.kind == listBranch {
		return a.document(out, b.inner[0])
	}
	a.names.Bytes = a.names.Bytes[:0]
	if err := a.document(&a.names, b.inner[0]); err != nil {
		return err
	}
	out.Bytes = jsontext.AppendName(out.Bytes, a.names.Bytes)
	return a.document(out, b.inner[1])
}

// append appends the value at which the reader stands, which is there, and goes on.
func (r *leafReader) append(out *jsontext.Rows) error {
	switch {
	case r.ended || r.def != r.maxDef:
		return errLevels
	case r.branch.write != nil:
		out.Bytes = r.branch.write(out.Bytes, r.values.StringAt(r.value))
	default:
		out.Bytes = jsontext.Append(out.Bytes, &r.values, r.value)
	}
	return r.next()
}

// next goes on to the next entry.
func (r *leafReader) next() error {
	if r.at > 0 && r.defs[r.at-1] == r.maxDef {
		r.value++
	}
	if r.at == len(r.defs) {
		if err := r.fill(); err != nil {
			return err
		}
		if r.ended {
			r.rep, r.def = 0, 0
			return nil
		}
	}
	r.rep, r.def = r.reps[r.at], r.defs[r.at]
	r.at++
	return nil
}

// fill reads the next entries of the page.
func (r *leafReader) fill() error {
	r.at, r.value = 0, 0
	r.reps, r.defs = r.reps[:0], r.defs[:0]
	for r.left == 0 {
		if r.total == 0 {
			r.ended = true
			return nil
		}
		if err := r.turn(); err != nil {
			return err
		}
	}
	n := min(r.left, levelsAtOnce)
	r.reps, r.defs = slices.Grow(r.reps, n)[:n], slices.Grow(r.defs, n)[:n]
	clear(r.reps)
	clear(r.defs)
	if r.maxRep > 0 {
		if err := r.repCodes.decode(r.reps); err != nil {
			return err
		}
	}
	if r.maxDef > 0 {
		if err := r.defCodes.decode(r.defs); err != nil {
			return err
		}
	}
	values := 0
	for i, def := range r.defs {
		if def > r.maxDef || r.reps[i] > r.maxRep {
			return errors.New("a level is higher than the schema allows")
		}
		if def == r.maxDef {
			values++
		}
	}
	r.left -= n
	r.total -= int64(n)
	d := &r.values
	*d = encoding.Data{Type: r.typ, Rows: values, Ints: d.Ints[:0], Floats: d.Floats[:0], Wide: d.Wide[:0]}
	if values == 0 {
		return nil
	}
	r.reserve(d, values)
	if err := r.cursor.values(d, 0, values); err != nil {
		return err
	}
	r.finish(d)
	if r.branch.write != nil {
		return nil
	}
	return jsontext.CheckValues(d)
}

// turn goes on to the next page.
func (r *leafReader) turn() error {
	r.recycle()
	if err := r.nextPage(); err != nil {
		return err
	}
	p := &r.pages
	r.repCodes = hybrid{src: p.levels.repetitions, width: uint(bits.Len32(r.maxRep))}
	r.defCodes = hybrid{src: p.levels.definitions, width: uint(bits.Len32(r.maxDef))}
	return nil
}
