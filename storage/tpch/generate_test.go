package tpch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/types"
)

// digests hash all rows of a table in order, as dbgen writes them. They were recorded after both editions had
// compared equal, row for row, with the reference generators of reference_test.go at scale factors 0.01 and 0.1.
var digests = map[Edition]map[string]uint64{
	EditionDuckDB: {
		"region":   0x5d4da69288da0ce5,
		"nation":   0x2c75c231199659f1,
		"supplier": 0xbb52e954a569d06e,
		"customer": 0xf840e4dbca2fe36a,
		"part":     0x9d8f6d1a3dbe0701,
		"partsupp": 0xccd699e7e972ff12,
		"orders":   0x910e17a687c3c44c,
		"lineitem": 0x8dda6e8ca170e651,
	},
	EditionTPC: {
		"region":   0x7829f2abbfb82076,
		"nation":   0x22fb0a36f20129b5,
		"supplier": 0xafc941a78e728126,
		"customer": 0x3a40c3c669d19491,
		"part":     0x4f7b7465d504079c,
		"partsupp": 0xd4495a6771ba5373,
		"orders":   0xc601ea426375d4cb,
		"lineitem": 0xfa60036e7646f159,
	},
}

const goldenScale = 0.01

func TestGoldenDigests(t *testing.T) {
	for edition, want := range digests {
		if testing.Short() && edition == EditionTPC {
			continue // its text pool takes seconds under the race detector
		}
		for table, chunks := range collect(t, goldenScale, Options{Edition: edition}) {
			if got := digest(chunks); got != want[table.Name] {
				t.Errorf("edition %d, table %s: digest %#x, want %#x", edition, table.Name, got, want[table.Name])
			}
		}
	}
}

func digest(chunks []*Chunk) uint64 {
	h := fnv.New64a()
	var row []byte
	for _, c := range chunks {
		for i := range c.Rows {
			row = append(appendRow(row[:0], c, i, decimalQuantity), '\n')
			h.Write(row)
		}
	}
	return h.Sum64()
}

// The same data comes whatever the chunks and however many the workers, and every chunk but the last is full.
func TestChunksAndWorkersChangeNothing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, opts := range []Options{
		{ChunkRows: 1, Workers: 4},
		{ChunkRows: 1 + random.IntN(50), Workers: 4},
		{ChunkRows: 100 + random.IntN(10_000), Workers: 1},
		{ChunkRows: 100 + random.IntN(10_000), Workers: 4},
		{ChunkRows: MaxChunkRows, Workers: 3},
	} {
		for table, chunks := range collect(t, goldenScale, opts) {
			for _, c := range chunks[:len(chunks)-1] {
				if c.Rows != opts.ChunkRows {
					t.Fatalf("%+v: part %d of %s has %d rows", opts, c.Part, table.Name, c.Rows)
				}
			}
			checkShape(t, chunks)
			if got, want := digest(chunks), digests[EditionDuckDB][table.Name]; got != want {
				t.Errorf("%+v: table %s: digest %#x, want %#x", opts, table.Name, got, want)
			}
		}
	}
}

// checkShape checks that the columns of chunks are as long as they say and strings fit their types.
func checkShape(t *testing.T, chunks []*Chunk) {
	t.Helper()
	for _, c := range chunks {
		if len(c.Columns) != len(c.Table.Columns) {
			t.Fatalf("%s has %d columns, want %d", c.Table.Name, len(c.Columns), len(c.Table.Columns))
		}
		for i, col := range c.Columns {
			def := c.Table.Columns[i]
			longest := 0
			switch {
			case def.Type.Phys() == types.PhysInt64:
				if len(col.Ints) != c.Rows {
					t.Fatalf("%s has %d integers for %d rows", def.Name, len(col.Ints), c.Rows)
				}
			case col.Codes != nil:
				if len(col.Codes) != c.Rows || int(slices.Max(col.Codes)) >= len(col.Dict) || !slices.IsSorted(col.Dict) {
					t.Fatalf("%s: codes do not fit %d rows or a sorted dictionary", def.Name, c.Rows)
				}
				for _, s := range col.Dict {
					longest = max(longest, len(s))
				}
			default:
				if len(col.Offsets) != c.Rows+1 || int(col.Offsets[c.Rows]) != len(col.Bytes) {
					t.Fatalf("%s: offsets do not fit %d rows or %d bytes", def.Name, c.Rows, len(col.Bytes))
				}
				for row := range c.Rows {
					longest = max(longest, int(col.Offsets[row+1]-col.Offsets[row]))
				}
			}
			if longest > int(def.Type.Length) {
				t.Fatalf("%s %s holds %d characters", def.Name, def.Type, longest)
			}
		}
	}
}

func TestSkipEqualsStepping(t *testing.T) {
	stepped := textWords
	for n := range int64(5000) {
		if got := textWords.skip(n); got != stepped {
			t.Fatalf("skip(%d) = %d, stepping gives %d", n, got, stepped)
		}
		stepped = state(uint64(stepped) * lehmerMultiplier % lehmerModulus)
	}
}

// The specification tells how many lines there are (clause 4.2.5.1).
func TestLineCountsOfTheSpecification(t *testing.T) {
	for sf, want := range map[int64]int64{1: 6_001_215, 10: 59_986_052, 100: 600_037_902} {
		if testing.Short() && sf > 10 {
			continue
		}
		counts, err := countLines(context.Background(), sf*ordersTable.rows, 2)
		if err != nil {
			t.Fatal(err)
		}
		if got := counts.total(); got != want {
			t.Errorf("scale factor %d: %d lines, want %d", sf, got, want)
		}
	}
}

