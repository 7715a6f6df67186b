package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/internal/batchtest"
)

// writeInts writes a file with a row of integers under names.
func writeInts(t *testing.T, path string, names string, values ...int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := strings.Split(names, ",")
	typ := make([]types.Type, len(list))
	b := &column.Batch{N: 1}
	for i := range list {
		typ[i] = types.Int64
		v := column.New(types.Int64, 1)
		v.Set(0, 1, types.IntValue(values[i]))
		b.Cols = append(b.Cols, v)
	}
	w, err := files.NewWriter(f, path, list, typ, files.Options{})
	if err == nil {
		err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Columns of several files are matched by their names, unless options say otherwise; what does not match is an error with file and column.
func TestColumnsAreMatchedByName(t *testing.T) {
	for _, ext := range []string{"csv", "csv.gz", "parquet", "arrow", "arrows"} {
		dir := t.TempDir()
		for name, c := range map[string]struct {
			names  string
			values []int64
		}{
			"k1": {"id,price", []int64{1, 2}}, "k2": {"PRICE,id", []int64{30, 4}},
			"m1": {"a,b", []int64{1, 2}}, "m2": {"a,c", []int64{3, 4}},
			"n1": {"a,b", []int64{1, 2}}, "n2": {"b", []int64{3}}, "n3": {"a,b,c", []int64{5, 6, 7}},
		} {
			writeInts(t, filepath.Join(dir, name+"."+ext), c.names, c.values...)
		}
		function := map[string]string{"csv": "read_csv", "parquet": "read_parquet", "arrow": "read_arrow", "arrows": "read_arrow"}[strings.TrimSuffix(ext, ".gz")]
		for _, tc := range []struct{ pattern, options, want string }{
			{"k*", "", "id BIGINT, price BIGINT; 1|2; 4|30"},
			{"k*", "by_position = true", "id BIGINT, price BIGINT; 1|2; 30|4"},
			{"k*", "union_by_name=TRUE", "id BIGINT, price BIGINT; 1|2; 4|30"},
			{"m*", "", "m2." + ext + "' has a column 'c', which '" + dir + "/m1." + ext + "' lacks"},
			{"m*", "union_by_name = true", "a BIGINT, b BIGINT, c BIGINT; 1|2|NULL; 3|NULL|4"},
			{"m*", "by_position := true", "a BIGINT, b BIGINT; 1|2; 3|4"},
			{"n[12]", "", "n2." + ext + "' lacks the column 'a', which"},
			{"n[12]", "by_position = true", "n2." + ext + "' has 1 columns, and"},
			{"n*", "union_by_name = true", "a BIGINT, b BIGINT, c BIGINT; 1|2|NULL; NULL|3|NULL; 5|6|7"},
			{"n*", "union_by_name = true, by_position = true", "exclude each other"},
			{"n*", "nothing = 1", "there is no option nothing"},
		} {
			name := filepath.Join(dir, tc.pattern+"."+ext)
			if tc.options != "" {
				name = function + "('" + name + "', " + tc.options + ")"
			}
			source, ok, err := files.ParseName(name)
			got := ""
			if err == nil && ok {
				v, rerr := files.Read(context.Background(), fileaccess.Full(), "d", "t", source, nil)
				if err = rerr; err == nil {
					got = batchtest.Describe(v)
				}
			}
			if err != nil {
				if !errors.Is(err, sqlerr.CodeWrongArguments) || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s: %v, want %s", name, err, tc.want)
				}
			} else if strings.ReplaceAll(got, " NOT NULL", "") != tc.want {
				t.Errorf("%s: %s, want %s", name, got, tc.want)
			}
		}
	}
}

// Either all texts have a header, or none; options decide where the look of first lines does not.
func TestHeadersOfSeveralTexts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"1.csv": "a,b\n1,2\n", "2.csv": "3,4\n", "3.csv": "5,x\n", "4.csv": "", "5.csv": "a;b\n7;8\n", "6.csv": "-,'a,b'\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ name, want string }{
		{"[12].csv", "1.csv' has a header with the names of columns, but the first line of '" + dir + "/2.csv' looks like a row: '3', '4'"},
		{"[24].csv", "column1 BIGINT, column2 BIGINT; 3|4"},
		{"[14].csv", "a BIGINT, b BIGINT; 1|2"},
		{"[23].csv", "column1 BIGINT, column2 TEXT; 3|4; 5|x"},
		{"read_csv('[12].csv', header = false)", "column1 TEXT, column2 TEXT; a|b; 1|2; 3|4"},
		{"read_csv('[1].csv', header = true, nullstr = '2')", "a BIGINT, b TEXT; 1|NULL"},
		{"read_csv('5.csv', delim = ',')", "a;b TEXT; 7;8"},
		{"read_csv('5.csv', sep = ';')", "a BIGINT, b BIGINT; 7|8"},
		{"read_csv('6.csv', quote = '''', header = 0)", "column1 TEXT, column2 TEXT; -|a,b"},
		{"read_csv('5.csv', delim = 'ab')", "delim is one ASCII character, not 'ab'"},
		{"read_csv('5.csv', header = 7)", "header is true or false, not '7'"},
		{"read_csv(5.csv)", "in quotes"}, {"read_csv('5.csv'", "expected"}, {"read_csv('5.csv", "a quote is not closed"}, {"read_csv('5.csv' x)", "expected , or )"},
		{"read_csv('5.csv', x)", "expected option = value"}, {"read_csv(", "ends too early"}, {"read_parquet('5.csv', header = true)", "known are hive_partitioning, union_by_name and by_position"},
	} {
		source, ok, err := files.ParseName(tc.name)
		if !ok {
			t.Errorf("%s is taken for no file", tc.name)
		}
		got := ""
		if err == nil {
			source.Pattern = filepath.Join(dir, source.Pattern)
			v, rerr := files.Read(context.Background(), fileaccess.Full(), "d", "t", source, nil)
			if err = rerr; err == nil {
				got = batchtest.Describe(v)
			}
		}
		if err != nil && !strings.Contains(err.Error(), tc.want) || err == nil && got != tc.want {
			t.Errorf("%s: %s %v, want %s", tc.name, got, err, tc.want)
		}
	}
}
