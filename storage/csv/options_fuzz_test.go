package csv

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
	"github.com/radish-sql/radish/storage/textfile/textfiletest"
)

// FuzzOptions reads damaged text under options that a seed draws. The reader does not panic, settles the types, takes little memory beside the text's length,
// and does the same in blocks of two sizes if nothing is to be found out.
func FuzzOptions(f *testing.F) {
	long := strings.Repeat("1,2020-01-01,abc,1.5\n", 300)
	for i, text := range []string{
		"a,b\n1,2\n", "a;b\r\n1,5;x\r\n", "# comment\na\tb\n'1'\t\"2\n\"\n", "a,b\rc,d\r", "\xff\xfea\x00,\x00b\x00\n\x00", "i,d,s,f\n" + long, "i,d,s,f\n" + long + "x,y,z,w,v\n\"",
		"a|b\n\\|\\\"|1.234,5\n", "1e400,-0,nan,inf\n", "caf\xe9,\x80\n", "a\n" + long + "31.12.2020 23:59\n", "\"a\\\"\",\"b\n", "NULL,\\N,true\n,,\n",
	} {
		for seed := range uint64(4) {
			f.Add([]byte(text), uint64(i)*4+seed)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		opts := drawOptions(rand.New(rand.NewPCG(seed, 0)))
		var got [2]string
		var errs [2]error
		for i, size := range []int{1 << 16, 7} {
			setBlockSize(t, size)
			got[i], errs[i] = readMetered(t, text, opts)
		}
		if opts.Delimiter == 0 || opts.Header == HeaderAuto || !opts.AllText {
			return // what is found out depends on the first block, which is long in programs
		}
		if (errs[0] == nil) != (errs[1] == nil) || got[0] != got[1] {
			t.Fatalf("blocks decide: %v %q, or %v %q; options %+v", errs[0], got[0], errs[1], got[1], opts)
		}
	})
}

// drawOptions draws options as users combine them, sensible or not.
func drawOptions(r *rand.Rand) (o Options) {
	byteOf := func(text string) byte { // most often none
		if r.IntN(2) == 0 {
			return 0
		}
		return text[r.IntN(len(text))]
	}
	flag := func() bool { return r.IntN(4) == 0 }
	textOf := func(list ...string) string { return list[r.IntN(len(list))] }
	o = Options{
		Delimiter: byteOf(",;\t|a '"), Quote: byteOf("\"'x"), NoQuote: flag(), Escape: byteOf("\\\"^"), Header: Header(r.IntN(3)), NullText: textOf("", "", "NULL", "\\N", "1"),
		AllText: flag(), Skip: max(0, r.IntN(6)-3), Comment: byteOf("#a-"), Encoding: textOf("", "", "", "utf-8", "utf-16", "latin-1", "windows-1252"),
		Notation:  Notation{Decimal: byteOf(",."), Thousands: byteOf(".,' "), DateFormat: textOf("", "", "%d.%m.%Y", "%m/%d/%y"), TimestampFormat: textOf("", "", "%d.%m.%Y %H:%i")},
		PadsNulls: flag(), IgnoresErrors: flag(),
	}
	if flag() {
		o.NullTexts = []string{"-", "n/a"}
	}
	if flag() {
		o.Names = []string{"x", "y"}
	}
	list := []types.Type{types.Int64, types.Double, types.Date, types.Decimal(5, 1), types.Varchar(2), types.Text, types.Datetime}
	if flag() {
		o.Types = map[string]types.Type{textOf("a", "x", "column1"): list[r.IntN(len(list))]}
	} else if flag() {
		o.TypeList = []types.Type{list[r.IntN(len(list))], list[r.IntN(len(list))]}
	}
	o.Rejects = o.IgnoresErrors && flag()
	return o
}

// readMetered reads a text as queries do, with a limit of memory, and returns what the table holds.
func readMetered(t *testing.T, text []byte, opts Options) (string, error) {
	const limit, factor, slack = 64 << 20, 500, 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx := table.WithScratch(table.WithMeter(context.Background(), func(bytes int64) error {
		if bytes > limit {
			return sqlerr.MemoryExceeded("reading", bytes, 0, limit)
		}
		return nil
	}))
	x, err := Open(ctx, opts, textfiletest.Source("x.csv", slices.Clone(text)))
	if err != nil {
		return "", err
	}
	var v *table.Version
	for tries := 0; ; tries++ {
		v, err = x.Read(ctx, "d", "t", nil, -1)
		var bad *textfile.Misfit
		if !errors.As(err, &bad) {
			break
		}
		if x, err = x.Settle(ctx, err); err != nil {
			break
		}
		if tries > 10+10*bytesOf(text, ",;\t|a '") {
			t.Fatalf("the types do not settle; options %+v", opts)
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > uint64(slack+factor*len(text)) {
		t.Fatalf("%d bytes allocated for a text of %d; options %+v", after.TotalAlloc-before.TotalAlloc, len(text), opts)
	}
	if err != nil {
		return "", err
	}
	return batchtest.Describe(v), nil
}

// bytesOf counts the bytes of text that are among some.
func bytesOf(text []byte, some string) (n int) {
	for _, c := range text {
		if strings.IndexByte(some, c) >= 0 {
			n++
		}
	}
	return n
}
