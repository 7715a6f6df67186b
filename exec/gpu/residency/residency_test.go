package residency

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/types"
	tables "github.com/radish-sql/radish/storage/table"
)

// checkResident compares a column on the device, read as its form says, with the table's values.
func checkResident(t *testing.T, s *gpukernels.Stream, v *tables.Version, ordinal int, c *Column) {
	t.Helper()
	typ := v.Schema.Columns[ordinal].Type
	var valid []uint32
	n := c.end - c.begin // row numbers below are less begin
	if c.Valid != 0 {
		valid = gputest.Download[uint32](t, s, c.Valid+gpukernels.Ptr(c.begin/8), (n+31)/32)
	}
	var offsets []int64
	var text []byte
	var items []byte
	if c.Class == form.View {
		offsets = gputest.Download[int64](t, s, c.Data+gpukernels.Ptr(8*c.begin), n+1)
		text = gputest.Download[byte](t, s, c.Bytes, offsets[n])
	} else {
		items = gputest.Download[byte](t, s, c.Data+gpukernels.Ptr(c.begin*int64(c.Width)), n*int64(c.Width))
	}
	word := func(row int64, width int) uint64 {
		x := uint64(0)
		for i := range width {
			x |= uint64(items[row*int64(c.Width)+int64(i)]) << (8 * i)
		}
		return x
	}
	for row := range c.first - c.begin { // what lies before it in its first tile
		if valid != nil && valid[row>>5]>>(row&31)&1 == 0 || items != nil && word(row, min(c.Width, 8)) != 0 {
			t.Fatalf("column %s, row %d before the first: not zero, or NULL", v.Schema.Columns[ordinal].Name, row)
		}
	}
	for row := c.first - c.begin; row < n; row++ {
		g, at, _ := v.Locate(row + c.begin)
		want := v.Groups()[g].Columns[ordinal].At(at)
		null := valid != nil && valid[row>>5]>>(row&31)&1 == 0
		if null != want.Null {
			t.Fatalf("column %s, row %d: NULL is %v, want %v", v.Schema.Columns[ordinal].Name, row, null, want.Null)
		}
		if null {
			continue
		}
		got := types.Value{Type: typ}
		switch c.Class {
		case form.Int:
			got.I = c.Base + int64(word(row, c.Width))
		case form.Float:
			got = types.Value{Type: typ, F: math.Float64frombits(word(row, 8))}
		case form.Wide:
			hi := uint64(0)
			for i := range 8 {
				hi |= uint64(items[row*16+8+int64(i)]) << (8 * i)
			}
			got.D = types.Int128{Hi: int64(hi), Lo: word(row, 8)}
		case form.Code:
			got.S = c.Dict.Value(uint32(word(row, c.Width)))
		case form.View:
			got.S = string(text[offsets[row]:offsets[row+1]])
		}
		if got.I != want.I || got.F != want.F || got.S != want.S || got.D != want.D {
			t.Fatalf("column %s, row %d: %v, want %v", v.Schema.Columns[ordinal].Name, row, got, want)
		}
	}
}

// residentSchema has a column of every class.
func residentSchema() *tables.Schema {
	s := &tables.Schema{Name: "t"}
	for i, typ := range []types.Type{types.Int64, types.Uint64, types.Double, types.Decimal(30, 2), types.Text, types.Text, types.Int64} {
		s.Columns = append(s.Columns, tables.ColumnDef{Name: fmt.Sprintf("c%d", i), Type: typ, Nullable: true})
	}
	return s
}

// residentBatch makes random rows: narrow or wide integers, few or many strings, NULLs or none, constants.
func residentBatch(rng *rand.Rand, s *tables.Schema, n int) *column.Batch {
	b := &column.Batch{N: n}
	for ordinal, def := range s.Columns {
		v := column.New(def.Type, n)
		nulls := []int{0, 0, 2, 1}[rng.IntN(4)]
		wide := uint64(1) << (1 + rng.IntN(63))
		shift := rng.Int64N(1 << 40)
		constant := rng.IntN(4) == 0
		for i := range n {
			k := rng.Uint64()
			if constant {
				k = 7
			}
			switch {
			case nulls > 0 && rng.IntN(nulls) == 0:
				v.SetNull(i, n)
			case def.Type.Phys() == types.PhysFloat64:
				v.F64[i] = float64(k%1000) / 8
			case def.Type.Phys() == types.PhysInt128:
				v.I128[i] = types.Int128{Hi: int64(k % 100), Lo: k}
			case def.Type.Phys() == types.PhysString:
				words := uint64(10)
				if ordinal == 5 {
					words = 1 << 60
				}
				v.Str[i] = fmt.Sprint("word", k%words)
			default:
				v.I64[i] = int64(k%wide) + shift
			}
		}
		b.Cols = append(b.Cols, v)
	}
	return b
}

