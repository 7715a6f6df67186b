package arrowipc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// Batch is a record batch of a file.
type Batch struct {
	Rows   int
	at     span
	number int // among the record batches
}

// position says for messages which batch it is.
func (b *Batch) position() string { return fmt.Sprintf("record batch %d", b.number) }

// batches finds the record batches, whose beginnings tell their rows, and the dictionaries. apart says that no dictionary stands behind a record batch, so that each batch can
// be read for itself.
func (f *File) batches() (list []Batch, dictionaries []span, apart bool, err error) {
	add := func(m message, at span) error {
		next := Batch{at: at, number: len(list)}
		b, err := newBatch(m.header, f.body(m), m.version)
		if err == nil {
			err = f.keep(2 * int64(unsafe.Sizeof(next))) // with the lists that this one outgrows
		}
		if err != nil {
			return withPosition(next.position(), err)
		}
		next.Rows = int(b.rows)
		list = append(list, next)
		return nil
	}
	apart = true
	for rest := f.first; f.isStream; {
		m, end, err := f.readMessage(rest)
		if errors.Is(err, io.EOF) {
			break
		}
		switch at := (span{rest.begin, end}); {
		case err != nil:
			err = withPosition(fmt.Sprintf("the message at byte %d", rest.begin), err)
		case m.kind == messageRecords:
			err = add(m, at)
		case m.kind == messageDictionary:
			apart = apart && len(list) == 0
			if err = f.keep(2 * int64(unsafe.Sizeof(at))); err == nil {
				dictionaries = append(dictionaries, at)
			}
		}
		if err != nil {
			return nil, nil, false, f.failed(err)
		}
		rest.begin = end
	}
	for i, block := range f.footer.batches {
		m, _, err := f.readMessage(block)
		if err == nil && m.kind != messageRecords {
			err = fmt.Errorf("a message of kind %d", m.kind)
		}
		if err != nil {
			err = withPosition(fmt.Sprintf("record batch %d", i), notEnd(err))
		} else {
			err = add(m, block)
		}
		if err != nil {
			return nil, nil, false, f.failed(err)
		}
	}
	return list, append(dictionaries, f.footer.dictionaries...), apart, nil
}

// Rows returns the number of rows, which the beginnings of the record batches tell.
func (f *File) Rows() (rows int64, err error) {
	list, _, _, err := f.batches()
	for _, b := range list {
		rows += int64(b.Rows)
	}
	return rows, err
}

// dictionaryShare bounds the dictionaries that are read for each record batch anew: an eighth of the batches.
const dictionaryShare = 8

// Batches returns the record batches. apart says whether [File.Stream] can read each for itself.
func (f *File) Batches() (list []Batch, apart bool, err error) {
	list, f.dictionaries, apart, err = f.batches()
	again, once := int64(0), int64(0)
	for _, d := range f.dictionaries {
		again += (d.end - d.begin) * int64(len(list))
	}
	for _, b := range list {
		once += b.at.end - b.at.begin
	}
	return list, apart && again <= once/dictionaryShare, err
}

// partRows is how many rows a BatchReader gives at once.
const partRows = 1 << 14

// BatchReader reads columns of a record batch part by part, for one goroutine. Several may read one file at once.
type BatchReader struct {
	l      *loader
	batch  Batch
	arrays []arrow.Array // of the file's columns; nil: not read yet
	at     int
	part   int64                // bytes of the last part that the scratch knows of
	whole  int64                // and of the batch
	shared []*column.Dictionary // of the columns of strings, over all batches
	codes  [][]uint32           // by column: the shared codes of the batch's dictionary; nil: not made yet
	begun  bool
}

// Stream returns a reader of the columns at ordinals, -1 of which is a column that the file lacks, in one of the file's Batches. The context's [table.Scratch] counts its memory.
// Columns of dictionaries with few strings come as codes of shared, which has a dictionary for each.
func (f *File) Stream(ctx context.Context, b Batch, ordinals []int, shared []*column.Dictionary) *BatchReader {
	own := *f // whose memory is counted apart
	own.ctx, own.scratch, own.message = ctx, table.ScratchOf(ctx), 0
	own.opener, own.held = own.scratch, 0
	return &BatchReader{l: newLoader(&own, ctx, ordinals), batch: b, shared: shared, codes: make([][]uint32, len(ordinals))}
}

