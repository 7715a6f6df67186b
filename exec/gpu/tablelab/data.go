package tablelab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Kind says which keys there are.
type Kind string

// The kinds of keys.
const (
	Random   Kind = "random"   // different numbers of all bits
	Dense    Kind = "dense"    // 0, 1, 2 ... in another order
	Zipf     Kind = "zipf"     // random ones, drawn by Zipf's law
	Repeated Kind = "repeated" // random ones, eight times each
)

// repeats is how many rows a key of Repeated has.
const repeats = 8

// Totals are what a search of many keys finds, in any order: how many values, their sum, and the sum of each times twice its key plus one.
type Totals struct{ Values, Sum, Weighted uint64 }

func (t *Totals) add(key, value uint64) {
	t.Values++
	t.Sum += value
	t.Weighted += value * (2*key + 1)
}

func (t *Totals) merge(o Totals) {
	t.Values += o.Values
	t.Sum += o.Sum
	t.Weighted += o.Weighted
}

// Set describes data.
type Set struct {
	Kind                 Kind
	Rows                 int // a power of two
	KeyBytes, ValueBytes int
	Exponent             float64 // of Zipf's law
	IsMulti              bool    // all rows of a key are kept, and each key is looked up once. Otherwise one row of a key is, and keys are looked up as often as they are inserted
}

// Data are the rows of a table, what is looked up in it, and what must come of it.
type Data struct {
	Set
	Distinct        int    // different keys
	keys, values    []byte // columns of little-endian integers
	present, absent []byte // keys to look up
	found           Totals // of the present ones
}

// order is a permutation of the numbers below a power of two.
func order(i, rows uint64) uint64 {
	half := bits.Len64(rows-1) / 2
	i = i * 0x9E3779B97F4A7C15 & (rows - 1)
	i ^= i >> max(half, 1)
	return i * 0xD6E8FEB86659FD93 & (rows - 1)
}

// key is the key of a number. No number below 2^32 - 1 has the key ~0, which stands for an empty slot.
func (s *Set) key(n uint64) uint64 {
	switch {
	case s.Kind == Dense:
		return n
	case s.KeyBytes == 4:
		h := ^uint32(n)
		h = (h ^ h>>15) * 0x2c1b3c6d
		h = (h ^ h>>12) * 0x297a2d39
		return uint64(^(h ^ h>>15))
	}
	n = (n ^ n>>32 ^ 0x5851F42D4C957F2D) * 0xd6e8feb86659fd93
	return (n ^ n>>32) * 0xd6e8feb86659fd93
}

// value is the value of the row of a number, which is not ~0.
func (s *Set) value(n uint64) uint64 {
	n = (n + 1) * 0x9E3779B97F4A7C15
	if s.ValueBytes == 4 {
		return n >> 33
	}
	return n >> 1
}

// numbers gives each row the number of its key.
func (s *Set) numbers(ctx context.Context) (func(row uint64) uint64, error) {
	rows := uint64(s.Rows)
	switch s.Kind {
	case Zipf:
		sums := make([]float64, s.Rows)
		total := 0.0
		for i := range sums {
			total += math.Pow(float64(i+1), -s.Exponent)
			sums[i] = total
		}
		drawn := make([]uint32, s.Rows)
		err := pieces(ctx, s.Rows, func(from, to int) {
			random := rand.New(rand.NewPCG(1, uint64(from)))
			for i := from; i < to; i++ {
				drawn[i] = uint32(min(sort.SearchFloat64s(sums, random.Float64()*total), s.Rows-1))
			}
		})
		return func(row uint64) uint64 { return uint64(drawn[row]) }, err
	case Repeated:
		return func(row uint64) uint64 { return order(row, rows) / repeats }, nil
	}
	return func(row uint64) uint64 { return order(row, rows) }, nil
}

// pieceRows is how many rows are made by one goroutine at a time, between two looks at the context.
const pieceRows = 1 << 16

