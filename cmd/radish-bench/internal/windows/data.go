package windows

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/parquet"
)

// windowTable is the table w that window functions are measured on, column by column. Both engines load it from one file.
//
// id ascends, k is a permutation of it; g1, g4 and g6 have 10, 10^4 and 10^6 values in no order, s has 10^4 in order.
var windowTable = []struct {
	name, sql string
	typ       types.Type
}{
	{"id", "INT NOT NULL", types.Int32},
	{"k", "INT NOT NULL", types.Int32},
	{"g1", "INT NOT NULL", types.Int32},
	{"g4", "INT NOT NULL", types.Int32},
	{"g6", "INT NOT NULL", types.Int32},
	{"s", "INT NOT NULL", types.Int32},
	{"few", "INT NOT NULL", types.Int32},
	{"d", "DATE NOT NULL", types.Date},
	{"amt", "DECIMAL(12,2) NOT NULL", types.Decimal(12, 2)},
	{"x", "DOUBLE NOT NULL", types.Double},
	{"word", "VARCHAR(20) NOT NULL", types.Varchar(20)},
	{"v", "INT NOT NULL", types.Int32},
	{"vn", "INT", types.Int32},
}

// writeWindowTable writes the table as Parquet.
func writeWindowTable(ctx context.Context, file io.Writer, rows int64) error {
	var names []string
	var cols []types.Type
	for _, c := range windowTable {
		names, cols = append(names, c.name), append(cols, c.typ)
	}
	w, err := parquet.NewWriter(file, names, cols)
	if err != nil {
		return err
	}
	permutation := rand.New(rand.NewPCG(20, 26)).Perm(int(rows))
	words := make([]string, 1000)
	for i := range words {
		words[i] = fmt.Sprintf("word-%d", drawn.SplitMix(uint64(i))%1_000_000_000)
	}
	firstDay := types.DaysFromCivil(2015, 1, 1)
	const chunk = 1 << 16
	for first := int64(0); first < rows; first += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := int(min(chunk, rows-first))
		b := &column.Batch{N: n}
		for _, t := range cols {
			b.Cols = append(b.Cols, column.New(t, n))
		}
		for i := range n {
			row := first + int64(i)
			draw := func(c int, n int64) int64 { return drawn.Below(drawn.SplitMix(uint64(row)*32+uint64(c)), n) }
			for c, v := range b.Cols {
				switch windowTable[c].name {
				case "id":
					v.I64[i] = row
				case "k":
					v.I64[i] = int64(permutation[row])
				case "g1":
					v.I64[i] = draw(c, 10)
				case "g4":
					v.I64[i] = draw(c, 10_000)
				case "g6":
					v.I64[i] = draw(c, 1_000_000)
				case "s":
					v.I64[i] = row * 10_000 / rows
				case "few":
					v.I64[i] = draw(c, 1000)
				case "d":
					v.I64[i] = firstDay + draw(c, 3653)
				case "amt":
					v.I64[i] = draw(c, 10_000_000) // up to 99,999.99
				case "x":
					v.F64[i] = float64(draw(c, 1<<53))/(1<<42) - 1024
				case "word":
					v.Str[i] = words[draw(c, int64(len(words)))]
				default:
					v.I64[i] = draw(c, 2_000_001) - 1_000_000
					if windowTable[c].name == "vn" && draw(c+16, 10) == 0 {
						v.SetNull(i, n)
					}
				}
			}
		}
		if err := w.Write(b); err != nil {
			return err
		}
	}
	return w.Close()
}