// opened returns a residency on d, which is closed when the test ends.
func opened(t *testing.T, d *gpukernels.Device) *Residency {
	t.Helper()
	r, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// stream returns a stream of d, which is closed when the test ends.
func stream(t *testing.T, d *gpukernels.Device) *gpukernels.Stream {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestResident(t *testing.T) {
	rng := rand.New(rand.NewPCG(gputest.Seed(t), 1))
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		r := opened(t, d)
		s := stream(t, d)
		v := tables.New(residentSchema())
		all := []int{0, 1, 2, 3, 4, 5, 6}
		for _, n := range []int{0, 1, 5000, 3, tables.RowGroupSize, 100} {
			if n > 0 {
				var err error
				if v, err = v.Append(residentBatch(rng, v.Schema, n)); err != nil {
					t.Fatal(err)
				}
			}
			if n == 3 {
				v, _, _ = v.Delete(context.Background(), []int64{0, 17, 5001})
			}
			at, err := r.Acquire(context.Background(), v, all, tables.Slice{})
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range at.Columns {
				checkResident(t, s, v, i, c)
			}
			if v.Rows() < v.Span() {
				bits := gputest.Download[uint32](t, s, at.Deleted, (v.Span()+31)/32)
				for row := range v.Span() {
					if _, _, ok := v.Locate(row); ok == (bits[row>>5]>>(row&31)&1 != 0) {
						t.Fatalf("row %d: deleted is %v", row, ok)
					}
				}
			} else if at.Deleted != 0 {
				t.Fatal("a bitmap of deleted rows for a table without")
			}
			at.Release()
			again, err := r.Acquire(context.Background(), v, all, tables.Slice{})
			if err != nil {
				t.Fatal(err)
			}
			if again.Uploaded != 0 {
				t.Errorf("%d bytes were uploaded again", again.Uploaded)
			}
			again.Release()
		}
	})
}

// Queries that need a column at once share its upload; what nobody holds is evicted for what is needed; what belongs to a table that
// is gone is freed.
func TestResidencyShares(t *testing.T) { gputest.Each(t, testResidencyShares) }

func testResidencyShares(t *testing.T, d *gpukernels.Device) {
	r := opened(t, d)
	rng := rand.New(rand.NewPCG(3, 4))
	v, err := tables.New(residentSchema()).Append(residentBatch(rng, residentSchema(), 70000))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	uploaded := int64(0)
	for range 8 {
		wg.Go(func() {
			at, err := r.Acquire(context.Background(), v, []int{0, 5}, tables.Slice{})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			uploaded += at.Uploaded
			mu.Unlock()
			at.Release()
		})
	}
	wg.Wait()
	if least := int64(70000); uploaded < least || uploaded > 3*r.Used() {
		t.Errorf("%d bytes were uploaded for %d resident ones", uploaded, r.Used())
	}
	before := r.Used()
	held, err := r.Acquire(context.Background(), v, []int{0}, tables.Slice{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Evict(1) || r.Used() >= before || r.Used() == 0 {
		t.Errorf("eviction left %d of %d bytes", r.Used(), before)
	}
	if r.Evict(1) {
		t.Error("a column that is held was given up")
	}
	held.Release()
	held = nil
	v = nil
	for range 100 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		if r.Used() == 0 {
			return
		}
	}
	t.Errorf("the columns of a table that is gone hold %d bytes", r.Used())
}

// A column that does not fit is an error that says which; nothing stays allocated, and the next attempt may succeed.
func TestResidencyOutOfMemory(t *testing.T) { gputest.Each(t, testResidencyOutOfMemory) }

func testResidencyOutOfMemory(t *testing.T, d *gpukernels.Device) {
	r := opened(t, d)
	v, err := tables.New(residentSchema()).Append(residentBatch(rand.New(rand.NewPCG(5, 6)), residentSchema(), 1000))
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for n := 1; ; n++ {
		if err := d.FailAllocation(n); err != nil {
			t.Fatal(err)
		}
		at, err := r.Acquire(context.Background(), v, []int{0, 4, 5}, tables.Slice{})
		if err := d.FailAllocation(0); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			at.Release()
			break
		}
		failed++
		if n > 50 {
			t.Fatal(err)
		}
	}
	if failed == 0 {
		t.Error("no allocation failed")
	}
}

// Closing ends uploads that a cancelled query has left behind, and frees what they have brought.
func TestResidencyClosedWhileUploading(t *testing.T) {
	gputest.Each(t, testResidencyClosedWhileUploading)
}

func testResidencyClosedWhileUploading(t *testing.T, d *gpukernels.Device) {
	v, err := tables.New(residentSchema()).Append(residentBatch(rand.New(rand.NewPCG(7, 8)), residentSchema(), 70000))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 20 {
		r, err := New(d)
		if err != nil {
			t.Fatal(err)
		}
		if at, err := r.Acquire(ctx, v, []int{0, 1, 2, 3, 4, 5}, tables.Slice{}); err == nil {
			at.Release() // all was there already
		}
		r.Close()
		if m, err := d.Memory(); err != nil || m.Used != 0 {
			t.Fatalf("%d bytes are in use after closing, %v", m.Used, err)
		}
	}
}
