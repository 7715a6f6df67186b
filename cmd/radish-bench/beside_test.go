package main

import (
	"context"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/types"
)

func TestJoinCommand(t *testing.T) {
	var out strings.Builder
	if err := runJoin(context.Background(), []string{"--device", "cpu", "--least", "8", "--most", "10", "--step", "2", "--runs", "1"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if got, want := strings.Count(out.String(), "not compared"), 4*len(joinKinds); got != want {
		t.Errorf("%d statements, want %d\n%s", got, want, out.String())
	}
}

func TestJoinTotals(t *testing.T) {
	ctx := context.Background()
	db, err := openDatabase(settings{device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	b := &beside{runs: 1, db: db}
	defer b.close()
	for _, kind := range joinKinds {
		d := newJoinData(&kind, 64)
		cases := d.cases(6)
		d.total(cases)
		// Every pair of rows, by the keys' values.
		var want [4]int64
		for r := range d.rows {
			for s := range d.rows {
				equal := true
				for c := range d.r.columns[:len(d.r.columns)-1] {
					x, y := &d.r.columns[c], &d.s.columns[c]
					a, b := x.draw(r), y.draw(s)
					equal = equal && (a == b || x.text != nil && string(x.text(nil, a)) == string(y.text(nil, b)))
				}
				if equal {
					p, q := d.p(r), d.q(s)
					want = [4]int64{want[0] + 1, want[1] + p, want[2] + q, want[3] + p*q}
				}
			}
		}
		for i, n := range cases[0].want {
			if n != want[i] {
				t.Errorf("%s: total %d is %d, want %d", kind.name, i, n, want[i])
			}
		}
		if err := b.load(ctx, []*drawnTable{d.r, d.s}, false); err != nil {
			t.Fatal(err)
		}
		cases[0].want = append([]int64{want[0] + 1}, cases[0].want[1:]...)
		if r := (besideResult{besideCase: cases[0]}); b.compare(ctx, &r) == nil {
			t.Errorf("%s: a wrong total passes", kind.name)
		}
	}
}

func TestShapesCommand(t *testing.T) {
	var out strings.Builder
	if err := runShapes(context.Background(), []string{"--device", "cpu", "--rows", "20000", "--runs", "1"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if got, want := strings.Count(out.String(), "not compared"), len(shapeCases()); got != want {
		t.Errorf("%d statements, want %d\n%s", got, want, out.String())
	}
}

func TestCompareRows(t *testing.T) {
	row := func(values ...types.Value) [][]types.Value { return [][]types.Value{values} }
	for _, c := range []struct {
		ours   [][]types.Value
		theirs []string
		same   bool
	}{
		{row(types.Value{Type: types.Int64, I: 7}), []string{"7"}, true},
		{row(types.Value{Type: types.Int64, I: 7}), []string{"8"}, false},
		{row(types.Value{Type: types.Int64, I: 1_000_000_000_000}), []string{"1000000000001"}, false},
		{row(types.Value{Type: types.Double, F: 0.1}), []string{"0.10000000000001"}, true},
		{row(types.Value{Type: types.Double, F: 0.1}), []string{"0.1001"}, false},
		{row(types.Value{Type: types.Varchar(5), S: "a"}), []string{"a"}, true},
		{row(types.Value{Type: types.Varchar(5), S: "a"}), []string{"b"}, false},
		{row(types.Value{Type: types.Int64, Null: true}), []string{""}, true},
		{row(types.Value{Type: types.Int64, Null: true}), []string{"0"}, false},
	} {
		if err := agree(c.ours, [][]string{c.theirs}, closeEnough); (err == nil) != c.same {
			t.Errorf("%v and %v: %v", c.ours, c.theirs, err)
		}
	}
}
