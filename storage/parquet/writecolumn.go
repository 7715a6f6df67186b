package parquet

import (
	"math"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// columnWriter collects the values of a column in a row group, and encodes them. NULLs have a bit in valid and no value.
type columnWriter struct {
	typ      types.Type
	physical parquet.Type
	width    int  // bytes of a value that is no text
	optional bool // it may have NULLs

	rows    int
	valid   column.Bitmap // nil: no NULL so far
	ints    []int64       // integers, decimals, times in the file's unit, the bits of floats
	wide    []types.Int128
	dict    *column.Dictionary // of codes, as long as all strings come with it
	codes   []uint32
	strings []kept // in texts
	texts   pieces
	spelled int // bytes of strings
	counted int // bytes of the lists above

	encoder
}

// newColumnWriter returns a writer that has hold count its memory, before most of it is taken.
func newColumnWriter(t types.Type, c *schema.Column, hold func(bytes int64) error) *columnWriter {
	w := &columnWriter{typ: t, physical: c.PhysicalType(), optional: c.MaxDefinitionLevel() > 0, texts: pieces{hold: hold}}
	w.out.hold = hold
	switch w.physical {
	case parquet.Types.Int32, parquet.Types.Float:
		w.width = 4
	case parquet.Types.Int64, parquet.Types.Double:
		w.width = 8
	case parquet.Types.FixedLenByteArray:
		w.width = c.TypeLength()
	}
	return w
}

// bytes is about what the values take.
func (c *columnWriter) bytes() int {
	return 8*len(c.ints) + 16*len(c.wide) + 4*len(c.codes) + keptBytes*len(c.strings) + c.spelled
}

// count has the lists counted, which grow a little at a time.
func (c *columnWriter) count() error {
	n := 8*cap(c.valid) + 8*cap(c.ints) + 16*cap(c.wide) + 4*cap(c.codes) + keptBytes*cap(c.strings)
	more := n - c.counted
	c.counted = n
	return c.texts.hold(int64(more))
}

func (c *columnWriter) reset() {
	c.rows, c.valid, c.dict, c.spelled = 0, nil, nil, 0
	c.ints, c.wide, c.codes, c.strings = c.ints[:0], c.wide[:0], c.codes[:0], c.strings[:0]
	c.texts.reset()
	c.encoder.reset()
}

// add adds n values of a vector, from one index among the selected ones on.
func (c *columnWriter) add(v *column.Vector, sel []int32, from, n int) error {
	start := c.rows
	c.rows += n
	at := func(i int) int {
		switch {
		case v.Const:
			return 0
		case sel != nil:
			return int(sel[from+i])
		}
		return from + i
	}
	there := at
	if nulls := c.addValidity(v, start, n, at); nulls == n {
		return nil
	} else if nulls > 0 {
		valid := make([]int, 0, n-nulls)
		for i := range n {
			if !v.IsNull(at(i)) {
				valid = append(valid, at(i))
			}
		}
		n = len(valid)
		there = func(i int) int { return valid[i] }
	} else if !v.Const && sel == nil && c.addAll(v, from, n) {
		return nil
	}
	switch {
	case c.physical == parquet.Types.ByteArray:
		return c.addStrings(v, n, there)
	case c.typ.Phys() == types.PhysInt128:
		for i := range n {
			c.wide = append(c.wide, v.I128[there(i)])
		}
	case c.physical == parquet.Types.Float:
		for i := range n {
			c.ints = append(c.ints, int64(math.Float32bits(float32(v.F64[there(i)]))))
		}
	case c.physical == parquet.Types.Double:
		for i := range n {
			c.ints = append(c.ints, int64(math.Float64bits(v.F64[there(i)])))
		}
	case c.typ.Kind == types.KindTime, c.typ.Kind == types.KindDatetime, c.typ.Kind == types.KindTimestamp:
		return c.addTimes(v, n, there)
	default:
		for i := range n {
			c.ints = append(c.ints, v.I64[there(i)])
		}
	}
	return nil
}

// addAll adds values that lie together as they are collected; ok is false for other ones.
func (c *columnWriter) addAll(v *column.Vector, from, n int) (ok bool) {
	switch c.typ.Kind {
	case types.KindTime, types.KindDatetime, types.KindTimestamp, types.KindEnum, types.KindFloat, types.KindDouble:
		return false
	}
	switch c.typ.Phys() {
	case types.PhysInt64, types.PhysUint64:
		c.ints = append(c.ints, v.I64[from:from+n]...)
	case types.PhysInt128:
		c.wide = append(c.wide, v.I128[from:from+n]...)
	default:
		return false
	}
	return true
}

// addValidity notes which of n values are NULL, and returns how many are.
func (c *columnWriter) addValidity(v *column.Vector, start, n int, at func(int) int) (nulls int) {
	if v.Valid == nil && v.Type.Kind != types.KindNull {
		if c.valid != nil {
			c.growValid()
		}
		return 0
	}
	for i := range n {
		if v.Type.Kind != types.KindNull && !v.IsNull(at(i)) {
			continue
		}
		if nulls++; c.valid == nil {
			c.growValid()
		}
		c.growValid()
		c.valid.Clear(start + i)
	}
	if c.valid != nil {
		c.growValid()
	}
	return nulls
}

// growValid allocates bits for all rows, which are not NULL.
func (c *columnWriter) growValid() {
	for len(c.valid) < (c.rows+63)/64 {
		c.valid = append(c.valid, ^uint64(0))
	}
}

// addStrings adds strings: codes as long as all are of one dictionary, bytes otherwise.
func (c *columnWriter) addStrings(v *column.Vector, n int, at func(int) int) error {
	if v.Dict != nil && len(c.strings) == 0 && (c.dict == nil || c.dict == v.Dict) {
		c.dict = v.Dict
		for i := range n {
			c.codes = append(c.codes, v.Codes[at(i)])
		}
		return nil
	}
	if err := c.spell(); err != nil {
		return err
	}
	for i := range n {
		var s string
		if v.Type.Kind == types.KindEnum {
			s = v.Type.EnumName(v.I64[at(i)])
		} else {
			s = v.StringAt(at(i))
		}
		if err := c.addString(s); err != nil {
			return err
		}
	}
	return nil
}

func (c *columnWriter) addString(s string) error {
	at, err := c.texts.keep(s)
	c.strings = append(c.strings, at)
	c.spelled += len(s)
	return err
}

// text returns the i-th string of those that are spelled.
func (c *columnWriter) text(i int) string { return c.texts.text(c.strings[i]) }

// spell makes strings of codes.
func (c *columnWriter) spell() error {
	if c.dict == nil {
		return nil
	}
	values := c.dict.Values()
	for _, code := range c.codes {
		if err := c.addString(values[code]); err != nil {
			return err
		}
	}
	c.dict, c.codes = nil, c.codes[:0]
	return c.count()
}

// addTimes adds dates and times in the file's unit, rounded down: a TIME lies within a day there.
func (c *columnWriter) addTimes(v *column.Vector, n int, at func(int) int) error {
	unit := int64(1)
	if c.typ.Scale <= 3 {
		unit = 1000
	}
	for i := range n {
		x := v.I64[at(i)]
		if c.typ.Kind == types.KindTime && (x < 0 || x >= types.MicrosPerDay) {
			return sqlerr.NotSupportedf("TIME '"+v.Value(at(i)).Text()+"' in Parquet", "Parquet's time of day lies between 00:00 and 24:00; cast it to CHAR")
		}
		q := x / unit
		if x%unit < 0 {
			q--
		}
		c.ints = append(c.ints, q)
	}
	return nil
}
