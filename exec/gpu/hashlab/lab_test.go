package hashlab

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/types"
)

// TestPublishedHashes compares with hashes that the functions' authors published, and with values that can be worked out by hand.
func TestPublishedHashes(t *testing.T) {
	fox, long := "The quick brown fox jumps over the lazy dog", "Nobody inspects the spammish repetition"
	for _, c := range []struct {
		function string
		width    int
		key      string
		want     uint64
	}{
		{"fnv1a", 32, "", 0x811c9dc5}, {"fnv1a", 32, "a", 0xe40c292c}, {"fnv1a", 32, "foobar", 0xbf9cf968},
		{"fnv1a", 64, "", 0xcbf29ce484222325}, {"fnv1a", 64, "a", 0xaf63dc4c8601ec8c}, {"fnv1a", 64, "foobar", 0x85944171f73967e8},
		{"murmur3", 32, "", 0}, {"murmur3", 32, "test", 0xba6bd213}, {"murmur3", 32, "Hello, world!", 0xc0363e43}, {"murmur3", 32, fox, 0x2e4ff723},
		{"murmur3", 32, "\xff\xff\xff\xff", 0x76293b50}, {"murmur3", 32, "\x21\x43\x65\x87", 0xf55b516b},
		{"xxh32", 32, "", 0x02cc5d05}, {"xxh32", 32, "a", 0x550d7456}, {"xxh32", 32, "abc", 0x32d153ff}, {"xxh32", 32, long, 0xe2293b2f},
		{"xxh64", 64, "", 0xef46db3751d8e999}, {"xxh64", 64, "a", 0xd24ec4f1a98c6e5b}, {"xxh64", 64, "abc", 0x44bc2cf5ad770999}, {"xxh64", 64, long, 0xfbcea83c8a378bf1},
		{"mix", 64, "\x01\x00\x00\x00\x00\x00\x00\x00", 0xb456bcfc34c2cb2c},

		// Keys of one or two chunks: (1, 2) and (0xffffffff, 3).
		{"add", 32, "\x01\x00\x00\x00\x02\x00\x00\x00", 3}, {"add", 32, "\xff\xff\xff\xff\x03\x00\x00\x00", 2}, {"add", 64, "\xff\xff\xff\xff\x03\x00\x00\x00", 0x100000002},
		{"add_shift", 64, "\x01\x00\x00\x00\x02\x00\x00\x00", 1<<1 + 2<<3}, {"xor_shift", 64, "\x01\x00\x00\x00\x03\x00\x00\x00", 1<<1 ^ 3<<4},
		{"add_shift", 64, "\x1f\x00\x00\x00\x01\x00\x00\x00", 0x1f<<31 + 1}, // the offset is 32 at the second chunk, of which the lowest five bits count
		{"mult", 32, "\x01\x00\x00\x00\x02\x00\x00\x00", 1 + 3*(1+1*2)}, {"mult", 32, "\xff\xff\xff\xff", 1}, {"mult", 64, "\xff\xff\xff\xff", 1<<32 + 1},
		{"mult_shift", 64, "\x01\x00\x00\x00\x02\x00\x00\x00", 1 + (1+2<<1)*(3<<3)},
		{"xor", 32, "\x05\x00\x00\x00\x03\x00\x00\x00", 6}, {"xor_mult", 32, "\x05\x00\x00\x00\x03\x00\x00\x00", 7 ^ 3},
		{"xor_hw", 32, "\x01\x00\x00\x00", 1 << 31}, {"xor_hw", 64, "\x01\x00\x00\x00", 1 << 63},
		{"xor_hw", 32, "\x01\x00\x00\x00\x01\x00\x00\x00", 1 | 1<<30}, // the offset is the first chunk: 1<<31 ^ 1<<1, reversed
		{"add_hw", 32, "\x01\x00\x00\x00\x01\x00\x00\x00", 1 | 1<<30},
		{"mult_hw", 32, "\x01\x00\x00\x00", 3 << 30},
		{"n_xor", 32, "\x05\x00\x00\x00", 0}, {"n_add", 32, "\x05\x00\x00\x00", 10}, {"n_xor_mult", 32, "\x02\x00\x00\x00", 1 + 4*3},
		{"n_add_shift", 64, "\x03\x00\x00\x00", 3<<3 + 3<<6}, // the offset goes on
	} {
		if got := Find(c.function).Program(len(c.key), c.width).Hash([]byte(c.key)); got != c.want {
			t.Errorf("%s of %q is %#x in %d bits, want %#x", c.function, c.key, got, c.width, c.want)
		}
	}
}

