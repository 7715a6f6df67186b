package expr

import (
	"strconv"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// longestPrinted returns how many bytes the text of a value of a type that is no string takes at most.
func longestPrinted(t types.Type) int {
	longest := 48 // of a number or a temporal value
	if t.Enum != nil {
		for _, name := range t.Enum.Names {
			longest = max(longest, len(name))
		}
	}
	return longest
}

// toString prints numbers and temporal values, many of them into one piece of memory.
func (n *castNode) toString(f *frame, v *column.Vector, live []int32) error {
	zone := f.ctx.Conversion().Zone
	if zone == nil {
		zone = time.UTC
	}
	length := int(n.to.Length)
	fits := length == 0 || length >= types.TextLength(n.from)
	fits = fits && n.to.Kind != types.KindBinary && n.from.Kind != types.KindEnum // which is padded; whose names may end in spaces
	write, longest := printer(v, zone), longestPrinted(n.from)
	m := f.ctx.Maker()
	for _, i := range live {
		b, err := m.Reserve(longest)
		if err != nil {
			return err
		}
		text := m.Take(write(b, int(i)))
		if !fits {
			whole, status := text, types.ConvertOK
			if text, status = types.FitString(whole, n.to); status > types.ConvertRounded {
				if err := n.problem(f, status, v.Value(int(i)), i); err != nil {
					return err
				}
			}
		}
		n.out.Str[i] = text
	}
	return m.Close()
}

// printer returns what appends the text of the value at a position of v, which is no NULL.
func printer(v *column.Vector, zone *time.Location) func(dst []byte, i int) []byte {
	t := v.Type
	switch {
	case t.Kind == types.KindUint64:
		n := Uints(v)
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, n.At(i), 10) }
	case t.IsInteger() && t.Kind != types.KindYear:
		n := Ints(v)
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, n.At(i), 10) }
	case t.Kind == types.KindDecimal && t.Phys() == types.PhysInt64:
		n, scale := Ints(v), int(t.Scale)
		return func(dst []byte, i int) []byte { return types.AppendShortDecimal(dst, n.At(i), scale) }
	case t.Kind == types.KindDate:
		n := Ints(v)
		return func(dst []byte, i int) []byte { return types.AppendDate(dst, n.At(i)) }
	case t.Kind == types.KindDatetime:
		n, fsp := Ints(v), int(t.Scale)
		return func(dst []byte, i int) []byte { return types.AppendDatetime(dst, n.At(i), fsp) }
	case t.IsFloat():
		x := Floats(v)
		if t.Kind == types.KindFloat {
			return func(dst []byte, i int) []byte { return types.AppendFloat32(dst, x.At(i)) }
		}
		return func(dst []byte, i int) []byte { return types.AppendFloat(dst, x.At(i)) }
	}
	return func(dst []byte, i int) []byte { return v.Value(i).AppendTextIn(dst, zone) }
}
