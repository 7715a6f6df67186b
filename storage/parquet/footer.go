package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/parquet"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
)

// The numbers of fields are those of the format's parquet.thrift.

// footer is what Radish uses of a file's metadata.
type footer struct {
	schema []element // the tree's nodes, each before its children
	rows   int64
	groups []rowGroup
}

// element is a node of the schema. A leaf has a physical type.
type element struct {
	name       string
	isLeaf     bool
	physical   parquet.Type
	width      int // of FIXED_LEN_BYTE_ARRAY
	repetition int32
	children   int
	converted  int32 // -1: none
	scale      int32
	precision  int32
	logical    logical
}

// The repetitions.
const (
	required = 0
	optional = 1
	repeated = 2
)

// logical is a logical type: the field of the union that is set, 0 if none is.
type logical struct {
	id        int
	unit      int // of TIME and TIMESTAMP: 1 milli-, 2 micro-, 3 nanoseconds
	isUTC     bool
	bits      int32
	signed    bool
	scale     int32
	precision int32
}

// The logical types.
const (
	logicalString    = 1
	logicalMap       = 2
	logicalList      = 3
	logicalEnum      = 4
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalUnknown   = 11
	logicalJSON      = 12
	logicalBSON      = 13
	logicalUUID      = 14
	logicalFloat16   = 15
)

type rowGroup struct {
	rows   int64
	chunks []chunk // by leaf
	coded  bool    // some chunks have dictionaries
}

// chunk is the part of a column that lies in a row group.
type chunk struct {
	physical      parquet.Type
	codec         int32
	values        int64 // NULLs included
	size          int64 // compressed
	data          int64 // where the data pages begin
	dictionary    int64 // where the dictionary page begins; 0: there is none, or it stands at data
	encrypted     bool
	isInOtherFile bool // in another file
	unpacked      int64
	stats         statistics
	coded         bool  // all data pages have codes of the dictionary
	spelled       bool  // all data pages are in the encoding PLAIN
	bloom         int64 // where its Bloom filter begins; 0: it has none

	// The indexes of its pages; without bytes: it has none.
	offsetIndex, offsetIndexSize, columnIndex, columnIndexSize int64
}

// readFooter reads a file's metadata. allow is asked for the memory of what it becomes, and memory counts its bytes while they are read.
func readFooter(ctx context.Context, source io.ReaderAt, size int64, memory *table.Scratch, allow func(bytes int64) error) (*footer, error) {
	const tail = 8 // the metadata's length and the magic number
	if size < 4+tail {
		return nil, fmt.Errorf("it has %d bytes, fewer than any Parquet file", size)
	}
	var end [tail]byte
	if _, err := source.ReadAt(end[:], size-tail); err != nil {
		return nil, err
	}
	switch string(end[4:]) {
	case "PAR1":
	case "PARE":
		return nil, errEncrypted
	default:
		return nil, errors.New("it does not end with PAR1")
	}
	n := int64(binary.LittleEndian.Uint32(end[:4]))
	if n > size-4-tail {
		return nil, fmt.Errorf("its footer claims %d bytes of the file's %d", n, size)
	}
	if err := memory.Add(n); err != nil {
		return nil, fmt.Errorf("a footer of %d bytes: %w", n, err)
	}
	defer memory.Free(n)
	b := make([]byte, n)
	if err := fileaccess.ReadFull(ctx, source, b, size-tail-n); err != nil {
		return nil, err
	}
	f, err := parseFooter(b, allow)
	if err != nil {
		var known *sqlerr.Error
		if errors.As(err, &known) {
			return nil, err
		}
		return nil, fmt.Errorf("the footer: %w", err)
	}
	return f, nil
}

var errEncrypted = sqlerr.NotSupportedf("an encrypted Parquet file", "write it without encryption")

func parseFooter(b []byte, allow func(bytes int64) error) (*footer, error) {
	f := &footer{rows: -1}
	r := &compact{b: b, allow: allow}
	encrypted := false
	r.fields(func(id int, w wire) {
		switch id {
		case 2:
			r.list(w, wireStruct, func(wire) { f.schema = push(r, f.schema, r.element()) })
		case 3:
			f.rows = r.i64(w)
		case 4:
			r.list(w, wireStruct, func(wire) { f.groups = push(r, f.groups, r.rowGroup(len(f.schema))) })
		case 8:
			encrypted = true
			r.skip(w)
		default:
			r.skip(w)
		}
	})
	switch {
	case r.err != nil:
		return nil, r.err
	case encrypted:
		return nil, errEncrypted
	case len(f.schema) == 0:
		return nil, errors.New("it has no schema")
	case f.rows < 0:
		return nil, errors.New("it has no number of rows")
	}
	total := int64(0)
	for i, g := range f.groups {
		if g.rows < 0 || g.rows > f.rows-total {
			return nil, fmt.Errorf("row group %d has %d of the file's %d rows", i, g.rows, f.rows)
		}
		total += g.rows
	}
	if total != f.rows {
		return nil, fmt.Errorf("its row groups have %d of the file's %d rows", total, f.rows)
	}
	return f, nil
}

// columnBytes is about what a column takes as a node of the tree, a definition and an entry of the list in which its name is looked up. nameCopies is how often its name is copied.
const (
	columnBytes = 1 << 10
	nameCopies  = 3
)