// TestShiftsOf32Bits wants the shifted forms to be the plain ones where a hash is no wider than a chunk, and others where it has.
func TestShiftsOf32Bits(t *testing.T) {
	k := Random(12, 1000)
	for _, c := range combinations {
		for _, rounds := range []string{"", "n_"} {
			for _, width := range []int{32, 64} {
				plain, err := Find(rounds+c.name).Program(12, width).Hashes(t.Context(), k.Data, k.Count)
				if err != nil {
					t.Fatal(err)
				}
				shifted, err := Find(rounds+c.name+"_shift").Program(12, width).Hashes(t.Context(), k.Data, k.Count)
				if err != nil {
					t.Fatal(err)
				}
				if slices.Equal(plain, shifted) != (width == 32) {
					t.Errorf("%s%s and its shifted form have the same hashes of %d bits: %v", rounds, c.name, width, width != 32)
				}
			}
		}
	}
}

// lengths are those of the keys that the tests have: all short ones, and some on both sides of where functions change how they go on.
func lengths() (out []int) {
	for n := 1; n <= 20; n++ {
		out = append(out, n)
	}
	return append(out, 24, 31, 32, 33, 40, 64)
}

// agreement is a kernel that hashes keys of all lengths by one function.
type agreement struct {
	function *Function
	source   string
	keys     []byte
	programs []*Program // whose hashes it gives, of agreementKeys keys each
}

const agreementKeys = 20

func newAgreement(f *Function) agreement {
	a := agreement{function: f}
	var text, body strings.Builder
	for _, bytes := range lengths() {
		for _, width := range f.Widths {
			if !f.Takes(bytes, width) {
				continue
			}
			p := f.Program(bytes, width)
			name := fmt.Sprintf("hash_%d_%d", width, bytes)
			text.WriteString(p.text(name))
			words := p.words()
			fmt.Fprintf(&body, "  for (int i = 0; i < %d; i++) *hashes++ = %s(keys + i * %d);\n  keys += %d;\n", agreementKeys, name, words, agreementKeys*words)
			a.keys = append(a.keys, Random(bytes, agreementKeys).padded(4*words)...)
			a.programs = append(a.programs, p)
		}
	}
	a.source = prelude + text.String() + "RADISH_KERNEL(all, 2) {\n  if (thread_index() != 0) return;\n  const u32* keys = as_pointer<const u32>(p.w[0]);\n  u64* hashes = as_pointer<u64>(p.w[1]);\n" + body.String() + "}\n"
	return a
}

// TestDevicesAgree hashes keys of all lengths by each function in Go and on a device, in one kernel for each function.
func TestDevicesAgree(t *testing.T) {
	var all []agreement
	var sources []string
	for _, f := range Functions() {
		a := newAgreement(f)
		all, sources = append(all, a), append(sources, a.source)
	}
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		if err := d.LoadAll(t.Context(), sources); err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			got := launchOnce(t, d, a.source, "all", a.keys, len(a.programs)*agreementKeys)
			for i, p := range a.programs {
				k := Random(p.Bytes, agreementKeys)
				want, err := p.Hashes(t.Context(), k.Data, agreementKeys)
				if err != nil {
					t.Fatal(err)
				}
				if here := got[i*agreementKeys : (i+1)*agreementKeys]; !slices.Equal(here, want) {
					t.Errorf("%s of %d bytes in %d bits: %x, in Go %x", a.function.Name, p.Bytes, p.Width, here, want)
				}
			}
		}
	})
}

