package physical

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

// Note is what EXPLAIN ANALYZE knows of an operator after a run. Operators are named by their position in a pipeline: 0
// is the source, then the transforms, then the sink.
type Note struct {
	Rows   *int64  `json:"rows,omitempty"`      // that came out, of a sink those that went in; nil: not counted
	Read   *int64  `json:"rows_read,omitempty"` // that a source read, where it was not counted how many came out
	Groups *int64  `json:"groups,omitempty"`    // of an aggregation
	Millis float64 `json:"ms"`
	Bytes  int64   `json:"bytes,omitempty"`
	Memory int64   `json:"memory,omitempty"`
	Text   string  `json:"text,omitempty"` // what the executor chose; of a whole pipeline all in words
	// Of a whole pipeline that ran on a GPU:
	Kernel   float64 `json:"kernel_ms,omitempty"`
	Fill     float64 `json:"fill_ms,omitempty"`         // before the kernel, to give its sink's memory its first state
	Share    float64 `json:"bandwidth_share,omitempty"` // of the speed at which the device reads its memory
	Compile  float64 `json:"compile_ms,omitempty"`
	Uploaded int64   `json:"uploaded,omitempty"`
	Windows  int     `json:"windows,omitempty"`
	// Of one that ran on several GPUs: each of them, and how its rows were moved afterwards.
	Devices  []DeviceNote  `json:"devices,omitempty"`
	Exchange *ExchangeNote `json:"exchange,omitempty"`
}

// DeviceNote is what a pipeline cost on one of several GPUs.
type DeviceNote struct {
	Device string  `json:"device"`
	Rows   *int64  `json:"rows,omitempty"` // into the sink; nil: not counted
	Kernel float64 `json:"kernel_ms"`
	Idle   float64 `json:"idle_ms"` // until the slowest one was done
	Bytes  int64   `json:"bytes,omitempty"`
	In     int64   `json:"bytes_in,omitempty"` // that came from other GPUs afterwards
	Out    int64   `json:"bytes_out,omitempty"`
}

// ExchangeNote is what moving rows between GPUs cost.
type ExchangeNote struct {
	Kind   string  `json:"exchange"`
	Link   string  `json:"link"`
	Rows   int64   `json:"rows"`
	Millis float64 `json:"ms"`
	Rate   float64 `json:"gb_per_second"`        // that went out of the GPU that sent most, or came into the one that got most
	Share  float64 `json:"link_share,omitempty"` // of the rate at which one copies from another
}

// WholePipeline asks Notes for what a pipeline cost as a whole, where it has no operators to be told apart.
const WholePipeline = -1

// Notes finds the note of an operator; nil in EXPLAIN without ANALYZE.
type Notes func(p *Pipeline, op int) (Note, bool)

// Operator is one line of EXPLAIN.
type Operator struct {
	Name    string        `json:"operator"`
	Detail  string        `json:"detail,omitempty"`
	EstRows float64       `json:"estimated_rows,omitempty"`
	Moves   *ExchangeText `json:"moves,omitempty"`
	Actual  *Note         `json:"actual,omitempty"`
}

// PipelineText is one pipeline of EXPLAIN.
type PipelineText struct {
	ID        int         `json:"pipeline"`
	Device    string      `json:"device"`
	Reason    string      `json:"reason"`
	Places    *SpreadText `json:"places,omitempty"`
	After     []int       `json:"after,omitempty"`
	Actual    *Note       `json:"actual,omitempty"`
	Operators []Operator  `json:"operators"`
}

