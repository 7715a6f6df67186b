package files

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/textfile"
)

// maxPartitionBytes bounds the rows that wait until the files of their folders are written, where no limit of memory bounds them further.
const maxPartitionBytes = 256 << 20

// PartitionWriter writes rows into folders that the values of some columns name, key=value, without those columns. Rows wait in memory; where they take too much of it, the
// largest parts are written, each a file that is then whole. So one file is open at a time, however many folders there are.
type PartitionWriter struct {
	folder   *fileaccess.NewFolder
	ending   string // of the files, without the point
	names    []string
	types    []types.Type
	keys     []int
	rest     []int // the columns that files have
	options  Options
	format   []textfile.Format // of keys
	keyNames []string

	parts   map[string]*part // by the values of keys, as appendKey writes them
	folders map[string]*part // by the names that those have, which two values may share
	touched []*part          // by the rows of a batch
	key     []byte
	held    int64
	most    int64
}

// part is the rows of one folder that wait.
type part struct {
	folder  string
	files   int // that were written
	cols    []*column.Vector
	rows    int
	strings int64 // bytes of strings
	bytes   int64 // that are counted
	sel     []int32
}

// partBytes is about what a part takes besides its rows.
const partBytes = 512

// NewPartitionWriter returns a writer to a folder of files that end in ending, without the point. keys are the indices of the columns that name folders, the outermost first.
func NewPartitionWriter(folder *fileaccess.NewFolder, ending string, names []string, columns []types.Type, keys []int, o Options) *PartitionWriter {
	w := &PartitionWriter{folder: folder, ending: ending, keys: keys, options: o, parts: map[string]*part{}, folders: map[string]*part{}, most: maxPartitionBytes}
	if o.Limit > 0 {
		w.most = min(w.most, o.Limit/4)
	}
	zone := o.Zone
	if zone == nil {
		zone = time.UTC
	}
	for _, k := range keys {
		w.format, w.keyNames = append(w.format, textfile.FormatOf(columns[k], zone)), append(w.keyNames, names[k])
	}
	for i := range columns {
		if !slices.Contains(keys, i) {
			w.rest = append(w.rest, i)
			w.names, w.types = append(w.names, names[i]), append(w.types, columns[i])
		}
	}
	return w
}

// Replaceable says of what is in a folder whether a partitioned writing may have made it.
func Replaceable(name string, d fs.DirEntry) bool {
	if d.IsDir() {
		return strings.Contains(d.Name(), "=")
	}
	return d.Type().IsRegular() && FormatOf(name) != Unknown
}

// Write adds the selected rows of a batch.
func (w *PartitionWriter) Write(ctx context.Context, b *column.Batch) error {
	for i := range b.Rows() {
		at := i
		if b.Sel != nil {
			at = int(b.Sel[i])
		}
		p, err := w.partOf(b, at)
		if err != nil {
			return err
		}
		if len(p.sel) == 0 {
			w.touched = append(w.touched, p)
		}
		p.sel = append(p.sel, int32(at))
	}
	for _, p := range w.touched {
		w.held += w.add(p, b)
		p.sel = p.sel[:0]
	}
	w.touched = w.touched[:0]
	if err := w.meter(0); err != nil {
		return err
	}
	if w.held > w.most {
		return w.flush(ctx, w.most/2)
	}
	return nil
}

func (w *PartitionWriter) meter(more int64) error {
	if w.options.Meter == nil {
		return nil
	}
	return w.options.Meter(w.held + more)
}

// partOf returns the part that a row belongs to.
func (w *PartitionWriter) partOf(b *column.Batch, at int) (*part, error) {
	w.key = w.key[:0]
	for _, k := range w.keys {
		w.key = appendKey(w.key, b.Cols[k], at)
	}
	if p := w.parts[string(w.key)]; p != nil {
		return p, nil
	}
	p := &part{bytes: partBytes}
	for i, k := range w.keys {
		text := nullPartition
		if !b.Cols[k].IsNull(at) {
			value := string(w.format[i](nil, b.Cols[k], at))
			if text = escaped(value, plainInValue); text == nullPartition {
				return nil, sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.User, "the value '%s' can name no folder of a partition: that name means NULL", value)
			}
		}
		p.folder = path.Join(p.folder, escaped(w.keyNames[i], plainInKey)+"="+text)
	}
	if same := w.folders[p.folder]; same != nil {
		p = same
	} else {
		w.folders[p.folder] = p
		w.held += partBytes
	}
	w.parts[string(w.key)] = p
	return p, nil
}

