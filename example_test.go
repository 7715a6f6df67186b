package radish_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/radish-sql/radish"
)

// The driver: importing the package registers it.
func Example() {
	db, err := sql.Open("radish", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE crops (name VARCHAR(20), kilos DECIMAL(8,2)); INSERT INTO crops VALUES ('radish', 12.5), ('carrot', 7.25), ('radish', 3)"); err != nil {
		log.Fatal(err)
	}
	rows, err := db.Query("SELECT name, SUM(kilos) FROM crops WHERE kilos > ? GROUP BY name ORDER BY name", 1)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, kilos string
		if err := rows.Scan(&name, &kilos); err != nil {
			log.Fatal(err)
		}
		fmt.Println(name, kilos)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// carrot 7.25
	// radish 15.50
}

func ExampleError() {
	db, err := radish.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec(context.Background(), "CREATE TABLE crops (kilos INT); SELECT kilo FROM crops")
	var e *radish.Error
	if errors.As(err, &e) {
		fmt.Printf("%d: %s; %s\n", e.Code, e.Message, e.Hint)
	}
	// Output: 1054: Unknown column 'kilo' in 'field list'; did you mean 'kilos'?
}

func ExampleDB_RegisterArrow() {
	db, err := radish.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2, 3, 4}, nil)
	records, err := array.NewRecordReader(schema, []arrow.Record{b.NewRecord()})
	if err != nil {
		log.Fatal(err)
	}
	if err := db.RegisterArrow("numbers", records); err != nil {
		log.Fatal(err)
	}
	result, err := db.QueryArrow(context.Background(), "SELECT n * n AS square FROM numbers WHERE n > ?", 2)
	if err != nil {
		log.Fatal(err)
	}
	defer result.Release()
	for result.Next() {
		fmt.Println(result.Record().Column(0))
	}
	// Output: [9 16]
}

func ExampleDB_RegisterFunction() {
	db, err := radish.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	err = db.RegisterFunction("initials", func(name string) string {
		var all []byte
		for _, word := range strings.Fields(name) {
			all = append(all, word[0])
		}
		return string(all)
	})
	if err != nil {
		log.Fatal(err)
	}
	printRows(db, "SELECT initials('Ada Lovelace'), initials(NULL)")
	// Output: AL NULL
}

type multiplied struct{ p float64 }

func (p *multiplied) Step(x float64) { p.p *= x }
func (p *multiplied) Done() float64  { return p.p }

func ExampleDB_RegisterAggregate() {
	db, err := radish.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := db.RegisterAggregate("product", func() *multiplied { return &multiplied{1} }); err != nil {
		log.Fatal(err)
	}
	printRows(db, "SELECT k, product(x) FROM (VALUES ROW('a', 2), ROW('a', 3), ROW('b', 5)) AS t (k, x) GROUP BY k ORDER BY k")
	// Output:
	// a 6
	// b 5
}

func ExampleDB_RegisterTableFunction() {
	db, err := radish.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	type square struct{ N, Square int64 }
	err = db.RegisterTableFunction("squares", func(n int64) []square {
		var rows []square
		for i := range n {
			rows = append(rows, square{i + 1, (i + 1) * (i + 1)})
		}
		return rows
	})
	if err != nil {
		log.Fatal(err)
	}
	printRows(db, "SELECT n, square FROM `squares(3)` WHERE square > 1")
	// Output:
	// 2 4
	// 3 9
}

func ExampleConn_NewAppender() {
	db, err := radish.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn()
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	ctx := context.Background()
	if _, err := conn.Exec(ctx, "CREATE TABLE sales (day DATE, amount DECIMAL(8,2))"); err != nil {
		log.Fatal(err)
	}
	a, err := conn.NewAppender(ctx, "sales", "day", "amount")
	if err != nil {
		log.Fatal(err)
	}
	for i := range 3 {
		if err := a.Append(fmt.Sprintf("2026-11-%d", 10+i), float64(i)+0.5); err != nil {
			log.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		log.Fatal(err)
	}
	printRows(db, "SELECT COUNT(*), SUM(amount) FROM sales")
	// Output: 3 4.50
}

func ExampleWithProfile() {
	db, err := radish.Open("?device=cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	ctx := radish.WithProfile(context.Background(), func(p radish.Profile) {
		fmt.Println(p.Wall > 0, len(p.Pipelines) > 0)
	})
	if _, err := db.Exec(ctx, "SELECT COUNT(*) FROM (SELECT 1 AS a) AS t WHERE a = 1"); err != nil {
		log.Fatal(err)
	}
	// Output: true true
}

// printRows prints the rows of a query.
func printRows(db *radish.DB, query string) {
	out := sql.OpenDB(db.Connector())
	defer out.Close()
	rows, err := out.Query(query)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		log.Fatal(err)
	}
	values, to := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		to[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			log.Fatal(err)
		}
		for i, v := range values {
			if values[i].String = v.String; !v.Valid {
				values[i].String = "NULL"
			}
			if i > 0 {
				fmt.Print(" ")
			}
			fmt.Print(values[i].String)
		}
		fmt.Println()
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
}