// explain describes a plan operator by operator and gives each pipeline to write. interrupted, which may be nil, is asked before each:
// what a pipeline reads may be as wide as the pipelines are many.
func explain(plan *Plan, where Placement, notes Notes, interrupted func() error, write func(PipelineText) error) error {
	names := sinkNames{}
	all := plan.All()
	for _, p := range all {
		names.add(p)
	}
	for _, p := range all {
		if err := poll(interrupted); err != nil {
			return err
		}
		on := where.Of(p)
		t := PipelineText{ID: p.ID, Device: on.Device.String(), Reason: on.Reason}
		if x, ok := where.Spread[p]; ok {
			t.Places = &x
		}
		for _, d := range p.Deps {
			t.After = append(t.After, d.ID)
		}
		ops := []Operator{names.source(p.Source)}
		for _, tr := range p.Transforms {
			ops = append(ops, names.transform(tr, on.Device, where))
		}
		ops = append(ops, names.sink(p, on.Device, where))
		if x, ok := where.Exchanges[p.Sink]; ok {
			ops[len(ops)-1].Moves = &x
		}
		if notes != nil {
			if n, ok := notes(p, WholePipeline); ok {
				t.Actual = &n
			}
			for j := range ops {
				if n, ok := notes(p, j); ok {
					ops[j].Actual = &n
				}
			}
		}
		t.Operators = ops
		if err := write(t); err != nil {
			return err
		}
	}
	return nil
}

