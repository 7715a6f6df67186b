package textfile

import (
	"strconv"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Format appends the text of a value that is no NULL, from which the value can be read again.
type Format func(dst []byte, v *column.Vector, at int) []byte

// FormatOf returns the format of a type's values; TIMESTAMPs are of a zone.
func FormatOf(t types.Type, zone *time.Location) Format {
	at := func(v *column.Vector, i int) int64 {
		if v.Const {
			i = 0
		}
		return v.I64[i]
	}
	switch {
	case t.Kind == types.KindEnum, t.Kind == types.KindYear, t.Kind == types.KindNull:
	case t.IsString():
		return func(dst []byte, v *column.Vector, i int) []byte { return append(dst, v.StringAt(i)...) }
	case t.Kind == types.KindUint64:
		return func(dst []byte, v *column.Vector, i int) []byte {
			return strconv.AppendUint(dst, uint64(at(v, i)), 10)
		}
	case t.IsInteger():
		return func(dst []byte, v *column.Vector, i int) []byte { return strconv.AppendInt(dst, at(v, i), 10) }
	case t.Kind == types.KindDecimal && t.Phys() == types.PhysInt64:
		scale := int(t.Scale)
		return func(dst []byte, v *column.Vector, i int) []byte {
			return types.AppendShortDecimal(dst, at(v, i), scale)
		}
	case t.Kind == types.KindDate:
		return func(dst []byte, v *column.Vector, i int) []byte { return types.AppendDate(dst, at(v, i)) }
	}
	return func(dst []byte, v *column.Vector, i int) []byte { return v.Value(i).AppendExactIn(dst, zone) }
}
