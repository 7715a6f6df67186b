package textfile_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

func pack(t *testing.T, name string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := textfile.NewWriter(&b, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t *testing.T, path string) ([]byte, error) {
	t.Helper()
	f, err := textfile.Open(context.Background(), fileaccess.Full(), path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func someText(r *rand.Rand, n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = "abcdefgh,\n"[r.IntN(10)]
	}
	return text
}

// What the writer packs the standard library's gzip unpacks, and the other way round; zstd's own magic number begins its files.
func TestCompressed(t *testing.T) {
	r := rand.New(rand.NewPCG(20260101, 5))
	text := someText(r, 300000)
	dir := t.TempDir()
	put := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	packed := pack(t, "a.csv.gz", text)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, text) {
		t.Error("the standard library does not read what was written:", err)
	}
	var two bytes.Buffer // two members make one text
	for _, part := range [][]byte{text[:1000], text[1000:]} {
		w := gzip.NewWriter(&two)
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	zst := pack(t, "a.ZST", text)
	if !bytes.HasPrefix(zst, []byte("\x28\xb5\x2f\xfd")) {
		t.Errorf("no zstd file: % x", zst[:4])
	}
	if len(zst) > len(text)*2/3 || len(packed) > len(text)*2/3 {
		t.Errorf("%d bytes became %d and %d", len(text), len(packed), len(zst))
	}
	for name, b := range map[string][]byte{"a.csv": text, "a.csv.gz": packed, "two.GZ": two.Bytes(), "a.csv.zst": zst} {
		if got, err := unpack(t, put(name, b)); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(text), err)
		}
	}
	if got := textfile.Trim("x/a.csv.Gz"); got != "x/a.csv" {
		t.Error(got)
	}
	if got := textfile.Trim("a.csv"); got != "a.csv" {
		t.Error(got)
	}
}

// An archive that is cut at any byte, or of which a byte is another, is an error, and never text that looks whole.
func TestDamaged(t *testing.T) {
	const seed = 20260102
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	text := someText(r, 600)
	dir := t.TempDir()
	for _, name := range []string{"a.csv.gz", "a.csv.zst"} {
		whole := pack(t, name, text)
		path := filepath.Join(dir, name)
		read := func(b []byte) ([]byte, error) {
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			return unpack(t, path)
		}
		for n := range len(whole) {
			got, err := read(whole[:n])
			if n == 0 && err == nil && strings.HasSuffix(name, ".zst") {
				continue // no frame is a text without bytes
			}
			want := "is cut short"
			if n == 0 {
				want = "is empty"
			}
			if !errors.Is(err, sqlerr.CodeErrorOnRead) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || !bytes.HasPrefix(text, got) {
				t.Fatalf("%s, %d bytes of %d: %v, %d bytes of text", name, n, len(whole), err, len(got))
			}
		}
		for range 100 {
			b := bytes.Clone(whole)
			at := r.IntN(len(b))
			b[at] ^= byte(1 + r.IntN(255))
			// Time, name and system in gzip's header are nobody's matter.
			if got, err := read(b); err == nil && !bytes.Equal(got, text) {
				t.Fatalf("%s with another byte %d is read as another text", name, at)
			} else if err == nil && (at >= 10 || name != "a.csv.gz") && at != 4 {
				t.Errorf("%s with another byte %d is read as if nothing were", name, at)
			}
		}
		if _, err := read([]byte("a,b\n1,2\n3,4\n5,6\n")); err == nil || !strings.Contains(err.Error(), "as its name says") {
			t.Error(name, err)
		}
	}
	if _, err := unpack(t, filepath.Join(dir, "none.gz")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	var far bytes.Buffer
	w, err := zstd.NewWriter(&far, zstd.WithWindowSize(256<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(bytes.Repeat(text, 3000)); err != nil { // too long for a frame that needs no window
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "far.zst")
	if err := os.WriteFile(path, far.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := unpack(t, path); err == nil || !strings.Contains(err.Error(), "window") {
		t.Error("a window of 256 MB:", err)
	}
}

// A text without ends of lines, small while it is packed, stays within the memory that the meter grants.
func TestBombIsMetered(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"bomb.gz", "bomb.zst"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pack(t, name, make([]byte, 80<<20)), 0o644); err != nil {
			t.Fatal(err)
		}
		full := errors.New("the memory is full")
		most := int64(0)
		ctx := textfile.Metered(table.WithMeter(context.Background(), func(bytes int64) error {
			if bytes > 32<<20 {
				return full
			}
			most = max(most, bytes)
			return nil
		}))
		source := textfile.FileSource(fileaccess.Full(), path)
		err := textfile.Head(ctx, source, 0, func(*textfile.Block) (bool, error) { return false, nil })
		if !errors.Is(err, full) || most == 0 {
			t.Errorf("%s: %v, %d bytes were granted", name, err, most)
		}
		err = textfile.Each(ctx, 0, []textfile.Source{source}, func(b *textfile.Block) (int, error) { return len(b.Text), nil }, func(int) error { return nil })
		if !errors.Is(err, full) && (err == nil || !strings.Contains(err.Error(), full.Error())) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
