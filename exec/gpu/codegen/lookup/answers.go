package lookup

import (
	"crypto/sha256"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Answers are what a cache says while one program is made. Asked again it says the same, though strings come to dictionaries and the statement may end meanwhile: what was decided by an answer
// still holds when the text is written.
type Answers struct {
	cache   *Cache
	strings map[*column.Dictionary][]string // as they were when they were asked for first
	tables  map[question]*answer
	unions  map[*column.Dictionary][]union // by what they begin with
	enums   map[*types.EnumMembers]enum
}

type question struct {
	of          *column.Dictionary
	fingerprint [sha256.Size]byte // of the expression
}

// answer is the table of a column that is never NULL, and of one that may be; nil: it was not asked for.
type answer struct {
	tables [2]*Table
	err    error // of both
}

type union struct {
	literals []string
	all      *column.Dictionary
}

// Answers are for making a program.
func (c *Cache) Answers() *Answers {
	a := &Answers{cache: c}
	a.Forget()
	return a
}

// Forget forgets what was asked: the program is made.
func (a *Answers) Forget() {
	a.strings, a.tables = map[*column.Dictionary][]string{}, map[question]*answer{}
	a.unions, a.enums = map[*column.Dictionary][]union{}, map[*types.EnumMembers]enum{}
}

// values are a dictionary's strings.
func (a *Answers) values(d *column.Dictionary) []string {
	values, ok := a.strings[d]
	if !ok {
		values = d.Values()
		a.strings[d] = values
	}
	return values
}

// HasTables says whether a dictionary has so few strings that there are tables over them.
func (a *Answers) HasTables(d *column.Dictionary) bool { return len(a.values(d)) <= MostStrings }

// Of returns an expression's values over a dictionary column. Errors are refusals. Whether there is one does not depend on whether the column is nullable: a text may know that better than
// what was decided before.
func (a *Answers) Of(e expr.Expr, col *expr.Column, d *column.Dictionary, isNullable bool, ctx *expr.Context) (*Table, error) {
	q := question{d, fingerprint(e, ctx)}
	x, at := a.tables[q], 0
	if isNullable {
		at = 1
	}
	if x == nil {
		x = &answer{}
		a.tables[q] = x
	} else if x.tables[1-at] != nil { // so this one can be made, and is, even if the statement ends meanwhile
		own := *ctx
		own.Ctx, own.Strings = nil, nil
		ctx = &own
	}
	if x.tables[at] == nil && x.err == nil {
		x.tables[at], x.err = a.cache.table(e, col, d, a.values(d), q.fingerprint, isNullable, ctx)
	}
	return x.tables[at], x.err
}

// Union returns a dictionary that begins with d's strings (nil: none) and has the literals too; nil if they are too many for tables.
func (a *Answers) Union(d *column.Dictionary, literals []string) *column.Dictionary {
	if d != nil && !a.HasTables(d) {
		return nil
	}
	for _, x := range a.unions[d] {
		if slices.Equal(x.literals, literals) {
			return x.all
		}
	}
	all := a.cache.union(d, literals)
	a.unions[d] = append(a.unions[d], union{literals, all})
	return all
}

// Enum returns a dictionary of an ENUM's names and the codes of its indexes; 0 is the empty string.
func (a *Answers) Enum(members *types.EnumMembers) (*column.Dictionary, *Data) {
	x, ok := a.enums[members]
	if !ok {
		x = a.cache.enum(members)
		a.enums[members] = x
	}
	return x.dict, x.codes
}

// Strings returns a dictionary's strings for the device: their bytes, and their offsets, one more than there are strings.
func (a *Answers) Strings(d *column.Dictionary) (data, offsets *Data) { return a.cache.strings(d) }
