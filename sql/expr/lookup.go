package expr

import (
	"slices"
	"strings"
	"sync"
)

// The registry.

var (
	scalarFunctions    []*Function
	scalarByName       = map[string]*Function{}
	aggregateFunctions []*Aggregate
	aggregateByName    = map[string]*Aggregate{}
)

func init() { Register(Operators()) }

// Operators returns the functions that this package itself needs: those that the tree is built of, and those that evaluate an operand only
// for the rows that need it. The others stand in sql/functions.
func Operators() []*Function {
	return slices.Concat(arithmeticFunctions(), controlFunctions(), likeFunctions())
}

// Register adds functions to the registry. Packages do that when they are initialized.
func Register(fns []*Function) {
	for _, f := range fns {
		names := append([]string{f.Name}, f.Aliases...)
		if f.Spelling.Parsed != "" {
			names = append(names, f.Spelling.Parsed)
		}
		for _, name := range names {
			if scalarByName[name] != nil {
				panic("function " + name + " is registered twice")
			}
			scalarByName[name] = f
		}
		scalarFunctions = append(scalarFunctions, f)
	}
}

// ParsedAs sets the name that the parser has for a function.
func (f *Function) ParsedAs(name string) *Function {
	f.Spelling.Parsed = name
	return f
}

func registerAggregates(fns ...*Aggregate) {
	for _, f := range fns {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if aggregateByName[name] != nil {
				panic("aggregate " + name + " is registered twice")
			}
			aggregateByName[name] = f
		}
		aggregateFunctions = append(aggregateFunctions, f)
	}
}

// Lookup returns the scalar function or operator of that name or alias, or nil. Case does not matter.
func Lookup(name string) *Function {
	if f := scalarByName[name]; f != nil {
		return f
	}
	return scalarByName[strings.ToLower(name)]
}

// LookupAggregate returns the aggregate function of that name or alias, or nil. Case does not matter. COUNT(*) is
// "count(*)".
func LookupAggregate(name string) *Aggregate {
	if f := aggregateByName[name]; f != nil {
		return f
	}
	return aggregateByName[strings.ToLower(name)]
}

// Functions returns all scalar functions and operators, by category and name.
func Functions() []*Function { return append([]*Function(nil), sortedFunctions()...) }

var sortedFunctions = sync.OnceValue(func() []*Function {
	fns := append([]*Function(nil), scalarFunctions...)
	slices.SortFunc(fns, func(a, b *Function) int {
		if c := strings.Compare(a.Category, b.Category); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return fns
})

// Aggregates returns all aggregate functions by name.
func Aggregates() []*Aggregate {
	fns := append([]*Aggregate(nil), aggregateFunctions...)
	slices.SortFunc(fns, func(a, b *Aggregate) int { return strings.Compare(a.Name, b.Name) })
	return fns
}
