package textfile

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Pieces of any size, read in any order, have the records of the whole text, each once, with their lines.
func TestPieces(t *testing.T) {
	old := BlockSize
	defer func() { BlockSize = old }()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 20))
		var b strings.Builder
		if rng.IntN(4) == 0 {
			b.WriteString("\xef\xbb\xbf")
		}
		var want []string
		line := 1
		for i := range rng.IntN(40) {
			record := fmt.Sprintf("%d", i)
			switch rng.IntN(4) {
			case 0:
				record = fmt.Sprintf("%d,\"%s\"\"\n\n%s\"", i, strings.Repeat("x", rng.IntN(30)), strings.Repeat("\n", rng.IntN(3)))
			case 1:
				record += strings.Repeat("y", rng.IntN(60))
			}
			want = append(want, fmt.Sprint(line, ":", record))
			record += []string{"\n", "\r\n"}[rng.IntN(2)]
			line += strings.Count(record, "\n")
			b.WriteString(record)
		}
		text := b.String()
		if rng.IntN(2) == 0 {
			text = strings.TrimSuffix(text, "\n")
		}
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		BlockSize = 1 + rng.IntN(80)
		p := OpenPieces("x", f, int64(len(text)), '"')
		got := make([][]string, p.Count())
		for _, i := range rng.Perm(p.Count()) {
			buf := make([]byte, 0, rng.IntN(100))
			block, _, err := p.Read(i, buf, func(int) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if block.First != (i == 0) {
				t.Errorf("seed %d: piece %d: First is %v", seed, i, block.First)
			}
			for rest, line := block.Text, block.Line; len(rest) > 0; {
				end := recordEnd(rest, '"', 0)
				if end < 0 {
					end = len(rest)
				}
				got[i] = append(got[i], fmt.Sprint(line, ":", strings.TrimRight(string(rest[:end]), "\r\n")))
				line += strings.Count(string(rest[:end]), "\n")
				rest = rest[end:]
			}
		}
		if all := slices.Concat(got...); !slices.Equal(all, want) {
			t.Fatalf("seed %d, pieces of %d:\n got %q\nwant %q", seed, BlockSize, all, want)
		}
		var blocks []string
		err = Each(context.Background(), '"', []Source{{Name: "x", Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}}, func(b *Block) (string, error) { return string(b.Text), nil },
			func(s string) error { blocks = append(blocks, s); return nil })
		if err != nil || strings.Join(blocks, "") != strings.TrimPrefix(text, "\xef\xbb\xbf") {
			t.Fatalf("seed %d: Each gives %q, %v", seed, blocks, err)
		}
	}
}
