package tests

import (
	"context"
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestQuotients divides numbers of 128 and 256 bits as kernels do, and as those do that are compiled quickly. Blocks have one thread each.
func TestQuotients(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		for name, define := range map[string]string{"good": "", "quick": "#define RADISH_QUICK\n"} {
			t.Run(name, func(t *testing.T) { testQuotients(t, d, define) })
		}
	})
}

func testQuotients(t *testing.T, d *gpukernels.Device, define string) {
	s := newStream(t, d)
	m, _, err := d.Load(context.Background(), define+`#include "radish.cuh"
#include "decimal.cuh"
RADISH_KERNEL(divides, 2) {
  for (i64 row = block_index(); row < (i64)p.w[1]; row += grid_size()) {
    u64* const x = as_pointer<u64>(p.w[0]) + 12 * row; // high, low and v, of two words each
    const u128 high = (u128)as_i128(x[0], x[1]), low = (u128)as_i128(x[2], x[3]), v = (u128)as_i128(x[4], x[5]);
    u128 rest;
    const u128 wide = div_256(high, low, v, rest), narrow = quotient(low, v);
    x[6] = (u64)wide, x[7] = (u64)(wide >> 64);
    x[8] = (u64)rest, x[9] = (u64)(rest >> 64);
    x[10] = (u64)narrow, x[11] = (u64)(narrow >> 64);
  }
}
`)
	check(t, err)
	defer m.Release()
	f, err := m.Function("divides")
	check(t, err)
	const rows, bytes = 2000, 12 * 8
	rng := rand.New(rand.NewPCG(gputest.Seed(t), 3))
	number := func(words int) *big.Int { // of any length
		x := new(big.Int)
		for range words {
			x.Add(x.Lsh(x, 64), new(big.Int).SetUint64(rng.Uint64()))
		}
		return x.Rsh(x, rng.UintN(uint(64*words)))
	}
	data := make([]byte, rows*bytes)
	word := func(row, at int) []byte { return data[row*bytes+at*8:][:8] }
	put := func(row, at int, x *big.Int) {
		binary.LittleEndian.PutUint64(word(row, at), new(big.Int).And(x, new(big.Int).SetUint64(1<<64-1)).Uint64())
		binary.LittleEndian.PutUint64(word(row, at+1), new(big.Int).Rsh(x, 64).Uint64())
	}
	get := func(row, at int) *big.Int {
		x := new(big.Int).SetUint64(binary.LittleEndian.Uint64(word(row, at+1)))
		return x.Add(x.Lsh(x, 64), new(big.Int).SetUint64(binary.LittleEndian.Uint64(word(row, at))))
	}
	for row := range rows {
		v := number(2)
		if v.Sign() == 0 {
			v.SetInt64(7)
		}
		high := new(big.Int)
		if row%3 > 0 {
			high.Mod(number(2), v)
		}
		put(row, 0, high)
		put(row, 2, number(2))
		put(row, 4, v)
	}
	p := alloc(t, s, int64(len(data)))
	check(t, s.Upload(p, data))
	check(t, s.Launch(f, 100, 1, 0, []uint64{uint64(p), rows}))
	check(t, s.Download(context.Background(), data, p))
	check(t, s.Free(p))
	for row := range rows {
		low, v := get(row, 2), get(row, 4)
		all := new(big.Int).Lsh(get(row, 0), 128)
		wide, rest := new(big.Int).QuoRem(all.Add(all, low), v, new(big.Int))
		if got := [3]*big.Int{get(row, 6), get(row, 8), get(row, 10)}; got[0].Cmp(wide) != 0 || got[1].Cmp(rest) != 0 || got[2].Cmp(new(big.Int).Quo(low, v)) != 0 {
			t.Fatalf("(%v << 128 + %v) / %v is %v, rest %v, and without the high half %v", get(row, 0), low, v, got[0], got[1], got[2])
		}
	}
}
