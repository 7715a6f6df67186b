package results

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/types"
)

// TestDownload fetches rows of integers and of strings, some of them NULL, in every way: whole, with strings of several columns together and apart, and column
// by column.
func TestDownload(t *testing.T) {
	gputest.Each(t, testDownload)
}

func testDownload(t *testing.T, d *gpukernels.Device) {
	pool, err := residency.New(d)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	seed := gputest.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 3))
	for _, n := range []int64{1, 100, 20_000, 150_000} {
		s, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		memory := devicemem.New(pool, s, false)
		put := func(at gpukernels.Ptr, data []byte) {
			if err := s.Upload(at, data); err != nil {
				t.Fatal(err)
			}
		}
		take := func(bytes int64) gpukernels.Ptr {
			at, err := memory.Alloc("rows", bytes)
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		ints := make([]int64, n)
		valid := make([]byte, n)
		var words [2][]string
		for i := range n {
			ints[i], valid[i] = rng.Int64(), byte(rng.IntN(3)&1)
			for c := range words {
				words[c] = append(words[c], strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(5+20*c)))
			}
			if valid[i] == 0 {
				words[1][i] = ""
			}
		}
		at := take(8*n + 2*16*n + n)
		rows := &Rows{Env: &Env{Memory: memory, Pool: pool}, Count: n, Columns: []Column{
			{Class: form.Int, Data: at}, {Class: form.View, Data: at + gpukernels.Ptr(8*n)},
			{Class: form.View, Data: at + gpukernels.Ptr(24*n), Valid: at + gpukernels.Ptr(40*n)},
		}}
		put(at, gpukernels.Bytes(ints))
		put(at+gpukernels.Ptr(40*n), valid)
		for c, all := range words {
			text := strings.Join(all, "")
			base := take(int64(len(text)) + 1)
			put(base, []byte(text))
			views := make([]form.String, n)
			for i, w := range all {
				views[i] = form.String{Address: uint64(base), Size: int64(len(w))}
				base += gpukernels.Ptr(len(w))
			}
			put(rows.Columns[1+c].Data, gpukernels.Bytes(views))
		}
		ts := []types.Type{types.Int64, types.Varchar(100), types.Varchar(100)}
		for _, way := range []struct {
			whole bool
			limit int64
		}{{true, 64 << 20}, {true, 10}, {false, 0}} {
			rows.IsWhole, rows.Env.Tuning.FetchedTogether = way.whole, way.limit
			at := int64(0)
			err := rows.Download(context.Background(), ts, func(b *column.Batch) error {
				for i := range b.N {
					null := b.Cols[2].IsNull(i)
					got := fmt.Sprint(b.Cols[0].I64[i], b.Cols[0].IsNull(i), b.Cols[1].Str[i], b.Cols[1].IsNull(i), b.Cols[2].Str[i], null)
					if want := fmt.Sprint(ints[at], false, words[0][at], false, words[1][at], valid[at] == 0); got != want {
						return fmt.Errorf("row %d of %d, %+v: %s instead of %s", at, n, way, got, want)
					}
					at++
				}
				return nil
			})
			if err != nil || at != n {
				t.Errorf("%d rows of %d came (%v)", at, n, err)
			}
		}
		memory.Close()
		s.Close()
	}
}
