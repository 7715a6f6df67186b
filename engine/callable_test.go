package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Every function that the reference documents can be called: whatever else is wrong with the operands, its name is known.
func TestDocumentedFunctionsAreKnown(t *testing.T) {
	e, err := New(database.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := e.NewSession()
	defer s.Close()
	call := func(name string, operands int, over string) {
		t.Helper()
		_, err := run(context.Background(), s, "SELECT "+name+"("+strings.Join(slices.Repeat([]string{"1"}, operands), ", ")+")"+over)
		if errors.Is(err, sqlerr.CodeUnknownFunction) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, f := range expr.Functions() {
		if f.Spelling.Infix == "" {
			call(f.Name, f.MinArgs, "")
		}
	}
	for _, f := range expr.Aggregates() {
		if f.Syntax == "" || f.Kind == expr.AggCountStar {
			continue
		}
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			call(name, 1+strings.Count(f.Syntax, ", "), "")
		}
	}
	for _, f := range expr.WindowFunctions() {
		call(f.Name, strings.Count(f.Syntax, "(")-1, " OVER ()")
	}
}
