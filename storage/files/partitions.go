package files

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
)

// Folders may tell values of columns that their files lack: sales/year=2024/month=5/x.parquet has the columns year and month, which are the same in all of its rows.

// nullPartition is the name that Hive gives to the folder of rows whose value is NULL.
const nullPartition = "__HIVE_DEFAULT_PARTITION__"

// partition is what the name of a folder says.
type partition struct{ key, value string }

// partitionsOf returns what the folders of a path say, the outermost first.
func partitionsOf(path string) (list []partition) {
	for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(fileaccess.PathOf(path))), "/") {
		key, value, ok := strings.Cut(folder, "=")
		if !ok || key == "" || strings.Contains(value, "=") {
			continue
		}
		list = append(list, partition{unescaped(key), unescaped(value)})
	}
	return list
}

// unescaped returns what part of a folder's name stands for: writers escape slashes, colons and the like.
func unescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// keyColumn is a column that folders tell.
type keyColumn struct {
	def    table.ColumnDef
	values []types.Value // by file
}

// keyColumns returns the columns that the folders of all files tell, if those have the same keys in the same order.
func (s *Set) keyColumns() (keys []keyColumn) {
	if s.source.NoPartitions {
		return nil
	}
	var files [][]partition
	for _, p := range s.paths {
		files = append(files, partitionsOf(p))
	}
	for i, first := range files[0] {
		texts := make([]string, len(files))
		for f, list := range files {
			if len(list) != len(files[0]) || !strings.EqualFold(list[i].key, first.key) {
				return nil
			}
			texts[f] = list[i].value
		}
		k := keyColumn{def: table.ColumnDef{Name: first.key, Type: partitionType(texts), Nullable: slices.Contains(texts, nullPartition)}}
		for _, text := range texts {
			k.values = append(k.values, partitionValue(k.def.Type, text))
		}
		keys = append(keys, k)
	}
	return keys
}

// index returns where a key's column stands: instead of the files' own column of that name, or behind all.
func (k *keyColumn) index(columns []table.ColumnDef) int {
	i := slices.IndexFunc(columns, func(c table.ColumnDef) bool { return strings.EqualFold(c.Name, k.def.Name) })
	if i < 0 {
		i = len(columns)
	}
	return i
}

// addPartitions adds the columns that folders tell of files with footers.
func (s *Set) addPartitions() {
	for _, k := range s.keyColumns() {
		c := k.index(s.Columns)
		if c == len(s.Columns) {
			s.Columns = append(s.Columns, k.def)
		}
		s.Columns[c] = k.def
		for f, v := range k.values {
			s.constants[f] = append(s.constants[f], v)
			source := -1 - len(s.constants[f]) // as the Constants of parquet.File and arrowipc.File count them
			if s.at[f] = slices.Clone(s.at[f]); c == len(s.at[f]) {
				s.at[f] = append(s.at[f], source)
			}
			s.at[f][c] = source
		}
	}
}

// partitionType returns the type that the values of all folders have: BIGINT, DATE or TEXT.
func partitionType(values []string) types.Type {
	areIntegers, areDates, any := true, true, false
	for _, v := range values {
		if v == nullPartition {
			continue
		}
		any = true
		n, err := strconv.ParseInt(v, 10, 64)
		areIntegers = areIntegers && err == nil && (strconv.FormatInt(n, 10) == v || len(v) == 2 && n >= 0 && v[0] == '0') // month=05 is a number, as others take it
		_, status := types.ParseDate(v)
		areDates = areDates && status == types.ConvertOK && len(v) == len("2024-05-01") && v[4] == '-'
	}
	switch {
	case any && areIntegers:
		return types.Int64
	case any && areDates:
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
