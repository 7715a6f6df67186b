package tablelab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

var kinds = []Kind{Random, Dense, Zipf, Repeated}

// number is the i-th integer of a column.
func number(bytes []byte, width, i int) uint64 {
	if width == 4 {
		return uint64(binary.LittleEndian.Uint32(bytes[4*i:]))
	}
	return binary.LittleEndian.Uint64(bytes[8*i:])
}

// TestData compares the totals with those of a Go map, and wants absent keys to be absent.
func TestData(t *testing.T) {
	for _, kind := range kinds {
		for _, multi := range []bool{false, true} {
			for _, width := range []int{4, 8} {
				s := Set{Kind: kind, Rows: 1 << 12, KeyBytes: width, ValueBytes: 12 - width, Exponent: 1, IsMulti: multi}
				name := fmt.Sprintf("%+v", s)
				d, err := Make(t.Context(), s)
				if err != nil {
					t.Fatal(name, err)
				}
				all := map[uint64][]uint64{}
				for i := range d.Rows {
					key, value := number(d.keys, s.KeyBytes, i), number(d.values, s.ValueBytes, i)
					if key == 1<<(8*s.KeyBytes)-1 || value == 1<<(8*s.ValueBytes)-1 {
						t.Fatalf("%s: row %d has the key %#x and the value %#x, one of which stands for nothing", name, i, key, value)
					}
					if there := all[key]; len(there) > 0 && !multi && there[0] != value {
						t.Fatalf("%s: the key %#x has the values %d and %d", name, key, there[0], value)
					}
					all[key] = append(all[key], value)
				}
				if want := map[Kind]int{Random: 1 << 12, Dense: 1 << 12, Repeated: 1 << 9}[kind]; len(all) != d.Distinct || want > 0 && want != len(all) || kind == Zipf && len(all) > 1<<11 {
					t.Errorf("%s: %d different keys, said to be %d", name, len(all), d.Distinct)
				}
				var found Totals
				for i := range len(d.present) / s.KeyBytes {
					key := number(d.present, s.KeyBytes, i)
					if len(all[key]) == 0 {
						t.Fatalf("%s: %#x is looked up and not there", name, key)
					}
					for _, value := range all[key] {
						found.add(key, value)
						if !multi {
							break
						}
					}
				}
				if found != d.found {
					t.Errorf("%s: a map finds %+v, want %+v", name, found, d.found)
				}
				for i := range d.Rows {
					if key := number(d.absent, s.KeyBytes, i); len(all[key]) > 0 || key == 1<<(8*s.KeyBytes)-1 {
						t.Fatalf("%s: the absent key %#x is there, or stands for nothing", name, key)
					}
				}
			}
		}
	}
	// The only number with the key ~0 of 64 bits is above those of rows. Five steps of Newton's give the factor's inverse.
	const factor = 0xd6e8feb86659fd93
	inverse := uint64(factor)
	for range 5 {
		inverse *= 2 - factor*inverse
	}
	s := Set{Kind: Random, KeyBytes: 8}
	n := ^uint64(0) * inverse
	n = (n^n>>32)*inverse ^ 0x5851F42D4C957F2D
	n ^= n >> 32
	if s.key(n) != ^uint64(0) || n < 1<<32 {
		t.Errorf("the number %#x has the key %#x", n, s.key(n))
	}
	if _, err := Make(t.Context(), Set{Kind: Random, Rows: 1000, KeyBytes: 4, ValueBytes: 4}); err == nil {
		t.Error("1,000 rows are no power of two")
	}
}

// cases are plans that meet each width, window, probing and kind of keys. Few of them have a source for themselves.
func cases() (out []struct {
	plan Plan
	set  Set
}) {
	for i, shape := range []Shape{
		{KeyBytes: 4, ValueBytes: 4, Window: 1, Group: 1},
		{KeyBytes: 4, ValueBytes: 4, Window: 4, Group: 4, Probing: Double},
		{KeyBytes: 4, ValueBytes: 8, Window: 4, Group: 1, Probing: Quadratic},
		{KeyBytes: 8, ValueBytes: 4, Window: 32, Group: 32},
		{KeyBytes: 8, ValueBytes: 8, Window: 2, Group: 2, Probing: Double},
		{KeyBytes: 4, ValueBytes: 4, Window: 8, Group: 8, IsMulti: true},
		{KeyBytes: 8, ValueBytes: 8, Window: 2, Group: 1, Probing: Quadratic, IsMulti: true},
	} {
		for k, kind := range kinds {
			for _, load := range []float64{0.5, 0.97} {
				if load > 0.9 && shape.Probing == Quadratic {
					load = 0.8 // half of the windows may be out of its reach
				}
				p := Plan{Shape: shape, Load: load, Runs: 1 + k%2}
				if (i+k)%2 == 0 {
					p.PartBits = 4
				}
				out = append(out, struct {
					plan Plan
					set  Set
				}{p, Set{Kind: kind, Rows: 1 << 11, KeyBytes: shape.KeyBytes, ValueBytes: shape.ValueBytes, Exponent: 0.75, IsMulti: shape.IsMulti}})
			}
		}
	}
	return out
}

