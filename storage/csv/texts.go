package csv

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// Texts are one or more texts that make one table. The types of its columns follow from the beginning of the first text, until [Texts.Settle]
// has looked at all values. Texts do not change: they may be read by several goroutines.
type Texts struct {
	opts    Options
	sources []textfile.Source
	fields  [][]string // the names of each text's fields; nil: it is empty
	at      [][]int    // the column of each field
	names   []string   // of the columns
	shapes  []textfile.Shape
	given   []types.Type // the types that options give columns; of kind NULL where they give none
	settled bool
	odd     []*Odd // by column; nil: no value stands out
	doubted bool   // the samples have not the same types
	density float64
	rejects *rejected // of texts whose errors are ignored
}

// Odd is the first value that makes a column TEXT whose other values have a narrower type, or what all values of a column of strings look like.
type Odd struct {
	Looks    string // if not empty, what they look like; there is no odd value then
	Position string // file and line
	Text     string
	Type     string // that of the others
}

// Open reads the beginnings of texts. The first one says whether they have headers, and what delimits fields. Their columns are those of the first, by
// position, until [Texts.Arrange] says otherwise.
func Open(ctx context.Context, opts Options, sources ...textfile.Source) (*Texts, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	ctx = textfile.Metered(ctx)
	sources = slices.Clone(sources)
	for i := range sources {
		sources[i] = prepared(ctx, sources[i], opts)
	}
	first, err := sample(ctx, sources[0], opts)
	if err != nil {
		return nil, err
	}
	t := &Texts{opts: opts, sources: sources, names: first.names, shapes: first.shapes, odd: first.odd, density: first.density, fields: [][]string{first.names}}
	t.opts.Delimiter, t.opts.Header = first.delimiter, HeaderNo
	if first.hasHeader {
		t.opts.Header = HeaderYes
	}
	for _, s := range sources[1:] {
		fields, err := t.fieldsOf(ctx, s, opts.Header == HeaderAuto)
		if err != nil {
			return nil, err
		}
		t.fields = append(t.fields, fields)
	}
	if opts.IgnoresErrors {
		t.rejects = new(rejected)
	}
	if t.settled = opts.AllText || opts.IgnoresErrors; !t.settled {
		t.sampleMore(ctx, sources[0], first.whole)
	}
	if err := ctx.Err(); err != nil { // fewer samples would be remembered
		return nil, sqlerr.Interrupted(err)
	}
	for _, fields := range t.fields {
		at := make([]int, len(fields))
		for i := range at {
			at[i] = i
		}
		t.at = append(t.at, at)
	}
	return t, t.Arrange(t.names, t.at)
}

// fieldsOf returns the names of a further text's fields; nil: it is empty. If nobody has said whether texts have headers, it has to have one exactly if the first has.
func (t *Texts) fieldsOf(ctx context.Context, source textfile.Source, isAuto bool) ([]string, error) {
	s, err := firstBlock(ctx, source, t.opts)
	if s == nil || err != nil {
		return nil, err
	}
	names, err := s.record()
	switch {
	case err != nil:
		return nil, err
	case t.opts.Header == HeaderYes && isAuto && !looksLikeNames(names):
		return nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "'%s' has a header with the names of columns, but the first line of '%s' looks like a row: %s", t.sources[0].Name, source.Name, quoted(names)).
			WithHint("write all files with a header, or none; read_csv('...', header = true) takes the first line of each for names")
	case t.opts.Header == HeaderYes:
		textfile.NameColumns(names)
		return names, t.opts.rename(names, source.Name)
	case isAuto && looksLikeNames(names) && notAllText(t.shapes):
		return nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "the first line of '%s' looks like a header: %s, but '%s' has none", source.Name, quoted(names), t.sources[0].Name).
			WithHint("write all files with a header, or none; read_csv('...', header = false) takes the first line of each for a row")
	}
	for i := range names {
		names[i] = textfile.DefaultName(i)
	}
	return names, t.opts.rename(names, source.Name)
}

// rename gives columns the names that the options ask for.
func (o *Options) rename(names []string, file string) error {
	if len(o.Names) > len(names) {
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "names lists %d columns, but '%s' has only %s", len(o.Names), file, fieldCount(names)).
			WithHint("list the first %d at most", len(names))
	}
	copy(names, o.Names)
	return nil
}

