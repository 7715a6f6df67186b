package join

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/beside"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

func TestJoinCommand(t *testing.T) {
	var out strings.Builder
	if err := Run(context.Background(), []string{"--device", "cpu", "--least", "8", "--most", "10", "--step", "2", "--runs", "1"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if got, want := strings.Count(out.String(), "not compared"), 4*len(joinKinds); got != want {
		t.Errorf("%d statements, want %d\n%s", got, want, out.String())
	}
}

func TestJoinTotals(t *testing.T) {
	ctx := context.Background()
	db, err := database.Open(database.Settings{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	b := &beside.Comparison{Runs: 1, DB: db}
	defer b.Close()
	for _, kind := range joinKinds {
		d := newJoinData(&kind, 64)
		cases := d.cases(6)
		d.total(cases)
		// Every pair of rows, by the keys' values.
		var want [4]int64
		for r := range d.rows {
			for s := range d.rows {
				equal := true
				for c := range d.r.Columns[:len(d.r.Columns)-1] {
					x, y := &d.r.Columns[c], &d.s.Columns[c]
					a, b := x.Draw(r), y.Draw(s)
					equal = equal && (a == b || x.Text != nil && string(x.Text(nil, a)) == string(y.Text(nil, b)))
				}
				if equal {
					p, q := d.p(r), d.q(s)
					want = [4]int64{want[0] + 1, want[1] + p, want[2] + q, want[3] + p*q}
				}
			}
		}
		for i, n := range cases[0].Want {
			if n != want[i] {
				t.Errorf("%s: total %d is %d, want %d", kind.name, i, n, want[i])
			}
		}
		if err := b.Load(ctx, []*drawn.Table{d.r, d.s}, false); err != nil {
			t.Fatal(err)
		}
		cases[0].Want = append([]int64{want[0] + 1}, cases[0].Want[1:]...)
		if r := (beside.Result{Case: cases[0]}); b.Compare(ctx, &r) == nil {
			t.Errorf("%s: a wrong total passes", kind.name)
		}
	}
}

// TestTimelines wants a timeline of a join on one GPU and on two: text, then a trace, with kernels of both and rows that move.
func TestTimelines(t *testing.T) {
	gputest.Emulated(t)
	for _, name := range []string{"timeline.txt", "timeline.json"} {
		path := filepath.Join(t.TempDir(), name)
		var out bytes.Buffer
		if err := Run(t.Context(), []string{"--large", "12", "--device", "emulated", "--devices", "2", "--runs", "1", "--cases", "unique", "--timeline", path}, &out); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"unique on 1 GPUs", "unique on 2 GPUs", "gpu0.0", "gpu0.1", "pipeline 0", "move_rows", "device"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, text)
			}
		}
		var events []database.TraceEvent
		if isTrace := strings.HasSuffix(name, ".json"); isTrace && json.Unmarshal(text, &events) != nil {
			t.Errorf("no trace:\n%s", text)
		}
	}
}
