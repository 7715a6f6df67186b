package tpch

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/types"
)

// Answer is the published answer of a query.
type Answer struct {
	Query   Query
	Columns []string
	Rows    [][]string // as text; NULL is the empty string
}

// LoadAnswer reads the answer of q from the file qNN.csv of a directory: a line of column names, then rows, with
// values separated by '|' and not quoted.
func LoadAnswer(dir string, q Query) (*Answer, error) {
	path := filepath.Join(dir, fmt.Sprintf("q%02d.csv", q.Number))
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("tpch: answer of Q%d: %w", q.Number, err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	if !lines.Scan() {
		return nil, fmt.Errorf("tpch: answer of Q%d: %s has no line of column names: %w", q.Number, path, lines.Err())
	}
	a := &Answer{Query: q, Columns: strings.Split(lines.Text(), "|")}
	for lines.Scan() {
		row := strings.Split(lines.Text(), "|")
		if len(row) != len(a.Columns) {
			return nil, fmt.Errorf("tpch: answer of Q%d: %s:%d has %d values, want %d",
				q.Number, path, len(a.Rows)+2, len(row), len(a.Columns))
		}
		a.Rows = append(a.Rows, row)
	}
	return a, lines.Err()
}

// Compare compares the rows of a result with the answer. Integers, decimals, text and dates must be equal; a DOUBLE
// may be off by 1e-9 of its value. Where the answer holds an average or a ratio as a DOUBLE, a DECIMAL must be that
// value rounded to the DECIMAL's scale.
//
// Rows must come in the answer's order, but rows that are equal in all columns of ORDER BY may change places among
// themselves: reordered counts those that did.
func (a *Answer) Compare(got [][]types.Value) (reordered int, err error) {
	if len(got) != len(a.Rows) {
		return 0, fmt.Errorf("tpch: Q%d: %d rows, want %d", a.Query.Number, len(got), len(a.Rows))
	}
	for first := 0; first < len(got); {
		end := first + 1
		for end < len(got) && a.tied(first, end) {
			end++
		}
		n, err := a.compareTied(got, first, end)
		if err != nil {
			return 0, err
		}
		reordered += n
		first = end
	}
	return reordered, nil
}

// tied says whether ORDER BY leaves the order of two of the answer's rows open.
func (a *Answer) tied(i, j int) bool {
	for _, c := range a.Query.SortColumns {
		if a.Rows[i][c] != a.Rows[j][c] {
			return false
		}
	}
	return true
}

// compareTied compares rows from first to end, which the answer may hold in another order. Each row takes the first
// equal one that no other has taken.
func (a *Answer) compareTied(got [][]types.Value, first, end int) (reordered int, err error) {
	left := make([]int, 0, end-first)
	for i := first; i < end; i++ {
		left = append(left, i)
	}
	for i := first; i < end; i++ {
		at := slices.IndexFunc(left, func(j int) bool { return a.compareRow(got[i], i, j) == nil })
		if at < 0 {
			err := a.compareRow(got[i], i, i)
			if err == nil {
				err = fmt.Errorf("tpch: Q%d row %d: comes more often than in the answer", a.Query.Number, i+1)
			}
			return 0, err
		}
		if left[at] != i {
			reordered++
		}
		left = slices.Delete(left, at, at+1)
	}
	return reordered, nil
}

// compareRow compares row i of a result with row j of the answer.
func (a *Answer) compareRow(got []types.Value, i, j int) error {
	if len(got) != len(a.Columns) {
		return fmt.Errorf("tpch: Q%d row %d: %d columns, want %d", a.Query.Number, i+1, len(got), len(a.Columns))
	}
	for c, v := range got {
		if want := a.Rows[j][c]; !equalsText(v, want, slices.Contains(a.Query.approximate, c)) {
			return fmt.Errorf("tpch: Q%d row %d, column %d (%s): %s %s, want %q",
				a.Query.Number, i+1, c+1, a.Columns[c], v.Type, v.Text(), want)
		}
	}
	return nil
}

// equalsText compares a value with an answer's text. approximate says that the text is of a DOUBLE.
func equalsText(v types.Value, want string, approximate bool) bool {
	if v.Null {
		return want == ""
	}
	if !v.Type.IsNumeric() {
		return v.Text() == want
	}
	got, ok := new(big.Rat).SetString(v.Text())
	if !ok {
		return false
	}
	exact, ok := new(big.Rat).SetString(want)
	if !ok {
		return false
	}
	off := new(big.Rat).Sub(got, exact)
	off.Abs(off)
	size := new(big.Rat).Abs(exact)
	switch {
	case v.Type.IsFloat():
		return off.Cmp(size.Mul(size, big.NewRat(1, 1e9))) <= 0
	case approximate:
		// Half a unit of the last place, and what the DOUBLE may itself be off by, some units in its 53rd bit.
		half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Type.Scale)), nil))
		half.Mul(half, big.NewRat(1, 2))
		return off.Cmp(half.Add(half, size.Mul(size, big.NewRat(1, 1<<50)))) <= 0
	default:
		return off.Sign() == 0
	}
}

// Digest is a short text that two results of a query share if they hold the same rows, in an order that ORDER BY
// allows. It has a hash of the sorted columns in order, and a sum over the hashes of whole rows. Numbers count by their
// value, whatever their type, DOUBLEs with nine digits.
func (q Query) Digest(rows [][]types.Value) string {
	order := fnv.New64a()
	var sum uint64
	var text []byte
	for _, row := range rows {
		text = text[:0]
		for _, v := range row {
			text = appendCanonical(text, v)
		}
		h := fnv.New64a()
		h.Write(text)
		sum += h.Sum64()
		text = text[:0]
		for _, c := range q.SortColumns {
			text = appendCanonical(text, row[c])
		}
		order.Write(text)
	}
	return fmt.Sprintf("%d-%016x-%016x", len(rows), order.Sum64(), sum)
}

// appendCanonical appends a value and a byte that no value contains.
func appendCanonical(b []byte, v types.Value) []byte {
	const end = 0
	switch {
	case v.Null:
		b = append(b, "NULL"...)
	case v.Type.IsFloat():
		b = fmt.Appendf(b, "%.9g", v.F)
	case v.Type.Kind == types.KindDecimal && v.Type.Scale > 0:
		text := strings.TrimRight(v.Text(), "0")
		b = append(b, strings.TrimSuffix(text, ".")...)
	default:
		b = append(b, v.Text()...)
	}
	return append(b, end)
}