// pieces has all processors work through a number of rows.
func pieces(ctx context.Context, rows int, each func(from, to int)) error {
	var wait sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, runtime.GOMAXPROCS(0))
	for i := range errs {
		wait.Go(func() {
			errs[i] = sqlerr.Guard(func() error {
				for from := int(next.Add(pieceRows)) - pieceRows; from < rows; from = int(next.Add(pieceRows)) - pieceRows {
					if ctx.Err() != nil {
						return context.Cause(ctx)
					}
					each(from, min(from+pieceRows, rows))
				}
				return nil
			})
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// column are integers of a width.
func column(width, rows int) (bytes []byte, set func(i int, x uint64)) {
	if width == 4 {
		out := make([]uint32, rows)
		return gpukernels.Bytes(out), func(i int, x uint64) { out[i] = uint32(x) }
	}
	out := make([]uint64, rows)
	return gpukernels.Bytes(out), func(i int, x uint64) { out[i] = x }
}

// Make makes data.
func Make(ctx context.Context, s Set) (*Data, error) {
	switch {
	case s.Rows < repeats || s.Rows&(s.Rows-1) != 0 || s.Rows > 1<<30:
		return nil, fmt.Errorf("%d rows: a power of two from %d to 2^30", s.Rows, repeats)
	case s.KeyBytes != 4 && s.KeyBytes != 8 || s.ValueBytes != 4 && s.ValueBytes != 8:
		return nil, fmt.Errorf("keys of %d bytes and values of %d: there are 4 and 8", s.KeyBytes, s.ValueBytes)
	case s.Kind != Random && s.Kind != Dense && s.Kind != Zipf && s.Kind != Repeated:
		return nil, fmt.Errorf("there is no kind of keys %q", s.Kind)
	}
	d := &Data{Set: s}
	rows := uint64(s.Rows)
	number, err := s.numbers(ctx)
	if err != nil {
		return nil, err
	}
	var keys, values, absent func(i int, x uint64)
	d.keys, keys = column(s.KeyBytes, s.Rows)
	d.values, values = column(s.ValueBytes, s.Rows)
	d.absent, absent = column(s.KeyBytes, s.Rows)
	var mutex sync.Mutex
	err = pieces(ctx, s.Rows, func(from, to int) {
		var all Totals
		for i := from; i < to; i++ {
			n := number(uint64(i))
			of := n
			if s.IsMulti {
				of = uint64(i)
			}
			key, value := s.key(n), s.value(of)
			keys(i, key)
			values(i, value)
			absent(i, s.key(rows+uint64(i)))
			all.add(key, value)
		}
		mutex.Lock()
		defer mutex.Unlock()
		d.found.merge(all)
	})
	if err != nil {
		return nil, err
	}
	return d, d.lookups(ctx, number)
}

// lookups counts the different keys and makes those to look up.
func (d *Data) lookups(ctx context.Context, number func(row uint64) uint64) error {
	rows := uint64(d.Rows)
	unique := d.Kind == Random || d.Kind == Dense
	var there []bool // keys that have rows, by number
	d.Distinct = d.Rows
	if !unique {
		there, d.Distinct = make([]bool, d.Rows), 0
		for i := range rows {
			if n := number(i); !there[n] {
				there[n] = true
				d.Distinct++
			}
		}
	}
	if unique || !d.IsMulti {
		present, set := column(d.KeyBytes, d.Rows)
		d.present = present
		return pieces(ctx, d.Rows, func(from, to int) {
			for i := from; i < to; i++ {
				set(i, d.key(number(order(uint64(i)+1, rows))))
			}
		})
	}
	present, set := column(d.KeyBytes, d.Distinct)
	d.present = present
	at := 0
	for i := range rows {
		if n := order(i, rows); there[n] {
			set(at, d.key(n))
			at++
		}
	}
	return nil
}
