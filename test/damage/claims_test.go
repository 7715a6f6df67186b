package damage

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// claim is a file that claims more than its reader has memory for.
type claim struct {
	name string
	make func(t *testing.T, path string)
}

// sparse makes a file of 4 GiB, nearly all of it a hole, that begins and ends with some bytes.
func sparse(begin, end string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		_, first := f.WriteString(begin)
		_, last := f.WriteAt([]byte(end), 4<<30-int64(len(end)))
		if first != nil || last != nil {
			t.Fatal(first, last)
		}
	}
}

// exactly makes a file of some bytes.
func exactly(content func(t *testing.T) []byte) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		if err := os.WriteFile(path, content(t), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func u32(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }

// footerOf returns a Parquet file that is all footer.
func footerOf(fields ...string) []byte {
	footer := strings.Join(fields, "") + "\x00"
	return []byte("PAR1" + footer + u32(len(footer)) + "PAR1")
}

// thriftList is a field that holds a list of structs.
func thriftList(delta byte, n int, element string) string {
	return string(append([]byte{delta<<4 | 9, 0xfc}, binary.AppendUvarint(nil, uint64(n))...)) + strings.Repeat(element, n)
}

// manyFields returns an Arrow file whose schema is one field many times, with a long name.
func manyFields(n, name int) []byte {
	// Footer: root offset; its vtable (fields 0 and 1) and table; the schema's; the vector of fields; the field's; its name.
	b := []byte(u32(12) + "\x08\x00\x08\x00\x00\x00\x04\x00") // the root at 12, whose vtable is at 4
	b = append(b, u32(8)+u32(4+8)...)                         // root: vtable 8 before; field 1 at 16, the schema at 28
	b = append(b, "\x08\x00\x08\x00\x00\x00\x04\x00"...)      // the schema's vtable, at 20
	b = append(b, u32(8)+u32(4)+u32(n)...)                    // the schema at 28; field 1 at 32, the vector at 36
	field := 40 + 4*n + 8
	for i := range n {
		b = append(b, u32(field-(40+4*i))...)
	}
	b = append(b, "\x06\x00\x08\x00\x04\x00\x00\x00"...)
	b = append(b, u32(8)+u32(4)+u32(name)...)
	b = append(b, strings.Repeat("n", name)...)
	return slices.Concat([]byte("ARROW1\x00\x00"), b, []byte(u32(len(b))+"ARROW1"))
}

// manyBatches returns an Arrow file of many columns whose footer names its one record batch many times.
func manyBatches(t *testing.T, columns, batches int) []byte {
	db, err := sql.Open("radish", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var list []string
	for i := range columns {
		list = append(list, fmt.Sprintf("%d AS c%d", i, i))
	}
	path := filepath.Join(t.TempDir(), "wide.arrow")
	if _, err := db.Exec("SELECT " + strings.Join(list, ", ") + " INTO OUTFILE '" + path + "'"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := func(b []byte, i int) int { return int(int32(binary.LittleEndian.Uint32(b[i:]))) }
	const tail = 10
	begin := len(b) - tail - at(b, len(b)-tail)
	footer := slices.Clone(b[begin : len(b)-tail])
	root := at(footer, 0)
	field := root + int(binary.LittleEndian.Uint16(footer[root-at(footer, root)+4+2*3:]))
	old := field + at(footer, field)
	block := bytes.Clone(footer[old+4 : old+4+24])
	binary.LittleEndian.PutUint32(footer[field:], uint32(len(footer)-field))
	footer = append(footer, u32(batches)...)
	footer = append(footer, bytes.Repeat(block, batches)...)
	return slices.Concat(b[:begin], footer, []byte(u32(len(footer))+"ARROW1"))
}

// packed packs zeros, or lines of numbers.
func packed(t *testing.T, path, what string, n int) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var w io.WriteCloser = gzip.NewWriter(f)
	if strings.HasSuffix(path, ".zst") {
		window := 4 << 20
		if strings.Contains(path, "window") {
			window = 128 << 20
		}
		if w, err = zstd.NewWriter(f, zstd.WithWindowSize(window), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)); err != nil {
			t.Fatal(err)
		}
	}
	block := bytes.Repeat([]byte(what), max(1, 1<<16/len(what)))
	for left := n; left > 0; left -= len(block) {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// bomb makes a packed text of so many bytes.
func bomb(what string, n int) func(*testing.T, string) {
	return func(t *testing.T, path string) { packed(t, path, what, n) }
}

// long makes a file of four long values.
func long(t *testing.T, path string) {
	db, err := sql.Open("radish", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("SELECT REPEAT('a', 60000000) AS a FROM (VALUES ROW(1), ROW(2), ROW(3), ROW(4)) d INTO OUTFILE '" + path + "'"); err != nil {
		t.Fatal(err)
	}
}

const element = "\x48\x00\x00" // a column of the schema without a name

var claims = []claim{
	{"footer.parquet", sparse("PAR1", u32(4<<30-12)+"PAR1")},
	{"columns.parquet", exactly(func(*testing.T) []byte { return footerOf("\x15\x02", thriftList(1, 20_000_000, element)) })},
	{"groups.parquet", exactly(func(*testing.T) []byte {
		return footerOf("\x15\x02", thriftList(1, 1, element), "\x16\x00", thriftList(1, 20_000_000, "\x36\x00\x00"))
	})},
	{"footer.arrow", sparse("ARROW1\x00\x00", u32(2<<30-1)+"ARROW1")},
	{"message.arrow", sparse("ARROW1\x00\x00", u32(1<<30)+"ARROW1")},
	{"stream.arrows", sparse("\xff\xff\xff\xff"+u32(2<<30-1), "\x00")},
	{"names.arrow", exactly(func(*testing.T) []byte { return manyFields(100_000, 1_000_000) })},
	{"batches.arrow", exactly(func(t *testing.T) []byte { return manyBatches(t, 1000, 100_000) })},
	{"hole.csv", sparse("a,b\n1,2\n", "\n3,4\n")},
	{"hole.jsonl", sparse("{\"a\": 1}\n", "\n{\"a\": 1}\n")},
	{"hole.json", sparse("[{\"a\": 1}", "{\"a\": 1}]")},
	{"zeros.csv.gz", bomb("0", 600_000_000)},
	{"zeros.csv.zst", bomb("0", 600_000_000)},
	{"window.csv.zst", bomb(strings.Repeat("1", 999)+"\n", 300_000_000)},
	{"brackets.jsonl.gz", bomb("[", 600_000_000)},
	{"brackets.json.zst", bomb("[", 600_000_000)},
	{"long.parquet", long},
	{"long.arrow", long},
	{"long.csv.gz", long},
}

// Files whose lengths claim more than there is memory for are refused by name, within the memory limit.
func TestClaims(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("the race detector needs memory of its own")
	}
	const limit = 100
	const address = 8000 // MB, of which large pieces of memory that come and go leave holes
	folder := t.TempDir()
	for _, c := range claims {
		path := filepath.Join(folder, c.name)
		c.make(t, path)
		r := start(t, limit, address) // whose memory holds nothing of a file before
		peak, answer, alive := r.ask(path)
		t.Logf("%-20s %4d MB: %.300s", c.name, peak/1_000_000, answer)
		switch {
		case !alive:
			t.Errorf("%s: %s", c.name, answer)
		case peak > limit<<20+slack:
			t.Errorf("%s: %d MB were resident under a limit of %d: %s", c.name, peak/1_000_000, limit, answer)
		case !strings.HasPrefix(answer, "rows ") && (!strings.HasPrefix(answer, "error ") || !strings.Contains(answer, c.name) && !strings.Contains(answer, "out of memory in result")):
			t.Errorf("%s: %s", c.name, answer)
		}
		if alive {
			r.end("")
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