// appendKey appends a value so that different ones differ in what is appended, whatever follows.
func appendKey(dst []byte, v *column.Vector, at int) []byte {
	if v.IsNull(at) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	if v.Type.Phys() == types.PhysString {
		text := v.StringAt(at)
		return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
	}
	if v.Const {
		at = 0
	}
	switch v.Type.Phys() {
	case types.PhysFloat64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.F64[at]))
	case types.PhysInt128:
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, uint64(v.I128[at].Hi)), v.I128[at].Lo)
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v.I64[at]))
}

// escaped returns a text as it stands in a folder's name, with the bytes that are not plain as %2F and the like.
func escaped(text string, plain func(c byte) bool) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// plainInValue says which bytes of values stand for themselves: those that do in addresses, too.
func plainInValue(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// plainInKey says the same of keys. Others, DuckDB among them, take a key as it stands, so that only what would not be read as one is escaped.
func plainInKey(c byte) bool { return c >= ' ' && strings.IndexByte(`/\=%`, c) < 0 }

// add adds the rows of a batch that belong to a part, and returns how many bytes more are held.
func (w *PartitionWriter) add(p *part, b *column.Batch) int64 {
	if p.cols == nil {
		for _, t := range w.types {
			p.cols = append(p.cols, &column.Vector{Type: t})
		}
	}
	bytes := partBytes + p.strings
	for i, c := range w.rest {
		dst := p.cols[i]
		column.AppendSelected(dst, p.rows, b.Cols[c], p.sel, b.N)
		for r := p.rows; r < len(dst.Str); r++ {
			if b.Cols[c].Loose {
				dst.Str[r] = strings.Clone(dst.Str[r])
			}
			p.strings += int64(len(dst.Str[r]))
			bytes += int64(len(dst.Str[r]))
		}
		bytes += int64(dst.Capacity())
	}
	p.rows += len(p.sel)
	more := bytes - p.bytes
	p.bytes = bytes
	return more
}

// flush writes the largest parts until at most so many bytes are held besides what an empty part takes.
func (w *PartitionWriter) flush(ctx context.Context, most int64) error {
	var list []*part
	for _, p := range w.folders {
		if p.rows > 0 {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *part) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), strings.Compare(a.folder, b.folder))
	})
	for _, p := range list {
		if w.held-partBytes*int64(len(w.folders)) <= most {
			return nil
		}
		if err := w.write(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// write writes the rows of a part to a file.
func (w *PartitionWriter) write(ctx context.Context, p *part) (err error) {
	name := fmt.Sprintf("%s/data_%d.%s", p.folder, p.files, w.ending)
	f, err := w.folder.Create(name)
	if err != nil {
		return CannotWrite(name, err)
	}
	defer func() {
		if closed := f.Close(); err == nil && closed != nil {
			err = CannotWrite(name, closed)
		}
	}()
	o := w.options
	o.Meter = w.meter
	out, err := NewWriter(f, name, w.names, w.types, o)
	if err != nil {
		return err
	}
	defer out.Abandon()
	rows := make([]int32, 0, column.VectorSize)
	for from := 0; from < p.rows; from += len(rows) {
		if ctx.Err() != nil {
			return sqlerr.Interrupted(context.Cause(ctx))
		}
		rows = rows[:0]
		for i := from; i < min(from+column.VectorSize, p.rows); i++ {
			rows = append(rows, int32(i))
		}
		if err := out.Write(&column.Batch{N: p.rows, Sel: rows, Cols: p.cols}); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	w.held -= p.bytes - partBytes
	p.cols, p.rows, p.strings, p.bytes = nil, 0, 0, partBytes
	p.files++
	return w.meter(0)
}

// Close writes the rows that wait. It does not end the folder.
func (w *PartitionWriter) Close(ctx context.Context) error { return w.flush(ctx, -1) }
