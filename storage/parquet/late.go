package parquet

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow/go/v17/parquet"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// A late column is decoded for the rows that passed the tests of other columns. Its cursor goes forward only; it opens no page of which no row is wanted, and passes over
// the values of other rows undecoded where their encoding allows it (Abadi and others 2007, "Materialization strategies in a column-oriented DBMS").

// sparse says whether so few of n rows are selected that each is decoded for itself.
func sparse(selected, n int) bool { return 2*selected <= n }

// Gather stores a late column of rows of the last part, as [table.LateReader] says. late is the column's index among the late ones.
func (r *GroupReader) Gather(dst *column.Vector, t types.Type, late, from, n int, sel []int32) error {
	if err := r.ctx.Err(); err != nil {
		return sqlerr.Interrupted(err)
	}
	i := len(r.tested) + late
	reader, err := r.reader(i)
	if err != nil {
		return err
	}
	if len(sel) == n {
		sel = nil
	}
	if a, ok := reader.(*assembler); ok {
		if err := a.gather(dst, t, int(r.first)+from, n, sel); err != nil {
			return r.file.failed(err)
		}
		return nil
	}
	c, ok := reader.(*cursor)
	if !ok {
		d, err := reader.read(n) // NULLs only
		if err != nil {
			return r.file.failed(err)
		}
		d.Complete(t)
		encoding.Encode(d).Decode(dst, 0, n)
		return nil
	}
	c.recycle()
	d, err := c.gather(int(r.first)+from, n, sel)
	if err != nil {
		return r.file.failed(c.failed(err))
	}
	c.give(dst, d, t, n, sel, r.shared[i])
	return nil
}

// gather decodes those of n rows from a row of the row group on that sel selects (nil: all), one behind the other. The result is the cursor's own memory.
func (c *cursor) gather(row, n int, sel []int32) (*encoding.Data, error) {
	if err := c.seek(row); err != nil {
		return nil, err
	}
	if sel != nil && !sparse(len(sel), n) {
		sel = nil
	}
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	d := &c.late.some
	*d = encoding.Data{Type: c.typ, Rows: rows, Ints: d.Ints[:0], Floats: d.Floats[:0], Wide: d.Wide[:0]}
	c.reserve(d, rows)
	if sel == nil {
		return d, c.decode(d)
	}
	if err := c.decodeAt(d, n, sel); err != nil {
		return nil, err
	}
	c.finish(d)
	return d, nil
}

