package render

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/storage/jsonlines"
)

// jsonObjects writes an object for each row, in an array or on lines of their own.
type jsonObjects struct {
	output
	isArray bool
	objects *jsonlines.Encoder
	rows    int64
	line    []byte
}

func newJSON(o output, isArray bool) *jsonObjects {
	var names []string
	for _, c := range o.cols {
		names = append(names, c.Name)
	}
	return &jsonObjects{output: o, isArray: isArray, objects: jsonlines.NewEncoder(names, o.appendValue)}
}

func (j *jsonObjects) begin() {
	if j.isArray {
		j.w.WriteByte('[')
	}
}

func (j *jsonObjects) row(b *column.Batch, at int) {
	j.line = j.line[:0]
	if j.isArray {
		if j.rows > 0 {
			j.line = append(j.line, ',')
		}
		j.line = append(j.line, '\n')
	}
	j.rows++
	j.line = j.objects.AppendRow(j.line, b, at)
	if !j.isArray {
		j.line = append(j.line, '\n')
	}
	j.w.Write(j.line)
}

func (j *jsonObjects) batchEnd() {}

func (j *jsonObjects) end() {
	if j.isArray {
		if j.rows > 0 {
			j.w.WriteByte('\n')
		}
		j.w.WriteString("]\n")
	}
}
