package tpcds

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/planner/physical"
)

// misestimate is an operator whose rows differ from the planner's estimate.
type misestimate struct {
	query            string
	pipeline         int
	operator, detail string
	estimated, rows  float64
	error            float64 // the greater count divided by the lesser, of at least one row each (q-error: Moerkotte and others 2009)
}

// estimateDetail is the width of the detail that a line shows.
const estimateDetail = 150

// writeEstimates runs the queries by EXPLAIN ANALYZE, and writes the operators whose estimates are furthest from the rows that they gave, and how the errors are distributed.
func writeEstimates(ctx context.Context, out io.Writer, db *database.DB, queries []tpcdsQuery, most int) error {
	var all []misestimate
	for _, q := range queries {
		rows, _, err := db.Query(ctx, "EXPLAIN ANALYZE FORMAT = json "+q.text)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		found, err := misestimates(q.name, rows[0][0].S)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return fmt.Errorf("no operator has an estimate and a count of rows")
	}
	slices.SortStableFunc(all, func(a, b misestimate) int { return cmp.Compare(b.error, a.error) })
	logs := 0.0
	for _, x := range all {
		logs += math.Log(x.error)
	}
	share := func(part float64) float64 { return all[int(float64(len(all)-1)*(1-part))].error }
	fmt.Fprintf(out, "estimates of %d operators: geometric mean of errors %.2f; median %.1f, 90%% within %.0f, 99%% within %.0f\n\n",
		len(all), math.Exp(logs/float64(len(all))), share(0.5), share(0.9), share(0.99))
	for _, x := range all[:min(most, len(all))] {
		detail := x.detail
		if len(detail) > estimateDetail {
			detail = detail[:estimateDetail] + "..."
		}
		fmt.Fprintf(out, "%8.0f times  %-4s pipeline %-3d estimated %.0f, there are %.0f: %s %s\n", x.error, x.query, x.pipeline, x.estimated, x.rows, x.operator, detail)
	}
	return nil
}

// unfiltered is the first operator of a pipeline whose rows runtime filters do not change: the last probe of a build from which the scan has one, or the scan.
func unfiltered(p *physical.PipelineText) (first int) {
	scan := p.Operators[0].Detail
	for i, op := range p.Operators {
		with, _, ok := strings.Cut(strings.TrimPrefix(op.Detail, "with "), " ")
		if ok && strings.HasSuffix(op.Name, "join") && strings.Contains(scan, "runtime filter from "+with+" ") {
			first = i
		}
	}
	return first
}

// misestimates reads what EXPLAIN ANALYZE FORMAT = json printed. Left out is what runtime filters shorten, of which estimates know nothing, and pipelines that a LIMIT ends.
func misestimates(query, text string) ([]misestimate, error) {
	var plan struct{ Pipelines []physical.PipelineText }
	if err := json.Unmarshal([]byte(text), &plan); err != nil {
		return nil, err
	}
	var out []misestimate
	for i := range plan.Pipelines {
		p := &plan.Pipelines[i]
		if slices.ContainsFunc(p.Operators, func(op physical.Operator) bool { return op.Name == "limit" }) {
			continue
		}
		for _, op := range p.Operators[unfiltered(p):] {
			if op.EstRows <= 0 || op.Actual == nil {
				continue
			}
			counted := op.Actual.Rows
			if strings.HasSuffix(op.Name, "aggregate") {
				counted = op.Actual.Groups
			}
			if counted == nil {
				continue
			}
			x := misestimate{query: query, pipeline: p.ID, operator: op.Name, detail: op.Detail, estimated: op.EstRows, rows: float64(*counted)}
			a, b := max(x.estimated, 1), max(x.rows, 1)
			x.error = max(a/b, b/a)
			out = append(out, x)
		}
	}
	return out, nil
}