// Next returns the next rows, column by column, of the given types; 0 rows: there are no more. They are good until the next call.
func (r *BatchReader) Next(columns []types.Type) (rows int, chunks []*encoding.Chunk, err error) {
	if err := r.begin(); err != nil {
		return 0, nil, r.l.failed(withPosition(r.batch.position(), err))
	}
	r.l.scratch.Free(r.part)
	r.part = 0
	if rows = min(partRows, r.batch.Rows-r.at); rows == 0 {
		return 0, nil, nil
	}
	if err := r.l.ctx.Err(); err != nil {
		return 0, nil, sqlerr.Interrupted(err)
	}
	r.l.scratch.Free(r.l.held - r.whole)
	r.l.held = r.whole
	size := 16 * int64(rows) * int64(len(columns))
	if err := r.l.scratch.Add(size); err != nil {
		return 0, nil, err
	}
	r.part = size
	for i, o := range r.l.ordinals {
		var d encoding.Data
		if o < 0 {
			d = arrowconv.ConstantData(o, r.l.Constants, rows)
		} else {
			if d, err = arrowconv.Data(array.NewSlice(r.arrays[o], int64(r.at), int64(r.at+rows)), columns[i], r.l.holdWhileWanted); err != nil {
				return 0, nil, r.l.failed(withPosition(fmt.Sprintf("%s, column '%s'", r.batch.position(), r.l.columns[o].Name), err))
			}
		}
		d.Complete(columns[i])
		d.Type, d.KeepsInts, d.NoBounds = columns[i], true, true
		if d.Codes != nil && d.Words != nil && d.Type.IsString() {
			if r.codes[i] == nil {
				r.codes[i] = encoding.SharedCodes(r.shared[i], d.Words)
			}
			if r.codes[i] != nil {
				d.Share(r.shared[i], r.codes[i])
			}
		}
		chunks = append(chunks, encoding.Encode(d))
	}
	r.at += rows
	return rows, chunks, nil
}

// begin reads the batch.
func (r *BatchReader) begin() error {
	if r.begun {
		return nil
	}
	r.begun = true
	coded := false
	for _, o := range r.l.ordinals {
		if o >= 0 {
			r.l.fields[o].dictionaries(func(*field) { coded = true })
		}
	}
	if coded {
		for i, block := range r.l.dictionaries {
			m, _, err := r.l.readMessage(block)
			if err == nil && m.kind != messageDictionary {
				err = fmt.Errorf("a message of kind %d", m.kind)
			}
			if err == nil {
				err = r.l.dictionary(m)
			}
			if err != nil {
				return withPosition(fmt.Sprintf("dictionary batch %d", i), notEnd(err))
			}
		}
	}
	m, _, err := r.l.readMessage(r.batch.at)
	if err == nil && m.kind != messageRecords {
		err = fmt.Errorf("a message of kind %d", m.kind)
	}
	if err != nil {
		return notEnd(err)
	}
	var rows int
	if r.arrays, rows, err = r.l.arrays(m); err == nil && rows != r.batch.Rows {
		err = fmt.Errorf("%d rows, and %d before", rows, r.batch.Rows)
	}
	r.whole = r.l.held
	return err
}

// Bytes returns how many bytes of the file were read, at most.
func (r *BatchReader) Bytes() int64 {
	if !r.begun {
		return 0
	}
	return (r.batch.at.end - r.batch.at.begin) * int64(len(r.l.ordinals)) / int64(max(1, len(r.l.fields)))
}

// Close gives back what the reader holds.
func (r *BatchReader) Close() {
	r.l.dropMessage()
	r.l.scratch.Free(r.part + r.l.held + r.l.kept)
	r.part, r.l.held, r.l.kept, r.arrays = 0, 0, 0, nil
}
