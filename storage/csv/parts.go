package csv

import (
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/textfile"
)

// Parts reads the records of a block part by part.
type Parts struct {
	r *reader
	s *scanner
}

// Parts returns a reader of the columns at ordinals of a block. The block's Number says of which of the texts it is.
func (t *Texts) Parts(b *textfile.Block, ordinals []int) (textfile.Parts, error) {
	p := &Parts{r: t.reader(ordinals)}
	if len(b.Text) == 0 {
		return p, nil
	}
	var err error
	p.s, err = p.r.begin(b)
	return p, err
}

// Next implements [textfile.Parts]. The error is a [textfile.Misfit] if a value does not fit its column's type.
func (p *Parts) Next(limit int, old []encoding.Data) (rows int, columns []encoding.Data, err error) {
	if p.s == nil || p.s.at == len(p.s.Text) {
		return 0, old, nil
	}
	out, err := p.r.parse(p.s, limit, old)
	return out.rows, out.cols, err
}

// Quote returns the quote inside which a line end is no record's end; 0: there is none.
func (t *Texts) Quote() byte { return t.opts.cutAt() }