func (r *compact) element() element {
	e := element{converted: -1}
	named := false
	r.fields(func(id int, w wire) {
		switch id {
		case 1:
			e.isLeaf, e.physical = true, parquet.Type(r.i32(w))
		case 2:
			e.width = int(r.i32(w))
		case 3:
			e.repetition = r.i32(w)
		case 4:
			name := r.bytes(w)
			r.hold(columnBytes + nameCopies*int64(len(name)))
			e.name, named = string(name), true
		case 5:
			e.children = int(r.i32(w))
		case 6:
			e.converted = r.i32(w)
		case 7:
			e.scale = r.i32(w)
		case 8:
			e.precision = r.i32(w)
		case 10:
			e.logical = r.logical(w)
		default:
			r.skip(w)
		}
	})
	switch {
	case r.err != nil:
	case !named:
		r.fail(errors.New("a column has no name"))
	case e.isLeaf && (e.physical < 0 || e.physical > parquet.Types.FixedLenByteArray):
		r.fail(fmt.Errorf("column '%s' has the unknown physical type %d", e.name, e.physical))
	case e.isLeaf && e.physical == parquet.Types.FixedLenByteArray && e.width <= 0:
		r.fail(fmt.Errorf("column '%s' has values of %d bytes", e.name, e.width))
	case e.repetition < required || e.repetition > repeated:
		r.fail(fmt.Errorf("column '%s' has the unknown repetition %d", e.name, e.repetition))
	case e.children < 0:
		r.fail(fmt.Errorf("column '%s' has %d children", e.name, e.children))
	}
	return e
}

func (r *compact) logical(w wire) logical {
	var l logical
	r.structure(w, func(id int, w wire) {
		l.id = id
		switch id {
		case logicalDecimal, logicalTime, logicalTimestamp, logicalInteger:
			r.structure(w, func(field int, w wire) {
				switch {
				case id == logicalDecimal && field == 1:
					l.scale = r.i32(w)
				case id == logicalDecimal && field == 2:
					l.precision = r.i32(w)
				case id == logicalInteger && field == 1:
					l.bits = r.i32(w)
				case id == logicalInteger && field == 2:
					l.signed = r.bool(w)
				case field == 1:
					l.isUTC = r.bool(w)
				case field == 2:
					r.structure(w, func(unit int, w wire) { l.unit = unit; r.skip(w) })
				default:
					r.skip(w)
				}
			})
		default:
			r.skip(w)
		}
	})
	return l
}

func (r *compact) rowGroup(columns int) rowGroup {
	g := rowGroup{rows: -1}
	r.fields(func(id int, w wire) {
		switch id {
		case 1:
			r.list(w, wireStruct, func(wire) {
				if len(g.chunks) == columns {
					r.fail(errors.New("a row group has more columns than the schema"))
				}
				c := r.columnChunk()
				g.coded = g.coded || c.coded
				g.chunks = push(r, g.chunks, c)
			})
		case 3:
			g.rows = r.i64(w)
		default:
			r.skip(w)
		}
	})
	if g.rows < 0 {
		r.fail(errors.New("a row group has no number of rows"))
	}
	return g
}

func (r *compact) columnChunk() chunk {
	c := chunk{physical: -1, stats: statistics{nulls: -1}}
	described := false
	r.fields(func(id int, w wire) {
		switch id {
		case 1:
			c.isInOtherFile = len(r.bytes(w)) > 0
		case 3:
			described = true
			r.columnMetaData(w, &c)
		case 4:
			c.offsetIndex = r.i64(w)
		case 5:
			c.offsetIndexSize = int64(r.i32(w))
		case 6:
			c.columnIndex = r.i64(w)
		case 7:
			c.columnIndexSize = int64(r.i32(w))
		case 8, 9:
			c.encrypted = true
			r.skip(w)
		default:
			r.skip(w)
		}
	})
	switch {
	case c.encrypted:
	case !described:
		r.fail(errors.New("a column chunk has no description"))
	case c.physical < 0 || c.values < 0 || c.size < 0 || c.data < 0 || c.dictionary < 0 || c.size > math.MaxInt64-c.data:
		r.fail(errors.New("a column chunk has a negative size or offset"))
	}
	return c
}

func (r *compact) columnMetaData(w wire, c *chunk) {
	c.values, c.size, c.data = -1, -1, -1
	var encodings []parquet.Encoding
	listed := false // of which kinds of pages they are
	r.structure(w, func(id int, w wire) {
		switch id {
		case 1:
			c.physical = parquet.Type(r.i32(w))
		case 2:
			r.list(w, wireI32, func(w wire) { encodings = push(r, encodings, parquet.Encoding(r.i32(w))) })
		case 4:
			c.codec = r.i32(w)
		case 5:
			c.values = r.i64(w)
		case 6:
			c.unpacked = r.i64(w)
		case 7:
			c.size = r.i64(w)
		case 12:
			c.stats = r.statistics(w)
		case 9:
			c.data = r.i64(w)
		case 11:
			c.dictionary = r.i64(w)
		case 13:
			c.coded, listed = r.allCoded(w), true
		case 14:
			c.bloom = r.i64(w)
		default:
			r.skip(w)
		}
	})
	c.coded = c.coded || !listed && onlyCodes(encodings)
	c.spelled = onlyValues(encodings)
}
