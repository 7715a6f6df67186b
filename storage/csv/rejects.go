package csv

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// Where errors are ignored, records that do not fit are left out of the table, whichever columns are wanted. They are a table of their own.

// reject is a record that was left out.
type reject struct {
	file string
	line int64
	text string // its first line
	why  string
}

// rejected is what is known of the records that are left out.
type rejected struct {
	mu    sync.Mutex
	known bool
	count int64
	first string
}

// maxRejectText bounds the text of a record that is kept.
const maxRejectText = 64 << 10

func rejectColumns() []table.ColumnDef {
	return []table.ColumnDef{
		{Name: "file", Type: types.Text}, {Name: "line", Type: types.Int64}, {Name: "csv_line", Type: types.Text}, {Name: "error_message", Type: types.Text},
	}
}

// rejectsOf returns the records of a block that are left out.
func (r *reader) rejectsOf(b *textfile.Block) (list []reject, err error) {
	s, err := r.begin(b)
	if err != nil {
		return nil, err
	}
	fields := r.fieldsOf(s, nil)
	records := r.records(s, fields)
	for n := 0; s.more(r.skipsEmpty(s)); n++ {
		if n&1023 == 1023 {
			if err := r.ended(); err != nil {
				return nil, err
			}
		}
		begin := s.at
		err := records.next()
		for _, c := range fields {
			if c != nil {
				c.Truncate(0)
			}
		}
		if err == nil {
			continue
		}
		s.at = lineEnd(s.Text, begin)
		text := bytes.TrimRight(s.Text[begin:s.at], "\r\n")
		list = append(list, reject{
			file: s.Source, line: int64(s.Line + bytes.Count(s.Text[:begin], []byte{'\n'})), text: string(text[:min(len(text), maxRejectText)]), why: r.reason(err),
		})
	}
	return list, nil
}

// reason returns what is wrong with a record.
func (r *reader) reason(err error) string {
	var bad *textfile.Misfit
	if errors.As(err, &bad) {
		return bad.Position + ": '" + bad.Text + "' does not fit column '" + r.names[bad.Column] + "', which has the type " + r.typeOf(bad.Column).String()
	}
	return sqlerr.From(err).Message
}

// eachReject calls f with the records that are left out, block by block and in order.
func (t *Texts) eachReject(ctx context.Context, f func([]reject) error) error {
	r := t.reader(nil)
	r.ended = ctx.Err
	return textfile.Each(ctx, t.opts.cutAt(), t.sources, r.rejectsOf, f)
}

// Rejected returns how many records are left out because their errors are ignored, and what is wrong with the first.
func (t *Texts) Rejected(ctx context.Context) (count int64, first string, err error) {
	if t.rejects == nil || t.opts.Rejects {
		return 0, "", nil
	}
	t.rejects.mu.Lock()
	defer t.rejects.mu.Unlock()
	if t.rejects.known {
		return t.rejects.count, t.rejects.first, nil
	}
	err = t.eachReject(textfile.Metered(ctx), func(list []reject) error {
		if count == 0 && len(list) > 0 {
			first = list[0].why
		}
		count += int64(len(list))
		return nil
	})
	if err == nil {
		t.rejects.known, t.rejects.count, t.rejects.first = true, count, first
	}
	return count, first, err
}

// readRejects returns a table of the records that are left out.
func (t *Texts) readRejects(ctx context.Context, schema *table.Schema, ordinals []int, limit int64) (*table.Version, error) {
	return textfile.ReadTable(ctx, schema, limit, func(ctx context.Context, add textfile.Add) error {
		return t.eachReject(ctx, func(list []reject) error {
			all := make([]encoding.Data, 4)
			for _, r := range list {
				all[0].Strings = append(all[0].Strings, r.file)
				all[1].Ints = append(all[1].Ints, r.line)
				all[2].Strings = append(all[2].Strings, r.text)
				all[3].Strings = append(all[3].Strings, r.why)
			}
			var cols []encoding.Data
			for i, o := range ordinals {
				d := all[o]
				d.Type, d.Rows = schema.Columns[i].Type, len(list)
				cols = append(cols, d)
			}
			return add(len(list), cols)
		})
	})
}
