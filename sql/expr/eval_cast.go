package expr

import (
	"strings"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// castNode is Cast. The conversions that queries are full of have loops of their own; the others go value by value
// through package types.
type castNode struct {
	ops           [1]node
	cast          *Cast
	from          types.Type
	to            types.Type
	strict        bool
	column        string
	givesZeroDate bool // Compared: a string that is no date is the zero date
	loop          castLoop
	plain         plainCast
	left          []int32 // positions that plain left
	memo          castMemo
	times         []int32 // the rows that a constant is stored in, for warnings

	out     column.Vector
	valid   column.Bitmap
	counted int // bytes of memo
}

// castLoop converts the positions of sel. It cannot fail, whatever the slots of NULLs hold.
type castLoop func(out, v *column.Vector, sel []int32)

func newCastNode(e *Cast, arg node) node {
	from := e.Arg.Type()
	n := &castNode{ops: [1]node{arg}, out: column.Vector{Type: e.To}, cast: e, from: from, to: e.To, strict: e.Strict, column: e.Column, givesZeroDate: e.Compared}
	if !sameValues(from, e.To) {
		if n.loop = fastCast(from, e.To); n.loop == nil {
			n.plain = newPlainCast(from, e.To, n.assigns())
		}
	}
	return n
}

func (n *castNode) operands() []node { return n.ops[:] }

func (n *castNode) result() *column.Vector {
	if sameValues(n.from, n.to) {
		return nil // the operand's memory
	}
	return &n.out
}

func (n *castNode) choose(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	return chooseByValue(n, f, s, want, out)
}

func (n *castNode) eval(f *frame, s *selection) (*column.Vector, error) {
	v, err := n.ops[0].eval(f, s)
	if err != nil {
		return nil, err
	}
	if v.Const && v.IsNull(0) || n.from.Kind == types.KindNull {
		return column.ConstVector(types.NullOf(n.to)), nil
	}
	if sameValues(n.from, n.to) {
		n.out = *v
		n.out.Type = n.to
		return &n.out, nil
	}
	rows, sel := s.n, s.pos
	n.times = nil
	if v.Const {
		if n.column != "" && !n.strict { // what goes wrong does so in each row
			n.times = Positions(sel, rows)
		}
		rows, sel = 1, nil
	}
	n.out.Type = n.to
	if err := f.reserve(&n.out, rows); err != nil {
		return nil, err
	}
	n.out.Const = v.Const
	if v.Valid != nil && !v.Const {
		n.valid = column.And(n.valid, v.Valid, nil, rows)
		n.out.Valid = n.valid
	}
	if n.loop != nil {
		n.loop(&n.out, v, Positions(sel, rows))
		return &n.out, nil
	}
	live := Positions(sel, rows)
	if n.out.Valid != nil {
		f.live = dropNulls(append(f.live[:0], live...), 0, v)
		live = f.live
	}
	if isJSONCast(n.from, n.to) {
		err := n.toJSON(f.ctx, v, live)
		if err != nil && n.column == "" {
			err = arisen(err, n.cast, []string{"CAST", "CONVERT"})
		}
		return &n.out, err
	}
	if v.Dict != nil {
		return &n.out, n.byDictionary(f, v, live, rows)
	}
	if n.to.IsString() && !n.from.IsString() {
		return &n.out, n.toString(f, v, live)
	}
	if n.plain != nil {
		n.left = n.plain(&n.out, v, live, n.left[:0])
		live = n.left
	}
	conv := n.conversion(f.ctx)
	for _, i := range live {
		x := v.Value(int(i))
		r, status := conv(x, n.to)
		if status > types.ConvertRounded {
			if err := n.problem(f, status, x, i); err != nil {
				return nil, err
			}
			r = n.orZero(r)
		}
		n.out.Set(int(i), rows, r)
	}
	return &n.out, nil
}

// zeroDatetime stands for '0000-00-00 00:00:00', which is no DATETIME here, in comparisons.
const zeroDatetime = types.MinDatetime - types.MicrosPerDay

// orZero is what a comparison takes for a string that is no date.
func (n *castNode) orZero(r types.Value) types.Value {
	if n.givesZeroDate && r.Null {
		return types.Value{Type: n.to, I: zeroDatetime}
	}
	return r
}

// assigns says whether the value goes into a column.
func (n *castNode) assigns() bool { return n.strict || n.column != "" }

// conversion returns the rules: those of assignment or those of CAST.
func (n *castNode) conversion(c *Context) func(types.Value, types.Type) (types.Value, types.ConvertStatus) {
	if n.assigns() {
		return c.Conversion().Store
	}
	if n.cast.Written && n.from.IsString() && n.to.IsFloat() {
		return writtenFloat
	}
	return c.Conversion().Cast
}

// writtenFloat is CAST of a string to a double, NaN and the infinities included.
func writtenFloat(v types.Value, to types.Type) (types.Value, types.ConvertStatus) {
	if f, ok := types.ParseSpecialFloat(v.S); ok {
		return types.Value{Type: to, F: f}, types.ConvertOK
	}
	return types.Cast(v, to)
}

// problem reports a conversion that lost something, as an error or a warning. position is the row's in the batch.
func (n *castNode) problem(f *frame, status types.ConvertStatus, v types.Value, position int32) error {
	c := f.ctx
	if n.column == "" {
		if status == types.ConvertOutOfRange && n.to.Kind == types.KindDecimal && n.cast.Written {
			return c.lost(sqlerr.OutOfRangeForColumn("CAST("+v.Text()+" AS "+n.to.String()+")", 1), n.strict)
		}
		return c.ConversionProblem(status, v, n.to, n.strict)
	}
	if n.strict {
		return n.misfit(f, status, v, position)
	}
	if n.times == nil {
		c.Warnings.AddError(n.misfit(f, status, v, position))
	}
	for _, i := range n.times {
		c.Warnings.AddError(n.misfit(f, status, v, i))
	}
	return nil
}

// misfit is the error of a value that the column cannot hold.
func (n *castNode) misfit(f *frame, status types.ConvertStatus, v types.Value, position int32) *sqlerr.Error {
	row := int64(0)
	if first := f.batch.FirstRow; first > 0 {
		row = first + int64(position)
	}
	switch {
	case n.to.Kind == types.KindEnum, status == types.ConvertTruncated && n.to.IsNumeric(), n.to.IsString() && !n.strict:
		return sqlerr.DataTruncated(n.column, row)
	case n.to.IsString():
		return sqlerr.DataTooLong(n.column, row)
	case status == types.ConvertOutOfRange:
		return sqlerr.OutOfRangeForColumn(n.column, row)
	}
	return sqlerr.IncorrectValueForColumn(valueName(n.to), v.Text(), n.column, row)
}

// valueName is what MySQL calls a value of type t in its messages.
func valueName(t types.Type) string {
	switch {
	case t.IsTemporal():
		return LowerName(t)
	case t.Kind == types.KindYear:
		return "year"
	case t.Kind == types.KindDecimal:
		return "decimal"
	case t.IsFloat():
		return strings.ToLower(t.Kind.Name())
	}
	return "integer"
}

// castMemo remembers the conversion of each value of a dictionary that was met so far.
type castMemo struct {
	dict    *column.Dictionary
	results []castResult
}

type castResult struct {
	value  types.Value
	status types.ConvertStatus
	known  bool
}

func (n *castNode) byDictionary(f *frame, v *column.Vector, live []int32, rows int) error {
	m := &n.memo
	if m.dict != v.Dict {
		m.dict, m.results = v.Dict, nil
	}
	values := v.Dict.Values()
	if len(m.results) < len(values) {
		if err := f.keeps(&n.counted, len(values)*int(unsafe.Sizeof(castResult{}))); err != nil {
			return err
		}
		m.results = append(m.results, make([]castResult, len(values)-len(m.results))...)
	}
	conv := n.conversion(f.ctx)
	for _, i := range live {
		code := 0
		if !v.Const {
			code = int(i)
		}
		code = int(v.Codes[code])
		r := &m.results[code]
		if !r.known {
			r.value, r.status = conv(types.Value{Type: n.from, S: values[code]}, n.to)
			r.known = true
		}
		if r.status > types.ConvertRounded {
			if err := n.problem(f, r.status, types.Value{Type: n.from, S: values[code]}, i); err != nil {
				return err
			}
		}
		n.out.Set(int(i), rows, n.orZero(r.value))
	}
	return nil
}

// Conversion returns what conversions depend on.
func (c *Context) Conversion() types.ConvertContext {
	return types.ConvertContext{Zone: c.Location, Today: c.Today()}
}

// Today is the statement's date in the session's time zone, as a DATE.
func (c *Context) Today() int64 {
	if c.Now.IsZero() {
		return 0
	}
	return types.DateOf(c.NowMicros())
}

// NowMicros is the statement's time as a DATETIME in the session's time zone.
func (c *Context) NowMicros() int64 {
	if c.Location == nil {
		return c.Now.UnixMicro()
	}
	return types.InZone(c.Now.UnixMicro(), c.Location)
}

// Strict says whether what is otherwise a warning is an error: in a statement that writes, under strict SQL mode.
func (c *Context) Strict() bool { return c.Writing && c.SQLMode&ModeStrict != 0 }

// ConversionProblem reports a conversion that lost something, as an error or a warning.
func (c *Context) ConversionProblem(status types.ConvertStatus, v types.Value, to types.Type, strict bool) error {
	var e *sqlerr.Error
	switch {
	case to.IsTemporal():
		e = sqlerr.IncorrectValue(LowerName(to), v.Text())
	case to.IsInteger() || to.Kind == types.KindYear:
		e = sqlerr.TruncatedWrongValue("INTEGER", v.Text())
	case to.Kind == types.KindDecimal:
		e = sqlerr.TruncatedWrongValue("DECIMAL", v.Text())
	case to.IsFloat():
		e = sqlerr.TruncatedWrongValue("DOUBLE", v.Text())
	default:
		e = sqlerr.TruncatedWrongValue(to.String(), v.Text())
	}
	return c.lost(e, strict)
}

// lost gives the error of a conversion, or makes a warning of it.
func (c *Context) lost(e *sqlerr.Error, strict bool) error {
	if strict || c.Strict() {
		return e
	}
	c.Warnings.AddError(e)
	return nil
}

func LowerName(t types.Type) string {
	switch t.Kind {
	case types.KindDate:
		return "date"
	case types.KindTime:
		return "time"
	}
	return "datetime"
}

// sameValues says whether every value of type from is represented as the same value of type to.
func sameValues(from, to types.Type) bool {
	if from == to {
		return true
	}
	if from.Phys() != to.Phys() {
		return false
	}
	switch {
	case to.Kind == types.KindBool:
		return false
	case from.IsInteger() && to.IsInteger():
		if from.Kind == types.KindUint64 || to.Kind == types.KindUint64 {
			return from.Kind == to.Kind
		}
		flo, fhi := types.IntRange(from.Kind)
		tlo, thi := types.IntRange(to.Kind)
		return from.Kind == types.KindBool && !to.IsUnsigned() && to.Kind != types.KindYear ||
			to.Kind != types.KindYear && from.Kind != types.KindYear && tlo <= flo && fhi <= thi ||
			from.Kind == types.KindYear && thi >= 2155
	case to.Kind == types.KindDecimal && (from.Kind == types.KindDecimal || from.IsInteger()):
		f := types.AsDecimal(from)
		return f.Scale == to.Scale && f.Precision <= to.Precision
	case to.Kind == types.KindDouble:
		return from.IsFloat()
	case from.Kind == to.Kind && from.IsTemporal():
		return from.Scale <= to.Scale
	case from.IsString() && to.IsString():
		if to.Kind == types.KindText || to.Kind == types.KindBlob {
			return true
		}
		n := types.TextLength(from)
		return (to.Kind == types.KindVarchar && !from.IsBinaryString() || to.Kind == types.KindVarbinary && from.IsBinaryString()) &&
			n > 0 && n <= int(to.Length)
	}
	return false
}

// fastCast returns a loop for conversions that always succeed, or nil.
func fastCast(from, to types.Type) castLoop {
	exact := from.IsInteger() || from.Kind == types.KindDecimal
	switch {
	case exact && to.Kind == types.KindDouble:
		return castToDouble(from)
	case exact && to.Kind == types.KindDecimal:
		return castToDecimal(types.AsDecimal(from), to, from.Phys())
	case from.Kind == types.KindDate && to.Kind == types.KindDatetime:
		return func(out, v *column.Vector, sel []int32) {
			for _, i := range sel {
				out.I64[i] = types.DatetimeOfDate(v.I64[i])
			}
		}
	}
	return nil
}

func castToDouble(from types.Type) castLoop {
	scale := ScaleOf(from)
	switch from.Phys() {
	case types.PhysInt128:
		return func(out, v *column.Vector, sel []int32) {
			for _, i := range sel {
				out.F64[i] = types.DecimalToFloat(v.I128[i], scale)
			}
		}
	case types.PhysUint64:
		return func(out, v *column.Vector, sel []int32) {
			for _, i := range sel {
				out.F64[i] = float64(uint64(v.I64[i]))
			}
		}
	}
	if scale == 0 {
		return func(out, v *column.Vector, sel []int32) {
			for _, i := range sel {
				out.F64[i] = float64(v.I64[i])
			}
		}
	}
	return func(out, v *column.Vector, sel []int32) {
		for _, i := range sel {
			out.F64[i] = types.ShortDecimalToFloat(v.I64[i], scale)
		}
	}
}

// castToDecimal scales up into a type that holds every value, or returns nil.
func castToDecimal(from, to types.Type, phys types.Phys) castLoop {
	up := int(to.Scale) - int(from.Scale)
	if up < 0 || int(from.Precision)+up > int(to.Precision) || phys == types.PhysUint64 {
		return nil
	}
	if to.Phys() == types.PhysInt64 {
		p := types.Pow10(up)
		return func(out, v *column.Vector, sel []int32) {
			for _, i := range sel {
				out.I64[i] = v.I64[i] * p
			}
		}
	}
	if phys == types.PhysInt64 && up <= types.MaxShortDecimal {
		p := types.Pow10(up)
		return func(out, v *column.Vector, sel []int32) {
			for _, i := range sel {
				out.I128[i] = types.MulInt64s(v.I64[i], p)
			}
		}
	}
	p := types.Pow10Int128(up)
	return func(out, v *column.Vector, sel []int32) {
		r := Wides(v)
		for _, i := range sel {
			out.I128[i], _ = r.At(int(i)).Mul(p)
		}
	}
}