// TestSourcesCompile compiles the kernels that the tests and the lab run with NVRTC, which needs no GPU.
func TestSourcesCompile(t *testing.T) {
	lib := gputest.CUDALibrary(t)
	var sources []string
	for _, f := range Functions() {
		if !testing.Short() { // a minute of a processor's time
			sources = append(sources, newAgreement(f).source)
		}
		for _, bytes := range []int{4, 16} {
			for _, width := range f.Widths {
				if f.Takes(bytes, width) {
					sources = append(sources, f.Program(bytes, width).Source(DefaultShape(bytes)))
				}
			}
		}
	}
	compilers := lib.NewCompilers(90, -1) // processes: within one, little is compiled at once
	defer compilers.Close()
	turn := gpukernels.NewTurn()
	var wait sync.WaitGroup
	for _, s := range sources {
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

// launchOnce runs one block of a kernel that reads bytes and writes words.
func launchOnce(t *testing.T, d *gpukernels.Device, source, kernel string, in []byte, words int) (out []uint64) {
	t.Helper()
	l, err := NewLab(d)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = l.arrays(t.Context(), in, int64(8*words), func(from, to gpukernels.Ptr) error {
		if _, err := l.fastest(t.Context(), source, kernel, 1, 256, 1, uint64(from), uint64(to)); err != nil {
			return err
		}
		out = gputest.Download[uint64](t, l.stream, to, int64(words))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestHashesOfRadish compares the descriptions of Radish's own hashes with what its kernels and its operators for the CPU compute.
func TestHashesOfRadish(t *testing.T) {
	const count = 200
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		k := Random(24, count)
		source := `#include "radish.cuh"
#include "hash.cuh"
RADISH_KERNEL(hashes, 2) {
  if (thread_index() != 0) return;
  u64* to = as_pointer<u64>(p.w[1]);
  for (int i = 0; i < 200; i++) {
    const u8* key = as_pointer<const u8>(p.w[0]) + 24 * i;
    const u64* w = reinterpret_cast<const u64*>(key);
    *to++ = mix_word((u32)w[0]);
    *to++ = hash_of((u32)w[0]);
    *to++ = hash_of((i64)w[0]);
    *to++ = spread_word(w[0]);
    *to++ = hash_combine(hash_combine(hash_of((i64)w[0]), hash_of((i64)w[1])), hash_of((i64)w[2]));
    for (int n = 1; n <= 24; n++) *to++ = hash_of(view{key, n});
  }
}
`
		type description struct {
			function    string
			bytes, bits int
		}
		all := []description{{"mix_word", 4, 32}, {"mix", 4, 64}, {"mix", 8, 64}, {"spread_word", 8, 64}, {"gpu_columns", 24, 64}}
		for n := 1; n <= 24; n++ {
			all = append(all, description{"gpu_string", n, 64})
		}
		got := launchOnce(t, d, source, "hashes", k.Data, count*len(all))
		for i, c := range all {
			p := Find(c.function).Program(c.bytes, c.bits)
			for n := range count {
				if want := got[n*len(all)+i]; p.Hash(k.at(n)[:c.bytes]) != want {
					t.Fatalf("%s of %d bytes: %#x, its kernel has %#x", c.function, c.bytes, p.Hash(k.at(n)[:c.bytes]), want)
				}
			}
		}
	})
	t.Run("cpu", func(t *testing.T) {
		k := Random(16, count)
		columns := []*column.Vector{{Type: types.Int64, I64: make([]int64, count)}, {Type: types.Int64, I64: make([]int64, count)}}
		for n := range count {
			for i, c := range columns {
				c.I64[n] = int64(binary.LittleEndian.Uint64(k.at(n)[8*i:]))
			}
		}
		both := make([]uint64, count)
		new(keyhash.Hasher).Hash(both, columns, nil, count)
		one, two := Find("cpu_int").Program(8, 64), Find("cpu_columns").Program(16, 64)
		for n := range count {
			if got, want := one.Hash(k.at(n)[:8]), keyhash.Int(uint64(columns[0].I64[n])); got != want {
				t.Fatalf("cpu_int: %#x, want %#x", got, want)
			}
			if got := two.Hash(k.at(n)); got != both[n] {
				t.Fatalf("cpu_columns: %#x, want %#x", got, both[n])
			}
		}
	})
}

// TestLab has the kernels that are timed hash keys of several lengths and shapes; the lab compares their hashes itself. Keys that differ in one bit are found.
func TestLab(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		l, err := NewLab(d)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		type timed struct {
			function     string
			bytes, width int
			shape        Shape
		}
		all := []timed{
			{"fnv1a", 5, 32, Shape{Load: 1, Rows: 1, Threads: 128}}, {"fnv1a", 5, 64, Shape{Load: 4, Rows: 3, Threads: 256}}, {"xxh64", 37, 64, Shape{Load: 16, Rows: 2, Threads: 64}},
			{"xor_hw", 8, 64, DefaultShape(8)}, {"mix_word", 4, 32, DefaultShape(4)}, {"murmur3", 16, 32, DefaultShape(16)}, {"n_xor_mult_hw", 64, 64, DefaultShape(64)},
		}
		var sources []string
		for _, c := range append(all, timed{"mix", 8, 64, DefaultShape(8)}) {
			sources = append(sources, Find(c.function).Program(c.bytes, c.width).Source(c.shape))
		}
		if err := l.Compile(t.Context(), sources); err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			p := Find(c.function).Program(c.bytes, c.width)
			for _, count := range []int{1, 1000, 1003} {
				if _, err := l.Read(t.Context(), p, Random(c.bytes, count), c.shape, 2); err != nil {
					t.Errorf("%s of %d keys of %d bytes, %+v: %v", c.function, count, c.bytes, c.shape, err)
				}
			}
			if _, err := l.Made(t.Context(), p, 100_000, 2); err != nil {
				t.Errorf("%s: %v", c.function, err)
			}
		}
		p, k := Find("mix").Program(8, 64), Random(8, 10)
		hashes, err := p.Hashes(t.Context(), k.Data, k.Count)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Clone(gpukernels.Bytes(hashes))
		if err := p.compare(t.Context(), k, got); err != nil {
			t.Error(err)
		}
		got[8*7] ^= 1
		if err := p.compare(t.Context(), k, got); err == nil || !strings.Contains(err.Error(), "key 7") {
			t.Errorf("a wrong hash of key 7: %v", err)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if _, err := l.Read(stopped, p, k, DefaultShape(8), 1); err == nil {
			t.Error("a cancelled context did not end the work")
		}
	})
}

// TestCost counts operations by hand.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		function             string
		bytes, width         int
		all, multiplications int
	}{
		{"xor", 8, 32, 2, 0}, {"mix_word", 4, 32, 10, 2}, {"fnv1a_words", 16, 64, 8, 4}, {"mult", 4, 32, 3, 1}, {"fnv1a", 4, 32, 4*2 + 3 + 3, 4},
	} {
		if all, multiplications := Find(c.function).Program(c.bytes, c.width).Cost(); all != c.all || multiplications != c.multiplications {
			t.Errorf("%s of %d bytes: %d operations, %d multiplications; want %d, %d", c.function, c.bytes, all, multiplications, c.all, c.multiplications)
		}
	}
}

// TestKeys checks that sets have different keys, and that few of a normal distribution are alike.
func TestKeys(t *testing.T) {
	const count = 1 << 14
	for _, k := range Sets(count) {
		if n := k.distinct(); n != count {
			t.Errorf("%s has %d different keys of %d", k.Name, n, count)
		}
	}
	if n := Random(5, count).distinct(); n != count {
		t.Errorf("%d different keys of 5 bytes", n)
	}
	if n := Normal(1, 100_000).distinct(); n < 99_950 {
		t.Errorf("%d of 100,000 normally distributed numbers are different", n)
	}
	if k := Random(5, 3).padded(8); len(k) != 24 || !bytes.Equal(k[13:16], []byte{0, 0, 0}) {
		t.Errorf("padded keys: %x", k)
	}
}

// Hash returns the hash of one key, of the program's length.
func (p *Program) Hash(key []byte) uint64 {
	var out [1]uint64
	newEvaluator(p).hash(out[:], key)
	return out[0]
}