// lab opens a lab for a test, and has sources compiled at once.
func lab(t *testing.T, d *gpukernels.Device, sources []string) *Lab {
	t.Helper()
	l, err := NewLab(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := l.Compile(t.Context(), sources); err != nil {
		t.Fatal(err)
	}
	return l
}

// load makes data and brings them to the device for the time of use.
func load(t *testing.T, l *Lab, s Set, use func(x *Loaded)) {
	t.Helper()
	d, err := Make(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	x, err := l.Load(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	use(x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOpen fills and searches tables of open addressing; the lab checks what they give.
func TestOpen(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		var sources []string
		for _, c := range cases() {
			sources = append(sources, c.plan.Sources()...)
		}
		l := lab(t, d, sources)
		for _, c := range cases() {
			load(t, l, c.set, func(x *Loaded) {
				if _, err := l.Open(t.Context(), c.plan, x); err != nil {
					t.Errorf("%+v, %+v: %v", c.plan, c.set, err)
				}
			})
		}
	})
}

// TestChains does the same with the three forms of chains.
func TestChains(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		l := lab(t, d, []string{ChainSource(4, 4), ChainSource(8, 4)})
		for _, kind := range kinds {
			for _, form := range Forms {
				for _, multi := range []bool{false, true} {
					if multi && form != Global {
						continue
					}
					s := Set{Kind: kind, Rows: 1 << 9, KeyBytes: 4, ValueBytes: 4, Exponent: 1, IsMulti: multi}
					if kind == Dense {
						s.KeyBytes = 8
					}
					load(t, l, s, func(x *Loaded) {
						if _, err := l.Chains(t.Context(), form, 0.7, 1, x); err != nil {
							t.Errorf("%v, %+v: %v", form, s, err)
						}
					})
				}
			}
		}
		load(t, l, Set{Kind: Random, Rows: 1 << 16, KeyBytes: 4, ValueBytes: 4}, func(x *Loaded) {
			if _, err := l.Chains(t.Context(), Copied, 1, 1, x); err == nil || !strings.Contains(err.Error(), "shared memory") {
				t.Errorf("65,536 rows in shared memory: %v", err)
			}
		})
	})
}

// TestLabRefuses wants wrong values to be found, and work that cannot end well to end.
func TestLabRefuses(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		shape := Shape{KeyBytes: 4, ValueBytes: 4, Window: 1, Group: 1}
		p := Plan{Shape: shape, Load: 0.5, Runs: 1}
		partitioned := p
		partitioned.PartBits = 2
		l := lab(t, d, partitioned.Sources())
		load(t, l, Set{Kind: Random, Rows: 1 << 9, KeyBytes: 4, ValueBytes: 4}, func(x *Loaded) {
			x.found.Sum++
			if _, err := l.Open(t.Context(), p, x); err == nil || !strings.Contains(err.Error(), "present keys") {
				t.Errorf("a wrong sum: %v", err)
			}
			if _, err := l.Chains(t.Context(), Global, 1, 1, x); err == nil || !strings.Contains(err.Error(), "present keys") {
				t.Errorf("a wrong sum of chains: %v", err)
			}
			x.found.Sum--
			x.Distinct /= 4 // so that the table is too small
			if _, err := l.Open(t.Context(), p, x); !errors.Is(err, ErrGivenUp) {
				t.Errorf("a full table: %v", err)
			}
			x.Distinct *= 4
			for n := 1; n <= 4; n++ {
				if err := d.FailAllocation(n); err != nil {
					t.Fatal(err)
				}
				if _, err := l.Open(t.Context(), partitioned, x); !errors.Is(err, gpukernels.ErrOutOfMemory) {
					t.Errorf("allocation %d failed: %v", n, err)
				}
			}
			if err := d.FailAllocation(0); err != nil {
				t.Fatal(err)
			}
			stopped, stop := context.WithCancel(t.Context())
			stop()
			if _, err := l.Open(stopped, p, x); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled context: %v", err)
			}
		})
		if err := l.arrays([]int64{1 << 50}, func([]gpukernels.Ptr) error { return nil }); err == nil || !strings.Contains(err.Error(), "device memory") {
			t.Errorf("2^50 bytes: %v", err)
		}
	})
	for _, s := range []Shape{
		{KeyBytes: 5, ValueBytes: 4, Window: 1, Group: 1}, {KeyBytes: 4, ValueBytes: 4, Window: 3, Group: 1}, {KeyBytes: 4, ValueBytes: 4, Window: 4, Group: 2}, {KeyBytes: 4, ValueBytes: 4, Window: 1, Group: 1, Probing: 3},
	} {
		if s.check() == nil {
			t.Errorf("%+v is a shape", s)
		}
	}
	if n := (Shape{Window: 4}).windows(1000, 0.5); n != 503 { // the first prime from 500 on
		t.Errorf("%d windows", n)
	}
}

// TestSourcesCompile compiles the kernels of all tables with NVRTC, which needs no GPU.
func TestSourcesCompile(t *testing.T) {
	lib := gputest.CUDALibrary(t)
	sources := map[string]bool{}
	for _, c := range cases() {
		for _, s := range c.plan.Sources() {
			sources[s] = true
		}
	}
	for _, window := range []int{1, 2, 4, 8, 16, 32} {
		for _, group := range []int{1, window} {
			for _, multi := range []bool{false, true} {
				sources[Shape{KeyBytes: 4, ValueBytes: 4, Window: window, Group: group, IsMulti: multi}.Source()] = true
			}
		}
	}
	compilers := lib.NewCompilers(90, -1) // processes: within one, little is compiled at once
	defer compilers.Close()
	turn := gpukernels.NewTurn()
	var wait sync.WaitGroup
	for s := range sources {
		wait.Add(1)
		compilers.Go(turn, 90, s, nil, func(_ []byte, _ time.Duration, err error) {
			defer wait.Done()
			if err != nil {
				t.Errorf("%v\n%s", err, s)
			}
		})
	}
	wait.Wait()
}
