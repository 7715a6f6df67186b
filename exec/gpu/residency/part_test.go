package residency

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// grouped makes a table with row groups of the given sizes.
func grouped(t *testing.T, rng *rand.Rand, base *tables.Version, sizes ...int) *tables.Version {
	t.Helper()
	b := tables.NewBuilder(base)
	for _, n := range sizes {
		batch := residentBatch(rng, base.Schema, n)
		data := make([]encoding.Data, len(batch.Cols))
		for i, c := range batch.Cols {
			data[i].Type = c.Type
			data[i].Append(c, n, nil)
		}
		if err := b.AppendColumns(n, data); err != nil {
			t.Fatal(err)
		}
	}
	v, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkPart acquires a part, compares its columns and deleted rows with the table's, and returns the bytes that were uploaded for it.
func checkPart(t *testing.T, r *Residency, s *gpukernels.Stream, v *tables.Version, ordinals []int, part tables.Slice) int64 {
	t.Helper()
	at, err := r.Acquire(context.Background(), v, ordinals, part)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Release()
	first, end := part.Rows(v)
	if at.Rows != end-first {
		t.Errorf("part %v has %d rows, want %d", part, at.Rows, end-first)
	}
	for i, c := range at.Columns {
		if c.first > first || c.end < end {
			t.Fatalf("part %v: rows %d to %d are there", part, c.first, c.end)
		}
		checkResident(t, s, v, ordinals[i], c)
	}
	if (at.Deleted != 0) != (v.Rows() < v.Span()) {
		t.Fatalf("part %v: a bitmap of deleted rows is there: %v", part, at.Deleted != 0)
	}
	if at.Deleted != 0 && end > first {
		from := first / 32
		bits := gputest.Download[uint32](t, s, at.Deleted+gpukernels.Ptr(4*from), (end+31)/32-from)
		for row := first; row < end; row++ {
			if _, _, ok := v.Locate(row); ok == (bits[row/32-from]>>(row&31)&1 != 0) {
				t.Fatalf("part %v, row %d: deleted is %v", part, row, ok)
			}
		}
	}
	return at.Uploaded
}

// TestParts compares parts with the table, in which row groups begin at any row of a tile, some are NULL or constant, strings have a dictionary or none, and rows are deleted.
func TestParts(t *testing.T) {
	seed := gputest.Seed(t)
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		r, s := opened(t, d), stream(t, d)
		rng := rand.New(rand.NewPCG(seed, 2))
		all := []int{0, 1, 2, 3, 4, 5, 6}
		v := grouped(t, rng, tables.New(residentSchema()), 100, 20_000, 8092, 3, 40_000, 1)
		parts := []tables.Slice{{From: 0, To: 1}, {From: 1, To: 3}, {From: 2, To: 3}, {From: 3, To: 6}, {From: 5, To: 6}, {From: 6, To: 6}, {From: 2, To: 2}, {From: 4, To: 99}}
		for range 2 {
			for _, part := range parts {
				checkPart(t, r, s, v, all, part)
				if again := checkPart(t, r, s, v, all, part); again != 0 {
					t.Errorf("part %v: %d bytes were uploaded again", part, again)
				}
			}
			if n := checkPart(t, r, s, v, []int{0, 4}, tables.Slice{From: 3, To: 5}); n != 0 { // lies in {3, 6}
				t.Errorf("a part of a part: %d bytes were uploaded", n)
			}
			var err error
			if v, _, err = v.Mark(context.Background(), []int64{0, 99, 100, 20_100, 28_191, 28_192, 28_194, 30_000, 68_195}); err != nil {
				t.Fatal(err)
			}
		}
		if n := checkPart(t, r, s, v, all, tables.Slice{From: 0, To: 6}); n == 0 {
			t.Error("all row groups, of which only parts are there, were not uploaded")
		}
		if n := checkPart(t, r, s, v, all, tables.Slice{From: 0, To: 5}); n != 0 { // the whole column serves
			t.Errorf("a part of what is whole on the device: %d bytes were uploaded", n)
		}
	})
}

// TestPartsOfNewVersions has a later version, which shares row groups with an earlier one, use its parts, unless the column's form has changed.
func TestPartsOfNewVersions(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		r, s := opened(t, d), stream(t, d)
		rng := rand.New(rand.NewPCG(3, 2))
		schema := &tables.Schema{Name: "t", Columns: residentSchema().Columns[:1]}
		v := grouped(t, rng, tables.New(schema), 30_000, 20_000, 30_000)
		checkPart(t, r, s, v, []int{0}, tables.Slice{From: 1, To: 2})
		checkPart(t, r, s, v, []int{0}, tables.Slice{From: 0, To: 2})
		next := grouped(t, rng, v, 30_000)
		for _, part := range []tables.Slice{{From: 1, To: 2}, {From: 0, To: 2}, {From: 0, To: 3}, {From: 2, To: 4}} {
			n := checkPart(t, r, s, next, []int{0}, part)
			t.Logf("part %v of a version with one more row group: %d bytes were uploaded", part, n)
			if r.Form(v, 0).Width == r.Form(next, 0).Width && r.Form(v, 0).Base == r.Form(next, 0).Base && r.Form(v, 0).HasNulls == r.Form(next, 0).HasNulls && part.To == 2 && n != 0 {
				t.Errorf("part %v of the same form was uploaded again", part)
			}
		}
	})
}

