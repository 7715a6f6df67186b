package bind

import (
	"errors"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// frame binds the frame of a window. Without one it is the partition up to the row's peers, which is all of it if nothing
// orders it.
func (w *windowing) frame(of *boundWindow) (logical.Frame, error) {
	if of.frame == nil {
		if of.order == nil {
			return logical.WholePartition, nil
		}
		return logical.Frame{Unit: logical.FrameRange, End: logical.FrameBound{Kind: logical.CurrentRow}}, nil
	}
	wrong := func(code sqlerr.Code) (logical.Frame, error) {
		return logical.Frame{}, sqlerr.WrongWindow(code, of.name)
	}
	f := logical.Frame{Unit: logical.FrameUnit(of.frame.Type)}
	from, to := &of.frame.Extent.Start, &of.frame.Extent.End
	f.Start.Kind, f.End.Kind = boundKind(from), boundKind(to)
	switch {
	case f.Start.Kind == logical.UnboundedFollowing:
		return wrong(sqlerr.CodeWindowFrameStart)
	case f.End.Kind == logical.UnboundedPreceding:
		return wrong(sqlerr.CodeWindowFrameEnd)
	case f.Start.Kind > f.End.Kind:
		return wrong(sqlerr.CodeWindowFrameIllegal)
	}
	for _, p := range []struct {
		bound *logical.FrameBound
		text  *ast.FrameBound
	}{{&f.Start, from}, {&f.End, to}} {
		if p.text.Expr == nil {
			continue
		}
		offset, err := w.b.expr(p.text.Expr, &scope{clause: "frame", noAggregates: true})
		if errors.Is(err, sqlerr.CodeUnknownColumn) { // it sees no columns
			return wrong(sqlerr.CodeWindowBoundNotConst)
		}
		if err != nil {
			return f, err
		}
		c, ok := offset.(*expr.Const)
		if !ok { // such as INTERVAL 1 + 1 DAY
			v, err := expr.Eval1(offset, w.b.Ctx)
			if err != nil {
				return f, err
			}
			c = &expr.Const{Value: v}
		}
		unit := ""
		if p.text.Unit != ast.TimeUnitInvalid {
			unit = p.text.Unit.String()
		}
		if f.Unit == logical.FrameRange {
			if err := w.rangeBound(of, &f, p.bound, c, unit); err != nil {
				return f, err
			}
			continue
		}
		switch {
		case unit != "":
			return wrong(sqlerr.CodeWindowRowsInterval)
		case c.Value.Null || !c.Value.Type.IsInteger() || c.Value.I < 0 && !c.Value.Type.IsUnsigned():
			return wrong(sqlerr.CodeWindowFrameIllegal)
		}
		p.bound.Offset = c.Value.I
		if c.Value.I < 0 { // above 2^63
			p.bound.Offset = int64(^uint64(0) >> 1)
		}
	}
	return f, nil
}

func boundKind(b *ast.FrameBound) logical.BoundKind {
	switch {
	case b.Type == ast.CurrentRow:
		return logical.CurrentRow
	case b.Type == ast.Preceding && b.UnBounded:
		return logical.UnboundedPreceding
	case b.Type == ast.Preceding:
		return logical.Preceding
	case b.UnBounded:
		return logical.UnboundedFollowing
	}
	return logical.Following
}

// rangeBound makes the extreme value of a RANGE bound: the order's key less or more the offset. The key is compared in the
// type that holds every such value: integers as decimals, so that nothing overflows at the ends.
func (w *windowing) rangeBound(of *boundWindow, f *logical.Frame, bound *logical.FrameBound, offset *expr.Const, unit string) error {
	if len(of.order) != 1 {
		return sqlerr.WrongWindow(sqlerr.CodeWindowRangeOrder, of.name)
	}
	key := of.order[0].Expr
	t := key.Type()
	if c, ok := key.(*expr.Const); ok && c.Value.Null {
		return sqlerr.WrongWindow(sqlerr.CodeWindowRangeOrder, of.name)
	}
	f.Desc = of.order[0].Desc
	less := (bound.Kind == logical.Preceding) != f.Desc
	bound.Text = strings.Trim(offset.String(), "'")
	switch {
	case t.IsTemporal():
		if unit == "" {
			return sqlerr.WrongWindow(sqlerr.CodeWindowRangeTemporal, of.name)
		}
		bound.Text = "interval " + offset.String() + " " + strings.ToLower(unit)
		if negativeInterval(offset) {
			return sqlerr.WrongWindow(sqlerr.CodeWindowFrameIllegal, of.name)
		}
		name := "date_add"
		if less {
			name = "date_sub"
		}
		value, err := expr.NewCall(name, key, offset, &expr.Const{Value: types.StringValue(unit)})
		if err != nil {
			return err
		}
		bound.Value = value
	case t.IsNumeric() || t.Kind == types.KindYear || t.Kind == types.KindBool:
		if unit != "" {
			return sqlerr.WrongWindow(sqlerr.CodeWindowRangeNumeric, of.name)
		}
		if !offset.Value.Type.IsNumeric() || negative(offset.Value) {
			return sqlerr.WrongWindow(sqlerr.CodeWindowFrameIllegal, of.name)
		}
		common := types.Double
		if !t.IsFloat() && !offset.Value.Type.IsFloat() {
			exact := t
			if t.Kind != types.KindDecimal {
				exact = types.Decimal(20, 0)
			}
			of := offset.Value.Type
			if of.Kind != types.KindDecimal {
				of = types.Decimal(20, 0)
			}
			common = types.CommonType(exact, of)
		}
		name := "add"
		if less {
			name = "sub"
		}
		value, err := expr.NewCall(name, castTo(key, common), castTo(offset, common))
		if err != nil {
			return err
		}
		bound.Value = value
	default:
		return sqlerr.WrongWindow(sqlerr.CodeWindowRangeOrder, of.name)
	}
	w.compareKeys(f, key)
	return nil
}

// compareKeys brings the frame's bounds and the key to one type.
func (w *windowing) compareKeys(f *logical.Frame, key expr.Expr) {
	t := types.Type{}
	for i, v := range []expr.Expr{f.Start.Value, f.End.Value} {
		switch {
		case v == nil:
		case i == 0 || f.Start.Value == nil:
			t = v.Type()
		default:
			t = types.CommonType(t, v.Type())
		}
	}
	f.Key = castTo(key, t)
	if f.Start.Value != nil {
		f.Start.Value = castTo(f.Start.Value, t)
	}
	if f.End.Value != nil {
		f.End.Value = castTo(f.End.Value, t)
	}
}

// negative says whether a number is NULL or below zero.
func negative(v types.Value) bool {
	switch {
	case v.Null:
		return true
	case v.Type.Phys() == types.PhysFloat64:
		return !(v.F >= 0) // NaN is no distance
	case v.Type.Phys() == types.PhysInt128:
		return v.D.Hi < 0
	}
	return v.I < 0 && !v.Type.IsUnsigned()
}

// negativeInterval says whether an interval's amount is NULL or begins with a minus sign.
func negativeInterval(c *expr.Const) bool {
	if c.Value.Null {
		return true
	}
	return strings.HasPrefix(strings.TrimSpace(strings.Trim(c.String(), "'")), "-")
}
