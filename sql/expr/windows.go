package expr

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// WindowFunction describes what may stand before OVER: the functions of Reference Manual 14.20.1, and the aggregates. How
// it is computed is the executor's business, which keys on Kind.
type WindowFunction struct {
	Kind   WindowKind
	Name   string // lower case
	Syntax string
	Doc    string
	// Agg is the aggregate behind a WinAggregate.
	Agg *Aggregate
	// Framed functions look at the row's frame; the others at its whole partition, whatever frame is given.
	Framed           bool
	MinArgs, MaxArgs int
	// Resolve chooses the types, as for functions.
	Resolve func(args []Expr) (Signature, error)
}

// WindowKind is a window function.
type WindowKind uint8

// The window functions.
const (
	WinAggregate WindowKind = iota
	WinRowNumber
	WinRank
	WinDenseRank
	WinPercentRank
	WinCumeDist
	WinNtile
	WinLag
	WinLead
	WinFirstValue
	WinLastValue
	WinNthValue
)

var windowFunctions = func() []*WindowFunction {
	gives := func(t types.Type) func([]Expr) (Signature, error) {
		return func([]Expr) (Signature, error) { return Signature{Result: t}, nil }
	}
	value := func(args []Expr) (Signature, error) {
		return Signature{Args: []types.Type{types.Null, types.Int64}[:len(args)], Result: args[0].Type(), Nullable: true}, nil
	}
	shifted := func(args []Expr) (Signature, error) {
		sig := Signature{Args: []types.Type{types.Null, types.Int64, types.Null}[:len(args)], Result: args[0].Type(), Nullable: true}
		if len(args) == 3 {
			sig.Result = CommonTypeOf(args[0], args[2])
			sig.Args[0], sig.Args[2] = sig.Result, sig.Result
		}
		return sig, nil
	}
	return []*WindowFunction{
		{Kind: WinCumeDist, Name: "cume_dist", Syntax: "CUME_DIST()", Doc: "The share of the partition's rows that come before the row or are its peers.", Resolve: gives(types.Double)},
		{Kind: WinDenseRank, Name: "dense_rank", Syntax: "DENSE_RANK()", Doc: "The number of the row's peers among the groups of peers.", Resolve: gives(types.Uint64)},
		{Kind: WinFirstValue, Name: "first_value", Syntax: "FIRST_VALUE(a)", Doc: "The value in the frame's first row.", Framed: true, MinArgs: 1, MaxArgs: 1, Resolve: value},
		{Kind: WinLag, Name: "lag", Syntax: "LAG(a [, n [, default]])", Doc: "The value n rows (1) before the row in its partition; the default (NULL) if there is no such row.", MinArgs: 1, MaxArgs: 3, Resolve: shifted},
		{Kind: WinLastValue, Name: "last_value", Syntax: "LAST_VALUE(a)", Doc: "The value in the frame's last row.", Framed: true, MinArgs: 1, MaxArgs: 1, Resolve: value},
		{Kind: WinLead, Name: "lead", Syntax: "LEAD(a [, n [, default]])", Doc: "The value n rows (1) after the row in its partition; the default (NULL) if there is no such row.", MinArgs: 1, MaxArgs: 3, Resolve: shifted},
		{Kind: WinNthValue, Name: "nth_value", Syntax: "NTH_VALUE(a, n)", Doc: "The value in the frame's row n, from 1; NULL if there is no such row.", Framed: true, MinArgs: 2, MaxArgs: 2, Resolve: value},
		{Kind: WinNtile, Name: "ntile", Syntax: "NTILE(n)", Doc: "The number of the row's bucket when the partition is cut into n, of which the first ones are larger by a row where it does not divide.", MinArgs: 1, MaxArgs: 1,
			Resolve: func([]Expr) (Signature, error) {
				return Signature{Args: []types.Type{types.Int64}, Result: types.Uint64}, nil
			}},
		{Kind: WinPercentRank, Name: "percent_rank", Syntax: "PERCENT_RANK()", Doc: "(RANK() - 1) / (rows of the partition - 1); 0 in a partition of one row.", Resolve: gives(types.Double)},
		{Kind: WinRank, Name: "rank", Syntax: "RANK()", Doc: "1 more than the number of rows of the partition that come before the row's peers.", Resolve: gives(types.Uint64)},
		{Kind: WinRowNumber, Name: "row_number", Syntax: "ROW_NUMBER()", Doc: "The row's number in its partition, from 1.", Resolve: gives(types.Uint64)},
	}
}()

// WindowFunctions returns the functions that need OVER, by name.
func WindowFunctions() []*WindowFunction { return slices.Clone(windowFunctions) }

// LookupWindow returns what may stand before OVER under a name, or nil: a window function, or an aggregate. Case does not
// matter.
func LookupWindow(name string) *WindowFunction {
	name = strings.ToLower(name)
	for _, f := range windowFunctions {
		if f.Name == name {
			return f
		}
	}
	agg := LookupAggregate(name)
	if agg == nil {
		return nil
	}
	return OverWindow(agg)
}

// OverWindow returns an aggregate as what may stand before OVER, or nil if it may not.
func OverWindow(agg *Aggregate) *WindowFunction {
	if agg.NoWindow {
		return nil
	}
	f := &WindowFunction{Kind: WinAggregate, Name: agg.Name, Agg: agg, Framed: true, MinArgs: 1, MaxArgs: 1, Resolve: agg.Resolve}
	if agg.Kind == AggCountStar {
		f.MinArgs, f.MaxArgs = 0, 0
	}
	return f
}

// CheckArgs reports a wrong number of operands.
func (f *WindowFunction) CheckArgs(n int) error {
	if n < f.MinArgs || n > f.MaxArgs {
		return sqlerr.WrongParamCount(f.Name)
	}
	return nil
}