// Text prints a plan as EXPLAIN shows it: a heading for each pipeline and a line for each operator. interrupted ends it with its error;
// it may be nil.
func Text(plan *Plan, where Placement, notes Notes, interrupted func() error) (string, error) {
	var b strings.Builder
	err := explain(plan, where, notes, interrupted, func(p PipelineText) error {
		fmt.Fprintf(&b, "pipeline %d on %s: %s", p.ID, p.Device, p.Reason)
		if p.Places != nil {
			fmt.Fprintf(&b, "; %s, %s", p.Places.Name, p.Places.Reason)
		}
		if len(p.After) > 0 {
			fmt.Fprintf(&b, "; after %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(p.After), " ", ", "), "[]"))
		}
		b.WriteByte('\n')
		if p.Actual != nil {
			b.WriteString("  " + p.Actual.Text + "\n")
		}
		for _, op := range p.Operators {
			b.WriteString("  " + op.Name)
			if op.Detail != "" {
				b.WriteString(" " + op.Detail)
			}
			if x := op.Moves; x != nil {
				b.WriteString(", then " + x.Name)
				if len(x.Keys) > 0 {
					b.WriteString(" by " + strings.Join(x.Keys, ", "))
				}
				b.WriteString(": " + x.Reason)
			}
			if op.EstRows > 0 {
				fmt.Fprintf(&b, " (~%s rows)", compact(op.EstRows))
			}
			if n := op.Actual; n != nil {
				b.WriteString(" [")
				for _, of := range []struct {
					count *int64
					what  string
				}{{n.Rows, "rows"}, {n.Read, "rows read"}, {n.Groups, "groups"}} {
					if of.count != nil {
						fmt.Fprintf(&b, "%d %s, ", *of.count, of.what)
					}
				}
				fmt.Fprintf(&b, "%.3f ms", n.Millis)
				if n.Bytes > 0 {
					fmt.Fprintf(&b, ", %s read", bytesText(n.Bytes))
				}
				if n.Memory > 0 {
					fmt.Fprintf(&b, ", %s held", bytesText(n.Memory))
				}
				if n.Text != "" {
					b.WriteString(", " + n.Text)
				}
				b.WriteByte(']')
			}
			b.WriteByte('\n')
		}
		return nil
	})
	if where.Alone != "" {
		fmt.Fprintf(&b, "one device of several runs the plan: %s\n", where.Alone)
	}
	if where.Shared != "" {
		fmt.Fprintf(&b, "several devices share the plan: %s\n", where.Shared)
	}
	return b.String(), err
}

// JSON prints a plan as EXPLAIN FORMAT=JSON shows it. interrupted is as for Text.
func JSON(plan *Plan, where Placement, notes Notes, interrupted func() error) (string, error) {
	var b strings.Builder
	b.WriteString("{\n  \"pipelines\": [")
	between := "\n    "
	err := explain(plan, where, notes, interrupted, func(p PipelineText) error {
		text, err := json.MarshalIndent(p, "    ", "  ")
		b.WriteString(between + string(text))
		between = ",\n    "
		return err
	})
	b.WriteString("\n  ]")
	if where.Alone != "" {
		alone, _ := json.Marshal(where.Alone)
		fmt.Fprintf(&b, ",\n  \"one_device\": %s", alone)
	}
	if where.Shared != "" {
		shared, _ := json.Marshal(where.Shared)
		fmt.Fprintf(&b, ",\n  \"several_devices\": %s", shared)
	}
	b.WriteString("\n}")
	return b.String(), err
}

// sinkNames gives sinks the numbers of the pipelines that fill them.
type sinkNames map[Sink]int

func (s sinkNames) add(p *Pipeline) {
	if _, ok := s[p.Sink]; !ok {
		s[p.Sink] = p.ID
		if r, ok := p.Sink.(*Recursion); ok {
			s[r.Work] = p.ID
		}
	}
}

func (s sinkNames) source(src Source) Operator {
	switch x := src.(type) {
	case *TableScan:
		d := x.Table.Schema.Name
		if db := x.Table.Schema.Database; db != "" { // a file has none
			d = db + "." + d
		}
		if !strings.EqualFold(x.Alias, x.Table.Schema.Name) {
			d += " AS " + x.Alias
		}
		d += " " + names(x.Cols)
		if len(x.Filters) > 0 {
			d += " where " + exprList(x.Filters, " AND ")
		}
		for _, f := range x.RuntimeFilters {
			d += fmt.Sprintf(", runtime filter from %d on %s", s[f.Build], columnName(x.Cols, f.Col))
		}
		return Operator{Name: "scan", Detail: d, EstRows: x.EstRows}
	case *SinkScan:
		what := "result"
		if _, ok := x.From.(*WorkTable); ok {
			what = "last round"
		}
		return Operator{Name: "read", Detail: fmt.Sprintf("%s of %d %s", what, s[x.From], names(x.Cols))}
	case *UnmatchedScan:
		return Operator{Name: "read", Detail: fmt.Sprintf("unmatched rows of %d", s[x.Build])}
	case *ValuesScan:
		return Operator{Name: "values", Detail: fmt.Sprintf("%d rows", len(x.Rows))}
	}
	return Operator{Name: fmt.Sprintf("%T", src)}
}

func (s sinkNames) transform(t Transform, on Device, where Placement) Operator {
	switch x := t.(type) {
	case *Filter:
		return Operator{Name: "filter", Detail: exprList(x.Preds, " AND ")}
	case *Project:
		parts := make([]string, len(x.Items))
		for i, it := range x.Items {
			parts[i] = it.Expr.String()
			if name := it.Col.String(); name != parts[i] {
				parts[i] += " AS " + name
			}
		}
		return Operator{Name: "project", Detail: strings.Join(parts, ", ")}
	case *Probe:
		name, how := where.build(x.Build, on)
		name += " " + joinName(x.Kind) + " join"
		d := fmt.Sprintf("with %d", s[x.Build])
		if len(x.Keys) > 0 && x.Build.Algorithm != RangeJoin {
			d += " on "
			for i, k := range x.Keys {
				if i > 0 {
					d += " AND "
				}
				op := " = "
				if i < len(x.Build.NullSafe) && x.Build.NullSafe[i] {
					op = " <=> "
				}
				d += k.String() + op + x.Build.Keys[i].String()
			}
		}
		if len(x.Residual) > 0 {
			d += " where " + exprList(x.Residual, " AND ")
		}
		return Operator{Name: name, Detail: d + "; " + how, EstRows: x.EstRows}
	case *Limit:
		return Operator{Name: "limit", Detail: limitText(x.Count, x.Offset)}
	case *Repeat:
		return Operator{Name: "repeat", Detail: x.Count.String()}
	case *Unnest:
		name := "unnest"
		if x.Outer {
			name = "outer unnest"
		}
		function := "JSON_TABLE"
		if x.Table.IsSeries {
			function = "generate_series"
		}
		return Operator{Name: name, Detail: fmt.Sprintf("%s %s(%s, %s)", x.Table.Name, function, x.Doc, x.Table), EstRows: x.EstRows}
	}
	return Operator{Name: fmt.Sprintf("%T", t)}
}

func (s sinkNames) sink(p *Pipeline, on Device, where Placement) Operator {
	switch x := p.Sink.(type) {
	case *Build:
		d := exprList(x.Keys, ", ")
		if x.Unique {
			d += " unique"
		}
		if len(x.Payload) > 0 {
			d += " keeping " + names(x.Payload)
		}
		name, _ := where.build(x, on)
		return Operator{Name: "build " + name, Detail: d, EstRows: p.EstRows}
	case *Aggregate:
		var parts []string
		for _, g := range x.Groups {
			parts = append(parts, g.Expr.String())
		}
		d := ""
		if len(parts) > 0 {
			d = "by " + strings.Join(parts, ", ")
		}
		parts = parts[:0]
		for _, a := range x.Aggs {
			parts = append(parts, aggText(a))
		}
		if len(parts) > 0 {
			d = strings.TrimSpace(d + " compute " + strings.Join(parts, ", "))
		}
		if x.Enough > 0 {
			d += fmt.Sprintf(" until there are %d groups", x.Enough)
		}
		name, how := where.groups(p, x, on)
		return Operator{Name: name + " aggregate", Detail: d + "; " + how, EstRows: x.EstGroups}
	case *Recursion:
		d := x.Name
		if x.Distinct {
			d += ", distinct rows"
		}
		for i, c := range x.By {
			d += []string{" by ", ", "}[min(i, 1)] + x.Cols[c].String()
		}
		return Operator{Name: "recursion", Detail: d, EstRows: p.EstRows}
	case *Window:
		return Operator{Name: "window", Detail: windowText(x), EstRows: p.EstRows}
	case *Sort:
		parts := make([]string, len(x.Keys))
		for i, k := range x.Keys {
			parts[i] = k.Expr.String()
			if k.Desc {
				parts[i] += " DESC"
			}
		}
		name := "sort"
		d := strings.Join(parts, ", ")
		if x.Count != logical.NoLimit {
			name, d = "top-n", d+" "+limitText(x.Count, x.Offset)
		}
		return Operator{Name: name, Detail: d}
	case *Materialize:
		return Operator{Name: "materialize", Detail: names(x.Cols), EstRows: p.EstRows}
	case *Result:
		return Operator{Name: "result", EstRows: p.EstRows}
	}
	return Operator{Name: fmt.Sprintf("%T", p.Sink)}
}

// SinkName names what a pipeline ends in on a device, for messages.
func SinkName(p *Pipeline, on Device) string { return sinkNames{}.sink(p, on, Placement{}).Name }

func joinName(k logical.JoinKind) string {
	return [...]string{"inner", "left", "full", "semi", "anti", "mark", "single"}[k]
}

func aggText(a logical.AggItem) string {
	if a.Fn.Kind == expr.AggCountStar {
		return "count(*)"
	}
	d := ""
	if a.Distinct {
		d = "DISTINCT "
	}
	return a.Fn.Name + "(" + d + exprList(a.Args, ", ") + ")"
}

func names(cols []*expr.Column) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		parts[i] = c.Name
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func columnName(cols []*expr.Column, id expr.ColumnID) string {
	for _, c := range cols {
		if c.ID == id {
			return c.Name
		}
	}
	return "?"
}

func exprList(es []expr.Expr, sep string) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = e.String()
	}
	return strings.Join(parts, sep)
}

func limitText(count, offset int64) string {
	var parts []string
	if count != logical.NoLimit {
		parts = append(parts, fmt.Sprintf("limit %d", count))
	}
	if offset > 0 {
		parts = append(parts, fmt.Sprintf("offset %d", offset))
	}
	return strings.Join(parts, " ")
}

// compact prints an estimate: whole below ten thousand, then in thousands, millions, billions, trillions.
func compact(x float64) string {
	switch {
	case x < 1e4:
		return fmt.Sprintf("%.0f", math.Ceil(x))
	case x < 1e7:
		return fmt.Sprintf("%.0fk", x/1e3)
	case x < 1e10:
		return fmt.Sprintf("%.0fM", x/1e6)
	case x < 1e13:
		return fmt.Sprintf("%.0fG", x/1e9)
	}
	return fmt.Sprintf("%.0fT", x/1e12)
}

func bytesText(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	f, u := float64(n), 0
	for f >= 1024 && u < len(units)-1 {
		f, u = f/1024, u+1
	}
	if u == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[u])
}
