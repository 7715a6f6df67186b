package radish_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"

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
