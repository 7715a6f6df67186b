package fuzz

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Engine is a database, private and at first empty, reached by a connection for each session.
type Engine struct {
	db    *sql.DB
	conns []*sql.Conn
	setup []string
	// Rewrite, if set, changes every statement on its way: a planted bug.
	Rewrite func(string) string
	// Judge asks for the texts that stand for what MariaDB lacks.
	Judge bool
}

// NewEngine takes over db. Setup statements run first in every session.
func NewEngine(ctx context.Context, db *sql.DB, setup ...string) (*Engine, error) {
	e := &Engine{db: db, setup: setup}
	if _, err := e.session(ctx, 0); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// session is the connection of a session, which begins when it is first used.
func (e *Engine) session(ctx context.Context, number int) (*sql.Conn, error) {
	for len(e.conns) <= number {
		conn, err := e.db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		e.conns = append(e.conns, conn)
		for _, s := range e.setup {
			if _, err := conn.ExecContext(ctx, s); err != nil {
				return nil, err
			}
		}
	}
	return e.conns[number], nil
}

// Close closes the connections and the database.
func (e *Engine) Close() {
	for _, c := range e.conns {
		c.Close()
	}
	e.db.Close()
}

// text is the statement as the engine is given it.
func (e *Engine) text(n *Node) string { return e.rewritten(n.text(e.Judge)) }

func (e *Engine) rewritten(text string) string {
	if e.Rewrite != nil {
		return e.Rewrite(text)
	}
	return text
}

// Exec runs a statement in the first session.
func (e *Engine) Exec(ctx context.Context, text string) error {
	_, err := e.exec(ctx, 0, e.rewritten(text))
	return err
}

// exec runs a statement and says how many rows it has changed.
func (e *Engine) exec(ctx context.Context, session int, text string) (int64, error) {
	conn, err := e.session(ctx, session)
	if err != nil {
		return 0, err
	}
	res, err := conn.ExecContext(ctx, text)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// class is how the values of a result column are compared.
type class uint8

const (
	exact    class = iota // integers and decimals: by value
	approx                // doubles: 1e-9 relative
	text                  // bytes
	temporal              // the textual form
	untyped               // as the other side says: SQLite's expressions
)

func (c class) String() string {
	return [...]string{"exact number", "double", "string", "date or time", "value"}[c]
}

func classOf(name string) class {
	name = strings.TrimPrefix(strings.ToUpper(name), "UNSIGNED ")
	name, _, _ = strings.Cut(name, "(")
	switch name {
	case "":
		return untyped
	case "BOOL", "BOOLEAN", "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT", "DECIMAL", "YEAR",
		"TINYINT UNSIGNED", "SMALLINT UNSIGNED", "INT UNSIGNED", "BIGINT UNSIGNED",
		"HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT":
		return exact
	case "DOUBLE", "FLOAT":
		return approx
	case "DATE", "DATETIME", "TIMESTAMP", "TIME":
		return temporal
	}
	return text
}

// value is one value of a result.
type value struct {
	null bool
	s    string  // canonical text
	f    float64 // of a double
}

// Result is what a query answered.
type Result struct {
	names   []string
	classes []class
	types   []string
	rows    [][]value
}

// letters are the result's column types as sqllogictest writes them.
func (r *Result) letters() string {
	letters := ""
	for _, c := range r.classes {
		letters += map[class]string{exact: "T", approx: "R", text: "T", temporal: "T"}[c]
	}
	return letters
}

// Query runs a query in the first session and reads all of it.
func (e *Engine) Query(ctx context.Context, text string) (*Result, error) {
	return e.query(ctx, 0, e.rewritten(text))
}

func (e *Engine) query(ctx context.Context, session int, text string) (*Result, error) {
	conn, err := e.session(ctx, session)
	if err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	kinds, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	res := &Result{}
	for _, k := range kinds {
		res.names = append(res.names, k.Name())
		res.types = append(res.types, k.DatabaseTypeName())
		res.classes = append(res.classes, classOf(k.DatabaseTypeName()))
	}
	raw := make([]any, len(kinds))
	to := make([]any, len(kinds))
	for i := range raw {
		to[i] = &raw[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		row := make([]value, len(raw))
		for i, v := range raw {
			if row[i], err = canonical(v, res.classes[i], res.types[i]); err != nil {
				return nil, err
			}
		}
		res.rows = append(res.rows, row)
	}
	return res, rows.Err()
}

func canonical(v any, c class, kind string) (value, error) {
	var s string
	switch v := v.(type) {
	case nil:
		return value{null: true}, nil
	case int64:
		s = strconv.FormatInt(v, 10)
	case uint64:
		s = strconv.FormatUint(v, 10)
	case bool:
		s = "0"
		if v {
			s = "1"
		}
	case float64:
		s = strconv.FormatFloat(v, 'g', -1, 64)
	case float32:
		s = strconv.FormatFloat(float64(v), 'g', -1, 64)
	case time.Time:
		layout := "2006-01-02 15:04:05.999999"
		if kind == "DATE" {
			layout = time.DateOnly
		}
		s = v.Format(layout)
	case []byte:
		s = string(v)
	case string:
		s = v
	default:
		s = fmt.Sprint(v)
	}
	switch c {
	case untyped:
		f, _ := strconv.ParseFloat(s, 64)
		return value{s: s, f: f}, nil
	case approx:
		f, err := strconv.ParseFloat(s, 64)
		if kind == "FLOAT" {
			f = sixDigits(f)
		}
		return value{s: s, f: f}, err
	case exact:
		return value{s: plain(s)}, nil
	}
	return value{s: s}, nil
}

// sixDigits are those that MariaDB shows of a FLOAT.
func sixDigits(f float64) float64 {
	f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', 6, 64), 64)
	return f
}

// plain writes a decimal number without zeros that carry no value: "-0.50" is "-0.5", "3.000" is "3".
func plain(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" || s == "" || s == "-" {
		return "0"
	}
	return s
}

// String shows a result as a table of tab-separated values, at most 25 rows of it.
func (r *Result) String() string {
	var b strings.Builder
	for i, n := range r.names {
		if i > 0 {
			b.WriteByte('\t')
		}
		fmt.Fprintf(&b, "%s:%s", n, r.types[i])
	}
	b.WriteByte('\n')
	for i, row := range r.rows {
		if i == 25 {
			fmt.Fprintf(&b, "... %d rows in all\n", len(r.rows))
			break
		}
		for j, v := range row {
			if j > 0 {
				b.WriteByte('\t')
			}
			switch {
			case v.null:
				b.WriteString("NULL")
			case r.classes[j] == text:
				fmt.Fprintf(&b, "%q", v.s)
			default:
				b.WriteString(v.s)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// only returns the result with those rows that other has not, in sorted order.
func (r *Result) only(other *Result) *Result {
	a, b := sorted(r.rows, r.classes), sorted(other.rows, r.classes)
	left := &Result{names: r.names, classes: r.classes, types: r.types}
	i, j := 0, 0
	for i < len(a) {
		by := -1
		if j < len(b) {
			by = compareRows(a[i], b[j], sortOrder(r.classes), r.classes)
		}
		switch {
		case by < 0:
			left.rows = append(left.rows, a[i])
			i++
		case by > 0:
			j++
		default:
			i, j = i+1, j+1
		}
	}
	return left
}

// differ compares the oracle's result with the engine's, as multisets, and along order, if the query has one, as
// sequences of the sort's columns. It returns what differs, or nothing.
func differ(want, got *Result, order []int) string {
	if len(want.types) != len(got.types) {
		return fmt.Sprintf("%d columns, not %d", len(got.types), len(want.types))
	}
	if len(want.rows) != len(got.rows) {
		return fmt.Sprintf("%d rows, not %d", len(got.rows), len(want.rows))
	}
	// MariaDB's MAX(IF(TRUE, f, f)) of a FLOAT is a DOUBLE.
	for i, t := range want.types {
		if want.classes[i] == approx && got.classes[i] == approx && (t == "FLOAT") != (got.types[i] == "FLOAT") {
			for _, row := range slices.Concat(want.rows, got.rows) {
				row[i].f = sixDigits(row[i].f)
			}
		}
	}
	// Numbers are compared as numbers even where the engines chose differing types.
	classes := slices.Clone(want.classes)
	for i, c := range got.classes {
		if classes[i] == untyped {
			classes[i] = c
		}
		if c == classes[i] || want.onlyNull(i) && got.onlyNull(i) {
			continue
		}
		if c == approx && classes[i] == exact || c == exact && classes[i] == approx {
			return fmt.Sprintf("column %d is %s, not %s", i+1, got.types[i], want.types[i])
		}
		if c == text || classes[i] == text {
			return fmt.Sprintf("column %d is %s, not %s", i+1, got.types[i], want.types[i])
		}
	}
	for i := range want.rows {
		for _, p := range order {
			c := max(p, -p) - 1
			if !same(want.rows[i][c], got.rows[i][c], classes[c]) {
				return fmt.Sprintf("row %d is out of order", i+1)
			}
		}
	}
	a, b := sorted(want.rows, classes), sorted(got.rows, classes)
	for i := range a {
		for c := range classes {
			if !same(a[i][c], b[i][c], classes[c]) {
				return "other rows"
			}
		}
	}
	return ""
}

func (r *Result) onlyNull(column int) bool {
	return !slices.ContainsFunc(r.rows, func(row []value) bool { return !row[column].null })
}

func same(a, b value, c class) bool {
	if a.null || b.null {
		return a.null == b.null
	}
	if c == approx {
		if x, y := a.f-a.f, b.f-b.f; x != 0 || y != 0 { // NaN or infinite
			return a.f == b.f || a.f != a.f && b.f != b.f
		}
		return a.f == b.f || math.Abs(a.f-b.f) <= 1e-9*max(math.Abs(a.f), math.Abs(b.f)) || math.Abs(a.f-b.f) < 1e-12
	}
	return a.s == b.s
}

// sortOrder is the order in which columns decide: doubles come last, so that a difference in their last bits cannot
// part rows that are equal otherwise.
func sortOrder(classes []class) []int {
	var order []int
	for _, last := range []bool{false, true} {
		for i, c := range classes {
			if (c == approx) == last {
				order = append(order, i)
			}
		}
	}
	return order
}

// sorted orders rows for a comparison of multisets.
func sorted(rows [][]value, classes []class) [][]value {
	order := sortOrder(classes)
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b []value) int { return compareRows(a, b, order, classes) })
	return rows
}

func compareRows(a, b []value, order []int, classes []class) int {
	for _, i := range order {
		if a[i].null || b[i].null {
			if a[i].null != b[i].null {
				if a[i].null {
					return -1
				}
				return 1
			}
			continue
		}
		by := cmp.Compare(a[i].s, b[i].s)
		if classes[i] == approx {
			by = cmp.Compare(rounded(a[i].f), rounded(b[i].f))
		}
		if by != 0 {
			return by
		}
	}
	return 0
}

// rounded leaves out the last 20 bits, so that sums in another order sort alike.
func rounded(f float64) float64 {
	return math.Float64frombits((math.Float64bits(f) + 1<<19) &^ (1<<20 - 1))
}
