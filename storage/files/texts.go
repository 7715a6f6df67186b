package files

import (
	"context"

	"github.com/radish-sql/radish/storage/csv"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/jsonlines"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// text is a format whose files are texts, of which a sample was read. A further format that is text needs nothing else than these.
type text interface {
	Columns() []table.ColumnDef
	Density() float64
	Settled() bool
	Shown(column int) bool
	Read(ctx context.Context, database, name string, ordinals []int, limit int64) (*table.Version, error)
	// Quote returns the quote inside which a line end is no record's end; 0: there is none.
	Quote() byte
	// Sources returns the texts as blocks are cut of them.
	Sources() []textfile.Source
	Parts(b *textfile.Block, ordinals []int) (textfile.Parts, error)
	// settle returns the texts with types that follow from all rows. cause is the error of a value that does not fit; nil: there is none.
	settle(ctx context.Context, cause error) (text, error)
	// odd is what Set.Odd returns.
	odd(column int) *csv.Odd
	// splits says whether the texts can be cut anywhere between two rows, and fromStart whether this one has to be read from its start all the same.
	splits() bool
	fromStart(f fileaccess.File) bool
}

// csvText is the [text] of CSV files.
type csvText struct{ *csv.Texts }

func (t csvText) settle(ctx context.Context, cause error) (text, error) {
	next, err := t.Settle(ctx, cause)
	return csvText{next}, err
}

func (t csvText) odd(column int) *csv.Odd {
	if column >= t.Width() {
		return nil
	}
	return t.Odd(column)
}

func (t csvText) splits() bool                     { return t.Splits() }
func (t csvText) fromStart(f fileaccess.File) bool { return csv.FromStart(f, t.Quote()) }

// jsonText is the [text] of JSON objects.
type jsonText struct{ *jsonlines.Objects }

func (t jsonText) settle(ctx context.Context, cause error) (text, error) {
	next, err := t.Settle(ctx, cause)
	return jsonText{next}, err
}

func (t jsonText) odd(column int) *csv.Odd {
	if column < len(t.Columns()) {
		if note := t.Looks(column); note != "" {
			return &csv.Odd{Looks: note}
		}
	}
	return nil
}

func (t jsonText) splits() bool                   { return true }
func (t jsonText) fromStart(fileaccess.File) bool { return false }

// text returns the texts; nil: the format is another.
func (s *Set) text() text {
	if s.rows == nil {
		return nil
	}
	return s.withKeys(s.rows)
}

// openObjects looks at files of JSON objects.
func (s *Set) openObjects(ctx context.Context) error {
	var sources []textfile.Source
	for _, p := range s.paths {
		text := textfile.FileSource(s.policy, p)
		if s.format == JSON {
			text = jsonlines.Values(text)
		}
		sources = append(sources, text)
	}
	objects, err := jsonlines.Open(ctx, s.source.JSON, sources...)
	if err != nil {
		return err
	}
	return s.sampled(ctx, jsonText{objects}, s.source.AllRows)
}

// sampled takes over what a sample of texts tells, or all of their rows.
func (s *Set) sampled(ctx context.Context, rows text, all bool) (err error) {
	if all && !rows.Settled() {
		if rows, err = rows.settle(ctx, nil); err != nil {
			return err
		}
	}
	s.rows = rows
	if !s.source.CSV.Rejects {
		s.keys = s.keyColumns()
	}
	s.Columns, s.RowsEstimated = s.text().Columns(), true
	s.Rows = s.estimateRows()
	return nil
}

func (s *Set) openTexts(ctx context.Context) error {
	sources := make([]textfile.Source, len(s.paths))
	for i, p := range s.paths {
		sources[i] = textfile.FileSource(s.policy, p)
	}
	texts, err := csv.Open(ctx, s.source.options(s.paths[0]), sources...)
	if err != nil {
		return err
	}
	fields := make([][]string, len(s.paths))
	for i := range fields {
		fields[i] = texts.Fields(i)
	}
	names, indices, err := arrange(s.source.Match, s.shown, fields)
	if err != nil {
		return err
	}
	at := make([][]int, len(indices)) // the other way round
	for i, list := range indices {
		at[i] = make([]int, len(fields[i]))
		for column, index := range list {
			if index >= 0 && len(fields[i]) > 0 {
				at[i][index] = column
			}
		}
	}
	if err := texts.Arrange(names, at); err != nil {
		return err
	}
	return s.sampled(ctx, csvText{texts}, s.source.AllRows || texts.Doubted())
}
