package radish_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/sql/sqlerr"
)

var background = context.Background()

func openDB(t *testing.T) *radish.DB {
	t.Helper()
	db, err := radish.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestArrowRoundTrip registers Arrow records, large enough to be shared and small ones, and reads them back.
func TestArrowRoundTrip(t *testing.T) {
	db := openDB(t)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 10, Scale: 2}, Nullable: true},
	}, nil)
	var records []arrow.Record
	total := 0
	for _, n := range []int{40_000, 1, 0, 3000} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range n {
			b.Field(0).(*array.Int64Builder).Append(int64(total + i))
			if i%7 == 3 {
				b.Field(1).AppendNull()
			} else {
				b.Field(1).(*array.StringBuilder).Append(fmt.Sprint("n", (total+i)%100))
			}
			if err := b.Field(2).AppendValueFromString(fmt.Sprintf("%d.25", i)); err != nil {
				t.Fatal(err)
			}
		}
		records = append(records, b.NewRecord())
		total += n
	}
	in, err := array.NewRecordReader(schema, records)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.RegisterArrow("items", in); err != nil {
		t.Fatal(err)
	}
	if err := db.RegisterArrow("items", in); !errors.Is(err, sqlerr.CodeTableExists) {
		t.Errorf("a second table of the name: %v", err)
	}
	out, err := db.QueryArrow(background, "SELECT id, name, price FROM items ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	if got := out.Schema(); !got.Field(0).Equal(arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64}) || got.Field(2).Type.ID() != arrow.DECIMAL128 {
		t.Errorf("the schema is %v", got)
	}
	row := 0
	for out.Next() {
		r := out.Record()
		for i := range int(r.NumRows()) {
			record, at := records[0], row
			for _, next := range records[1:] {
				if at < int(record.NumRows()) {
					break
				}
				at -= int(record.NumRows())
				record = next
			}
			for c := range schema.NumFields() {
				if got, want := r.Column(c).ValueStr(i), record.Column(c).ValueStr(at); got != want {
					t.Fatalf("row %d, column %d: got %s, want %s", row, c, got, want)
				}
			}
			row++
		}
	}
	if out.Err() != nil || row != total {
		t.Errorf("%d rows of %d, %v", row, total, out.Err())
	}
}

// TestQueryArrowEnds checks that a reader that is dropped early frees the connection and its memory.
func TestQueryArrowEnds(t *testing.T) {
	db := openDB(t)
	c, err := db.Conn()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(background, "CALL tpch_generate(0.01)"); err != nil {
		t.Fatal(err)
	}
	r, err := c.QueryArrow(background, "SELECT * FROM lineitem ORDER BY l_comment")
	if err != nil {
		t.Fatal(err)
	}
	if !r.Next() {
		t.Fatal(r.Err())
	}
	kept := r.Record()
	kept.Retain()
	first := kept.Column(15).ValueStr(0)
	r.Release()
	if n := db.MemoryUsed(); n != 0 {
		t.Errorf("%d bytes are still held", n)
	}
	if _, err := c.Exec(background, "DROP TABLE lineitem"); err != nil {
		t.Error(err)
	}
	if kept.Column(15).ValueStr(0) != first {
		t.Error("a retained record changed")
	}
	kept.Release()
}

func TestConnState(t *testing.T) {
	db := openDB(t)
	a, err := db.Conn()
	if err != nil {
		t.Fatal(err)
	}
	b, err := db.Conn()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Exec(background, "CREATE DATABASE other; USE other; SET @x = 1"); err != nil {
		t.Fatal(err)
	}
	if a.Database() != "other" || b.Database() != "main" {
		t.Errorf("the databases are %s and %s", a.Database(), b.Database())
	}
	rows, err := b.Query(background, "SELECT @x")
	if err != nil {
		t.Fatal(err)
	}
	if !rows.Next() || rows.Values()[0] != nil || rows.Next() {
		t.Error("a variable of one connection shows in another")
	}
	if _, err := a.Exec(background, "SELECT 1/0"); err != nil {
		t.Error(err)
	}
}

func TestClosed(t *testing.T) {
	db := openDB(t)
	c, err := db.Conn()
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	if err := db.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := c.Query(background, "SELECT 1"); err == nil {
		t.Error("a connection outlives its database")
	}
	if _, err := db.Conn(); err == nil {
		t.Error("a closed database opens connections")
	}
}

// TestArrowShared changes the memory of an Arrow record behind a table's back, which nobody may do but who wants to know whether it is shared.
func TestArrowShared(t *testing.T) {
	db := openDB(t)
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	values := make([]int64, 20_000)
	for i := range values {
		values[i] = int64(i) << 30 // which no smaller integer holds
	}
	b.Field(0).(*array.Int64Builder).AppendValues(values, nil)
	record := b.NewRecord()
	in, err := array.NewRecordReader(schema, []arrow.Record{record})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.RegisterArrow("shared", in); err != nil {
		t.Fatal(err)
	}
	record.Column(0).(*array.Int64).Int64Values()[5] = 7
	conn, err := db.Conn()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	rows, err := conn.Query(background, "SELECT n + 0 FROM shared")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []any
	for rows.Next() {
		got = append(got, rows.Values()[0])
	}
	if len(got) != len(values) || got[5] != int64(7) || got[6] != int64(6)<<30 {
		t.Errorf("%d rows, %v: the table has a copy", len(got), got[:7])
	}
}

// TestConnWarnings reads the warnings of a statement, and ends another connection's statement by its number.
func TestConnWarnings(t *testing.T) {
	db := openDB(t)
	a, err := db.Conn()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := db.Conn()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	rows, err := a.Query(background, "SELECT CAST('12x' AS SIGNED)")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
	}
	rows.Close()
	if w := a.Warnings(); len(w) != 1 || w[0].Code != 1292 {
		t.Errorf("warnings: %v", w)
	}
	if rows, err = a.Query(background, "SELECT CONNECTION_ID()"); err != nil || !rows.Next() {
		t.Fatal(err)
	}
	id := rows.Values()[0]
	rows.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := a.Exec(background, "DO SLEEP(20)")
		ended <- err
	}()
	for {
		if _, err := b.Exec(background, fmt.Sprint("KILL QUERY ", id)); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended: // SLEEP that is interrupted is no error in MySQL
			if err != nil && !errors.Is(err, sqlerr.Cancelled) {
				t.Error(err)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestStatementKinds asks statements what they are before they run.
func TestStatementKinds(t *testing.T) {
	conn, err := openDB(t).Conn()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for text, want := range map[string]string{
		"SELECT ?, 1": "false false 1 2", "EXPLAIN SELECT 1": "true false 0 0", "SHOW WARNINGS": "false true 0 0", "DO 1": "false false 0 0", "SELECT 1; SHOW WARNINGS": "false false 0 1",
	} {
		s, err := conn.Prepare(background, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(s.Explains(), s.ShowsWarnings(), s.Markers(), len(s.Columns())); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
