package peers

import (
	"fmt"
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/storage/tpch"
)

// TestKeyRanges wants ranges that have each row once, and a GPU to which nothing was brought to find them.
func TestKeyRanges(t *testing.T) {
	gputest.Emulated(t)
	ctx := t.Context()
	db, err := database.Open(database.Settings{Device: "emulated"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := database.GenerateTPCH(ctx, db, 0.01, nil); err != nil {
		t.Fatal(err)
	}
	one, err := aside(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Session.Close()
	defer func(rows int64) { PartRows = rows }(PartRows)
	PartRows = 700
	before := db.FirstRuns()
	for _, table := range tpch.Tables() {
		ranges, err := keyRanges(ctx, db, table)
		if err != nil {
			t.Fatal(err)
		}
		count := func(where string) int64 {
			rows, _, err := one.Query(ctx, "SELECT COUNT(*) FROM "+table.Name+where)
			if err != nil {
				t.Fatal(err)
			}
			return rows[0][0].I
		}
		n := int64(0)
		for _, r := range ranges {
			n += count(fmt.Sprintf(" WHERE %s BETWEEN %d AND %d", table.PrimaryKey[0], r[0], r[1]))
		}
		if all := count(""); n != all {
			t.Errorf("%s: ranges %v have %d rows of %d", table.Name, ranges, n, all)
		}
	}
	if brought := db.FirstRuns().Sub(before); brought.Uploaded != 0 || brought.Compiled.Tasks != 0 {
		t.Errorf("%d bytes were uploaded and %d kernels compiled", brought.Uploaded, brought.Compiled.Tasks)
	}
}
