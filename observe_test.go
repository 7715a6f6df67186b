package radish_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish"
)

// TestProfile checks a query's profile against rows that can be counted otherwise.
func TestProfile(t *testing.T) {
	db := open(t, "")
	exec(t, db, "CALL tpch_generate(0.01)")
	var got []radish.Profile
	ctx := radish.WithProfile(context.Background(), func(p radish.Profile) { got = append(got, p) })
	var sum, lines int64
	if err := db.QueryRow("SELECT COUNT(*) FROM lineitem").Scan(&lines); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM lineitem JOIN orders ON l_orderkey = o_orderkey WHERE o_comment LIKE '%a%'").Scan(&sum); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 {
		t.Fatalf("%d profiles", len(got))
	}
	p := got[0]
	if p.Wall <= 0 || p.Wall > time.Minute || len(p.Pipelines) < 2 {
		t.Errorf("profile: %+v", p)
	}
	seen := map[string]int64{}
	for _, pl := range p.Pipelines {
		if pl.Device != "cpu" || pl.Workers < 1 || len(pl.Operators) < 2 {
			t.Errorf("pipeline: %+v", pl)
		}
		for _, o := range pl.Operators {
			seen[o.Name] = o.RowsIn
		}
	}
	if seen["scan lineitem"] != lines || seen["scan orders"] != 15000 || seen["aggregate"] != sum {
		t.Errorf("rows in: %v; %d lines, %d joined", seen, lines, sum)
	}
	// Statements without the context are not told of.
	exec(t, db, "DO 1")
	if len(got) != 1 {
		t.Errorf("%d profiles", len(got))
	}
}

// TestProgress watches a long query until it has been told of often enough.
func TestProgress(t *testing.T) {
	db := open(t, "?threads=2")
	exec(t, db, "CALL tpch_generate(0.01)")
	var calls int
	var last radish.Progress
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ctx = radish.WithProgress(ctx, 10*time.Millisecond, func(p radish.Progress) {
		if p.Rows < last.Rows || p.Fraction < last.Fraction || p.Fraction > 1 || p.Done > p.Pipelines || p.Device != "cpu" {
			t.Errorf("%+v comes after %+v", p, last)
		}
		if calls, last = calls+1, p; calls >= 10 && p.Rows > 0 && p.Pipelines > 1 {
			cancel()
		}
	})
	err := db.QueryRowContext(ctx, slowQuery).Scan(new(int))
	if err == nil || !strings.Contains(err.Error(), "interrupted") && ctx.Err() == nil {
		t.Fatalf("the query ended: %v", err)
	}
	if calls < 3 || last.Rows == 0 || last.Pipelines < 2 {
		t.Errorf("%d calls, the last with %+v", calls, last)
	}
	n := calls
	time.Sleep(50 * time.Millisecond)
	if calls != n {
		t.Error("progress is reported after the query's end")
	}
}
