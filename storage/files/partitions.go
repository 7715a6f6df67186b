package files

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// Folders may tell values of columns that their files lack: sales/year=2024/month=5/x.parquet has the columns year and month, which are the same in all of its rows.

// nullPartition is the name that Hive gives to the folder of rows whose value is NULL.
const nullPartition = "__HIVE_DEFAULT_PARTITION__"

// partition is what the name of a folder says.
type partition struct{ key, value string }

// partitionsOf returns what the folders of a path say, the outermost first.
func partitionsOf(path string) (list []partition) {
	for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		key, value, ok := strings.Cut(folder, "=")
		if !ok || key == "" || strings.Contains(value, "=") {
			continue
		}
		if plain, err := url.PathUnescape(value); err == nil { // writers escape slashes, colons and the like
			value = plain
		}
		list = append(list, partition{key, value})
	}
	return list
}

// addPartitions adds a column for each key that the folders of all files tell, in the same order, and that no file has itself.
func (s *Set) addPartitions() {
	if s.format != Parquet || s.source.NoPartitions {
		return
	}
	var files [][]partition
	for _, p := range s.paths {
		files = append(files, partitionsOf(p))
	}
	for i, first := range files[0] {
		values := make([]string, len(files))
		for f, list := range files {
			if len(list) != len(files[0]) || !strings.EqualFold(list[i].key, first.key) {
				return
			}
			values[f] = list[i].value
		}
		if slices.ContainsFunc(s.Columns, func(c table.ColumnDef) bool { return strings.EqualFold(c.Name, first.key) }) {
			continue
		}
		def := table.ColumnDef{Name: first.key, Type: partitionType(values), Nullable: slices.Contains(values, nullPartition)}
		s.Columns = append(s.Columns, def)
		for f, text := range values {
			s.constants[f] = append(s.constants[f], partitionValue(def.Type, text))
			s.at[f] = append(s.at[f], -1-len(s.constants[f])) // as parquet.File.Constants counts them
		}
	}
}

// partitionType returns the type that the values of all folders have: BIGINT, DATE or TEXT.
func partitionType(values []string) types.Type {
	integers, dates, any := true, true, false
	for _, v := range values {
		if v == nullPartition {
			continue
		}
		any = true
		n, err := strconv.ParseInt(v, 10, 64)
		integers = integers && err == nil && (strconv.FormatInt(n, 10) == v || len(v) == 2 && n >= 0 && v[0] == '0') // month=05 is a number, as others take it
		_, status := types.ParseDate(v)
		dates = dates && status == types.ConvertOK && len(v) == len("2024-05-01") && v[4] == '-'
	}
	switch {
	case any && integers:
		return types.Int64
	case any && dates:
		return types.Date
	}
	return types.Text
}

func partitionValue(t types.Type, text string) types.Value {
	v := types.Value{Type: t}
	switch {
	case text == nullPartition:
		return types.NullOf(t)
	case t == types.Int64:
		v.I, _ = strconv.ParseInt(text, 10, 64) // it is one: see partitionType
	case t == types.Date:
		day, _ := types.ParseDate(text)
		v.I = int64(day)
	default:
		v.S = text
	}
	return v
}

// constantChunk returns a column of a row group whose rows all have one value, without the values.
func constantChunk(v types.Value, rows int) *encoding.Chunk {
	c := &encoding.Chunk{Type: v.Type, Kind: encoding.Constant, Rows: rows, Min: v, Max: v}
	if v.Null {
		c.NullCount = rows
	}
	return c
}