// reserve gives d memory for n values, unless they are strings.
func (c *cursor) reserve(d *encoding.Data, n int) {
	switch c.typ.Phys() {
	case types.PhysFloat64:
		d.Floats, d.Ints, d.Wide = resize(d.Floats, n), nil, nil
	case types.PhysInt128:
		d.Wide, d.Ints, d.Floats = resize(d.Wide, n), nil, nil
	case types.PhysString:
		d.Ints, d.Floats, d.Wide = nil, nil, nil
	default:
		if c.late.encoded || c.late.own {
			d.Ints, d.Floats, d.Wide = resizeInts(d.Ints, n), nil, nil
			return
		}
		d.Floats, d.Wide = nil, nil
		if n >= column.BufferCapacity(n)/16*15 {
			d.Ints, d.Spare = intBuffers.Take(n), &intBuffers
		} else {
			d.Ints = make([]int64, n) // a chunk that keeps them would keep much more
		}
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// reuse has the cursor give memory of its own, which is good until it is asked again.
func (c *cursor) reuse() {
	c.late.own = true
	c.reusePages()
}

// share has codes be those of a shared dictionary: coded returns them for the words of the cursor's own, or nil if strings are to be given instead.
func (c *cursor) share(shared *column.Dictionary, coded func() []uint32) {
	c.late.shared, c.late.coded = shared, coded
}

// reusePages has recycle take the memory of pages back: strings are copied before.
func (c *cursor) reusePages() {
	if c.pages.keepsPages {
		c.pages.spent, c.pages.allow = make([][]byte, 0, 2), c.keep
	}
}

// recycle takes back the memory of pages that no vector points into any more.
func (c *cursor) recycle() {
	c.memory.Free(c.used)
	c.held, c.used = c.held-c.used, 0
	for i, b := range c.pages.spent {
		if cap(b) > cap(c.pages.buf) {
			b, c.pages.buf = c.pages.buf, b
		}
		c.memory.Free(int64(cap(b)))
		c.held -= int64(cap(b))
		byteBuffers.Give(b)
		c.pages.spent[i] = nil
	}
	c.pages.spent = c.pages.spent[:0]
}

// seek implements columnReader.
func (c *cursor) seek(row int) error { return c.pass(row - c.late.row) }

// pass passes over rows.
func (c *cursor) pass(rows int) error {
	for rows > 0 {
		if c.left == 0 {
			passed, err := c.pages.pass(rows)
			if err != nil {
				return err
			}
			if passed > 0 {
				c.late.row += passed
				rows -= passed
				continue
			}
			if err := c.nextPage(); err != nil {
				return err
			}
			continue
		}
		n := min(rows, c.left)
		values := n
		if c.optional {
			_, ones, err := c.levels.validity(nil, n, 0, n)
			if err != nil {
				return err
			}
			values = ones
		}
		if err := c.passValues(values); err != nil {
			return err
		}
		c.consumed(n)
		rows -= n
	}
	return nil
}

// consumed notes that n rows of the page are behind the cursor.
func (c *cursor) consumed(n int) {
	c.left -= n
	c.late.row += n
}

// passValues passes over values of the page.
func (c *cursor) passValues(n int) error {
	switch size := c.size(); {
	case n == 0:
	case c.form == coded || c.form == bools:
		return c.codes.pass(n)
	case c.form == plain && size > 0:
		if len(c.plain)/size < n {
			return errCutOff
		}
		c.plain = c.plain[size*n:]
	case c.form == deltas:
		var some [256]int64
		for n > 0 {
			k := min(n, len(some))
			if err := c.delta.decode(some[:k]); err != nil {
				return err
			}
			n -= k
		}
	case c.form == plain:
		var err error
		c.plain, err = passStrings(n, c.plain)
		return err
	default:
		var some [256]string
		for n > 0 {
			k := min(n, len(some))
			if err := c.decoder.decode(some[:k]); err != nil {
				return err
			}
			n -= k
		}
	}
	return nil
}

// decodeAt decodes those of the next n rows that sel selects.
func (c *cursor) decodeAt(d *encoding.Data, n int, sel []int32) error {
	row, done := 0, 0
	for done < len(sel) {
		if err := c.pass(int(sel[done]) - row); err != nil {
			return err
		}
		row = int(sel[done])
		if c.left == 0 {
			if err := c.nextPage(); err != nil {
				return err
			}
			continue
		}
		end := row + c.left
		picked := done
		for picked < len(sel) && int(sel[picked]) < end {
			picked++
		}
		rows := int(sel[picked-1]) - row + 1
		if err := c.pick(d, done, sel[done:picked], row, rows); err != nil {
			return err
		}
		c.consumed(rows)
		row, done = row+rows, picked
	}
	return c.pass(n - row)
}

// pick decodes those of the next rows of the page that sel selects, which counts from first rows before, to d from row at on.
func (c *cursor) pick(d *encoding.Data, at int, sel []int32, first, rows int) error {
	c.late.positions = c.late.positions[:0]
	if !c.optional {
		for _, p := range sel {
			c.late.positions = append(c.late.positions, p-int32(first))
		}
		return c.valuesAt(d, at, c.late.positions, rows)
	}
	valid, values, err := c.levels.validity(nil, rows, 0, rows)
	if err != nil {
		return err
	}
	// Values stand without the NULLs between them: a row's value follows those of the rows before that are not NULL.
	rank, word := 0, 0
	for i, p := range sel {
		p -= int32(first)
		if valid == nil {
			c.late.positions = append(c.late.positions, p)
			continue
		}
		for ; word < int(p>>6); word++ {
			rank += bits.OnesCount64(valid[word])
		}
		if valid.Get(int(p)) {
			c.late.positions = append(c.late.positions, int32(rank+bits.OnesCount64(valid[word]&(1<<(uint(p)&63)-1))))
			continue
		}
		if d.Valid == nil {
			d.Valid = column.NewBitmap(d.Rows, true)
		}
		d.Valid.Clear(at + i)
	}
	if err := c.valuesAt(d, at, c.late.positions, values); err != nil {
		return err
	}
	if len(c.late.positions) < len(sel) {
		spread(d, at, len(sel), len(c.late.positions))
	}
	return nil
}

// valuesAt decodes the values at positions among the next n ones of the page to d from row at on, and passes over the others.
func (c *cursor) valuesAt(d *encoding.Data, at int, positions []int32, n int) error {
	k := len(positions)
	switch {
	case c.form == coded || c.form == bools:
		return c.codesAt(d, at, positions, n)
	case k == 0:
		return c.passValues(n)
	case c.form == deltas:
		return c.deltasAt(d, at, positions, n)
	case c.form == plain && c.size() > 0:
		size := c.size()
		if len(c.plain)/size < n {
			return errCutOff
		}
		rest := c.plain[size*n:]
		if d.Wide == nil && d.Floats == nil && d.Ints == nil { // the strings stay where they are
			c.decodeStrings(d, at)
			for i, p := range positions {
				if _, err := c.plainStrings(d.Strings[at+i:at+i+1], c.plain[size*int(p):]); err != nil {
					return err
				}
			}
			c.plain = rest
			return nil
		}
		c.late.picked = resize(c.late.picked, size*k)
		pickPlain(c.late.picked, c.plain, size, positions)
		c.plain = c.late.picked
		err := c.values(d, at, k)
		c.plain = rest
		return err
	}
	// One after the other, up to the last that is wanted.
	one := 0
	for i, p := range positions {
		if err := c.passValues(int(p) - one); err != nil {
			return err
		}
		one = int(p) + 1
		if err := c.values(d, at+i, 1); err != nil {
			return err
		}
	}
	return c.passValues(n - one)
}

// pickPlain stores the values of size bytes that stand at positions of src one behind the other.
func pickPlain(dst, src []byte, size int, positions []int32) {
	switch size {
	case 4:
		for i, p := range positions {
			binary.NativeEndian.PutUint32(dst[4*i:], binary.NativeEndian.Uint32(src[4*int(p):]))
		}
	case 8:
		for i, p := range positions {
			binary.NativeEndian.PutUint64(dst[8*i:], binary.NativeEndian.Uint64(src[8*int(p):]))
		}
	default:
		for i, p := range positions {
			copy(dst[size*i:size*i+size], src[size*int(p):])
		}
	}
}

// deltasAt is valuesAt for a page of differences: all values are sums of those before.
func (c *cursor) deltasAt(d *encoding.Data, at int, positions []int32, n int) error {
	var some [256]int64
	done := at
	for first, i := 0, 0; first < n; first += len(some) {
		part := some[:min(len(some), n-first)]
		if err := c.delta.decode(part); err != nil {
			return err
		}
		for ; i < len(positions) && int(positions[i]) < first+len(part); i++ {
			if x := part[int(positions[i])-first]; d.Wide != nil {
				d.Wide[done] = types.Int128FromInt64(x)
			} else {
				d.Ints[done] = x
			}
			done++
		}
	}
	if d.Wide != nil {
		return c.finishWide(d.Wide[at:done])
	}
	return c.finishInts(d.Ints[at:done])
}

// codesAt is valuesAt for a page of codes.
func (c *cursor) codesAt(d *encoding.Data, at int, positions []int32, n int) error {
	c.late.found = resize(c.late.found, len(positions))
	if err := c.codes.decodeAt(c.late.found, positions, n); err != nil {
		return err
	}
	switch {
	case c.form == bools:
		return pickWords(d.Ints[at:], c.late.found, booleans)
	case d.Ints != nil:
		if err := pickWords(d.Ints[at:], c.late.found, c.dict.ints); err != nil || c.dict.finished {
			return err
		}
		return c.finishInts(d.Ints[at : at+len(positions)])
	case d.Floats != nil:
		return pickWords(d.Floats[at:], c.late.found, c.dict.floats)
	case d.Wide != nil:
		if err := pickWords(d.Wide[at:], c.late.found, c.dict.wide); err != nil || c.dict.finished {
			return err
		}
		return c.finishWide(d.Wide[at : at+len(positions)])
	case d.Strings == nil && !c.keepsCodes(d.Rows):
		c.decodeStrings(d, at)
	}
	if d.Strings != nil {
		return pickWords(d.Strings[at:], c.late.found, c.dict.words)
	}
	if len(positions) == 0 {
		return nil
	}
	if d.Codes == nil {
		d.Codes, d.Words = c.newCodes(d.Rows), c.dict.words
	}
	if c.late.shared != nil {
		return pickWords(d.Codes[at:], c.late.found, c.late.coded())
	}
	return checkCodes(d.Codes[at:at+copy(d.Codes[at:], c.late.found)], c.dict.entries)
}

// pickWords stores the words that codes stand for.
func pickWords[T any](dst []T, codes []uint32, words []T) error {
	for i, code := range codes {
		if int(code) >= len(words) {
			return errNoSuchCode
		}
		dst[i] = words[code]
	}
	return nil
}

// give stores what gather returned for the rows of sel (nil: all n).
func (c *cursor) give(dst *column.Vector, d *encoding.Data, t types.Type, n int, sel []int32, shared *column.Dictionary) {
	dst.Type = t
	if d.Codes != nil {
		dst.ReserveCodes(shared, n)
	} else {
		dst.Reserve(n)
	}
	if d.Rows == n { // the vector's memory of before is the cursor's next
		dst.Valid = d.Valid
		switch {
		case d.Codes != nil:
			dst.Codes, c.late.codeBuffer = d.Codes, dst.Codes
		case d.Strings != nil:
			dst.Str, c.late.stringBuffer = d.Strings, dst.Str
		case d.Floats != nil:
			dst.F64, d.Floats = d.Floats, dst.F64
		case d.Wide != nil:
			dst.I128, d.Wide = d.Wide, dst.I128
		default:
			dst.I64, d.Ints = d.Ints, dst.I64
		}
		return
	}
	if d.Valid != nil {
		dst.Valid = column.NewBitmap(n, true)
		for i, p := range sel {
			if !d.Valid.Get(i) {
				dst.Valid.Clear(int(p))
			}
		}
	}
	scatter(dst.Codes, d.Codes, sel)
	scatter(dst.Str, d.Strings, sel)
	scatter(dst.F64, d.Floats, sel)
	scatter(dst.I128, d.Wide, sel)
	scatter(dst.I64, d.Ints, sel)
}

func scatter[T any](dst, src []T, sel []int32) {
	if src == nil {
		return
	}
	for i, p := range sel {
		dst[p] = src[i]
	}
}

// pass passes over the next page, which it does not open, if all of it lies among rows. It returns its rows; 0: the page has to be opened.
func (p *pages) pass(rows int) (passed int, err error) {
	if p.rest() == 0 {
		return 0, errTooShort
	}
	h, size, err := p.header()
	if err != nil || int64(h.packed) > p.rest()-int64(size) || h.kind != dataPage && h.kind != dataPageV2 ||
		int(h.values) > rows || int64(h.values) > p.left || h.encoding == parquet.Encodings.DeltaByteArray { // whose strings may continue those of the page before
		return 0, nil // whoever opens it says what is wrong
	}
	p.number++
	p.begin = p.at
	p.skip(int64(size) + int64(h.packed))
	p.left -= int64(h.values)
	return int(h.values), nil
}