// TestPartsAreGivenUp wants parts to be evicted as columns are, to be listed and counted, and to be freed with their version.
func TestPartsAreGivenUp(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		r, s := opened(t, d), stream(t, d)
		v := grouped(t, rand.New(rand.NewPCG(9, 9)), tables.New(residentSchema()), 50_000, 50_000, 50_000, 50_000)
		ordinals := []int{0, 1, 2}
		checkPart(t, r, s, v, ordinals, tables.Slice{From: 0, To: 2})
		half := r.Used()
		if here, missing := r.Bytes(v, ordinals, tables.Slice{From: 0, To: 2}); here != half || missing != 0 {
			t.Errorf("%d bytes are there and %d missing, and %d are used", here, missing, half)
		}
		if here, missing := r.Bytes(v, ordinals, tables.Slice{From: 1, To: 3}); here != 0 || missing == 0 || r.Awaited(v, ordinals, tables.Slice{From: 1, To: 3}) != missing {
			t.Errorf("a part that is not there: %d bytes are, %d missing", here, missing)
		}
		if got := r.ResidentBytes(v); got != half {
			t.Errorf("%d bytes of the table are there, want %d", got, half)
		}
		r.SetLimit(t, half+half/2)
		checkPart(t, r, s, v, ordinals, tables.Slice{From: 2, To: 4})
		if r.Used() > half+half/2 {
			t.Errorf("%d bytes are used, and %d may be", r.Used(), half+half/2)
		}
		if _, missing := r.Bytes(v, ordinals, tables.Slice{From: 0, To: 2}); missing == 0 {
			t.Error("nothing was given up")
		}
		held, err := r.Acquire(context.Background(), v, ordinals, tables.Slice{From: 2, To: 4})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Acquire(context.Background(), v, ordinals, tables.Slice{From: 0, To: 2}); !errors.Is(err, gpukernels.ErrOutOfMemory) {
			t.Errorf("more than may be held: %v", err)
		}
		held.Release()
		r.loads.Wait() // uploads go on whose query has failed
		for _, x := range r.List() {
			if !x.Ready || x.Bytes == 0 {
				t.Errorf("listed: %+v", x)
			}
		}
		checkPart(t, r, s, v, ordinals, tables.Slice{From: 1, To: 2})
		if n := len(r.List()); n != 3 {
			t.Errorf("%d columns are listed, want 3", n)
		}
		v = nil
		for i := 0; r.Used() > 0; i++ {
			if i > 1000 {
				t.Fatalf("%d bytes of a table that is gone are still there", r.Used())
			}
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	})
}

// TestWindowsAreGivenUp wants a window to go when it is released, unless it is kept or another query has asked for it, and to hold no more memory than it takes.
func TestWindowsAreGivenUp(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		r, s, ctx := opened(t, d), stream(t, d), context.Background()
		v := grouped(t, rand.New(rand.NewPCG(9, 1)), tables.New(residentSchema()), 20_000, 20_000, 20_000)
		ordinals, part := []int{0, 1}, tables.Slice{From: 1, To: 2}
		window := func(kept bool) *Table {
			t.Helper()
			at, err := r.AcquireWindow(ctx, v, ordinals, part, kept)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range at.Columns {
				checkResident(t, s, v, ordinals[i], c)
			}
			return at
		}
		window(false).Release()
		if used := r.Used(); used != 0 {
			t.Errorf("a window that was released holds %d bytes", used)
		}
		at := window(false)
		checkPart(t, r, s, v, ordinals, part) // somebody who may need it again
		at.Release()
		if _, missing := r.Bytes(v, ordinals, part); missing != 0 {
			t.Errorf("%d bytes of what another query has asked for are gone", missing)
		}
		r.Evict(1 << 60)
		window(true).Release()
		if n := window(false); n.Uploaded != 0 {
			t.Errorf("%d bytes of a window that is kept were uploaded again", n.Uploaded)
		} else {
			n.Release()
		}
		r.Evict(1 << 60)
		checkPart(t, r, s, v, ordinals, tables.Slice{})
		whole := r.Used()
		at = window(false)
		if r.Used() <= whole || !r.Evict(1) {
			t.Error("a window has the whole column's memory, which cannot be given up")
		}
		at.Release()
	})
}