func quoted(fields []string) string {
	return "'" + strings.Join(fields[:min(len(fields), 8)], "', '") + "'"
}

// Sources returns the texts, in UTF-8 and with line feeds.
func (t *Texts) Sources() []textfile.Source { return t.sources }

// Fields returns the names of a text's fields; nil: it is empty.
func (t *Texts) Fields(text int) []string { return t.fields[text] }

// Arrange says which columns the texts make: their names, and for each text the column of each of its fields. The error is of options that name others.
func (t *Texts) Arrange(names []string, at [][]int) error {
	shapes, odd := make([]textfile.Shape, len(names)), make([]*Odd, len(names))
	for field, column := range at[0] {
		shapes[column], odd[column] = t.shapes[field], t.odd[field]
	}
	if t.opts.AllText {
		for i := range shapes {
			shapes[i], odd[i] = textfile.Text, nil
		}
	}
	t.names, t.at, t.shapes, t.odd = names, at, shapes, odd
	return t.give()
}

// give takes the types that options give.
func (t *Texts) give() error {
	t.given = make([]types.Type, len(t.names))
	if len(t.opts.TypeList) > len(t.names) {
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "types lists %d types, but '%s' has %s", len(t.opts.TypeList), t.sources[0].Name, fieldCount(t.names)).
			WithHint("list a type for each column, or name some of them, as types = {'column': 'TEXT'}")
	}
	copy(t.given, t.opts.TypeList)
	known := map[string]bool{}
	for i, name := range t.names {
		known[strings.ToLower(name)] = true
		if typ, ok := t.opts.Types[strings.ToLower(name)]; ok {
			t.given[i] = typ
		}
		if t.given[i] != (types.Type{}) {
			t.odd[i] = nil
		}
	}
	for name := range t.opts.Types {
		if !known[name] {
			hint := "names = ['...'] gives columns other names"
			if near := sqlerr.Suggest(name, t.names); near != "" {
				hint = "did you mean '" + near + "'?"
			}
			return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "types names the column '%s', but '%s' has the columns %s", name, t.sources[0].Name, quoted(t.names)).WithHint("%s", hint)
		}
	}
	return nil
}

// typeOf returns a column's type.
func (t *Texts) typeOf(column int) types.Type {
	if given := t.given[column]; given != (types.Type{}) {
		return given
	}
	return t.shapes[column].Type()
}

// Columns returns the table's columns.
func (t *Texts) Columns() []table.ColumnDef {
	if t.opts.Rejects {
		return rejectColumns()
	}
	columns := make([]table.ColumnDef, len(t.names))
	for i := range columns {
		columns[i] = table.ColumnDef{Name: t.names[i], Type: t.typeOf(i), Nullable: true}
	}
	return columns
}

// Width returns how many columns the table has.
func (t *Texts) Width() int {
	if t.opts.Rejects {
		return len(rejectColumns())
	}
	return len(t.names)
}

// Settled says whether the types follow from all values.
func (t *Texts) Settled() bool { return t.settled }

// Shown says whether the sample has a value of a column.
func (t *Texts) Shown(column int) bool { return t.shapes[column].Known() }

// Doubted says whether some parts of the first text have TEXT where others have another type: only all values tell which are odd.
func (t *Texts) Doubted() bool { return t.doubted && !t.settled }

// Density returns about how many bytes of text a row has.
func (t *Texts) Density() float64 { return t.density }

// Odd returns the value that makes a column TEXT while most have another type, or what a column of strings looks like; nil: there is none.
func (t *Texts) Odd(column int) *Odd {
	if t.opts.Rejects || t.opts.IgnoresErrors && t.odd[column] != nil && t.odd[column].Looks == "" {
		return nil
	}
	return t.odd[column]
}

// Settle returns the texts with types that hold all values of all columns. cause is what made reading fail; it may be nil.
func (t *Texts) Settle(ctx context.Context, cause error) (*Texts, error) {
	next := *t
	var bad *textfile.Misfit
	if t.settled && errors.As(cause, &bad) {
		// Classified by all of its values, and still one of them is not read as what it looks like.
		next.shapes = slices.Clone(t.shapes)
		next.shapes[bad.Column] = textfile.Text
		return &next, nil
	}
	var err error
	next.shapes, next.odd, err = t.classify(textfile.Metered(ctx))
	next.settled = true
	return &next, err
}