func TestFractionalScale(t *testing.T) {
	for sf, want := range map[float64]int64{0.01: 1500, 0.0159: 2250, 0.999: 149_850, 1: 150_000, 1.001: 150_150, 1.5: 225_000} {
		g, _, err := newGenerator(sf, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if g.customerCount != want {
			t.Errorf("scale factor %v: %d customers, want %d", sf, g.customerCount, want)
		}
	}
}

func TestTextPools(t *testing.T) {
	small, err := loadTextPool(context.Background(), EditionDuckDB)
	if err != nil {
		t.Fatal(err)
	}
	again, err := loadTextPool(context.Background(), EditionDuckDB)
	if err != nil {
		t.Fatal(err)
	}
	if small != again {
		t.Error("a pool in use was made twice")
	}
	larger, err := newTextPool(context.Background(), len(small.text)+1000)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(larger.text, small.text) {
		t.Error("a pool is not the beginning of a larger one")
	}
}

// Once a context is done, each worker finishes at most the chunk that it is making.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	const workers = 2
	var emitted, late atomic.Int64
	var done atomic.Bool
	var cancelled time.Time
	err := Generate(ctx, 10, Options{Workers: workers}, func(*Chunk) error {
		switch n := emitted.Add(1); {
		case n == 3:
			cancelled = time.Now()
			cancel()
			done.Store(true) // the other worker may have gone on until now
		case done.Load():
			late.Add(1)
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want %v", err, context.Canceled)
	}
	if late.Load() > workers {
		t.Errorf("%d chunks after cancellation", late.Load())
	}
	t.Logf("returned %v after cancellation", time.Since(cancelled))

	// Before the first chunk, too, and in a text pool that is only being made.
	if err := Generate(ctx, 10, Options{}, func(*Chunk) error { panic("emitted") }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if _, err := newTextPool(ctx, EditionTPC.poolBytes()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestEmitErrorEnds(t *testing.T) {
	full := errors.New("disk full")
	if err := Generate(context.Background(), 1, Options{}, func(*Chunk) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}

func TestBadOptions(t *testing.T) {
	for _, c := range []struct {
		sf   float64
		opts Options
		want string
	}{
		{0.001, Options{}, "scale factor 0.001 is outside"},
		{math.NaN(), Options{}, "scale factor NaN is outside"},
		{1e6, Options{}, "scale factor 1e+06 is outside"},
		{1, Options{ChunkRows: -1}, "chunks of -1 rows"},
		{1, Options{ChunkRows: MaxChunkRows + 1}, "chunks of 262145 rows"},
		{1, Options{Edition: editions}, "unknown edition 2"},
		{1, Options{Tables: []string{"line"}}, `unknown table "line"; the tables are region, nation,`},
	} {
		err := Generate(context.Background(), c.sf, c.opts, func(*Chunk) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func BenchmarkTextPool(b *testing.B) {
	for _, e := range []Edition{EditionDuckDB, EditionTPC} {
		b.Run(fmt.Sprint(e.poolBytes()>>20, "MiB"), func(b *testing.B) {
			b.SetBytes(int64(e.poolBytes()))
			for b.Loop() {
				if _, err := newTextPool(context.Background(), e.poolBytes()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLineitem reports the rows a second of one worker; the text pool is made before the clock starts.
func BenchmarkLineitem(b *testing.B) { benchmarkTable(b, "lineitem") }

func BenchmarkOrders(b *testing.B)   { benchmarkTable(b, "orders") }
func BenchmarkPartSupp(b *testing.B) { benchmarkTable(b, "partsupp") }

func benchmarkTable(b *testing.B, table string) {
	pool, err := loadTextPool(context.Background(), EditionDuckDB)
	if err != nil {
		b.Fatal(err)
	}
	var rows atomic.Int64
	for b.Loop() {
		err := Generate(context.Background(), 1, Options{Tables: []string{table}, Workers: 1}, func(c *Chunk) error {
			rows.Add(int64(c.Rows))
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	runtime.KeepAlive(pool)
	b.ReportMetric(float64(rows.Load())/b.Elapsed().Seconds(), "rows/s")
}

// Columns that are left out change nothing in those that are kept.
func TestWithout(t *testing.T) {
	without := []string{"l_comment", "ps_comment", "o_clerk", "c_address"}
	make := func(opts Options) map[string]Column {
		out := map[string]Column{}
		opts.Workers = 1
		err := Generate(context.Background(), 0.01, opts, func(c *Chunk) error {
			at := 0
			for _, def := range c.Table.Columns {
				if slices.Contains(opts.Without, def.Name) {
					continue
				}
				out[fmt.Sprint(def.Name, c.Part)] = c.Columns[at]
				at++
			}
			if at != len(c.Columns) {
				t.Errorf("%s has %d columns, want %d", c.Table.Name, len(c.Columns), at)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	all, some := make(Options{}), make(Options{Without: without})
	for key := range all {
		if slices.ContainsFunc(without, func(name string) bool { return strings.HasPrefix(key, name) }) {
			delete(all, key)
		}
	}
	if !reflect.DeepEqual(all, some) {
		t.Errorf("%d columns with %v left out are not those of %d", len(some), without, len(all))
	}
	if err := Generate(context.Background(), 0.01, Options{Without: []string{"l_coment"}}, nil); err == nil {
		t.Error("a column that no table has was left out")
	}
}
