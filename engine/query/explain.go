package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Explain runs EXPLAIN [ANALYZE] [FORMAT = 'tree' | 'pipelines' | 'json' | 'logical' | 'kernels'].
func Explain(st *session.Statement, n *ast.ExplainStmt) (*result.Result, error) {
	s := st.Session
	st.Files.ByOutlines = !n.Analyze && !s.Device().NeedsGPU()
	q, err := bindForExplain(st, n.Stmt)
	if err != nil {
		return nil, err
	}
	p, err := Plan(st, q, nil)
	if err != nil {
		return nil, err
	}
	var notes physical.Notes
	var total string
	if n.Analyze {
		cost, err := runForProfile(st, p)
		if err != nil {
			return nil, err
		}
		notes = notesOf(cost)
		total = fmt.Sprintf("in all: %.3f ms, %s held at the most", float64((cost.Wall+st.Files.Fetched.Wall).Microseconds())/1e3, sqlerr.FormatBytes(cost.PeakMemory))
		if st.Files.Fetched.Wall > 0 {
			total += fmt.Sprintf("; reading %s of files took %.3f ms of them and gave %s of columns", sqlerr.FormatBytes(st.Files.Fetched.Bytes), inMillis(st.Files.Fetched.Wall), sqlerr.FormatBytes(st.Files.Fetched.Memory))
		}
		if held := heldOnGPU(cost); held > 0 {
			total += fmt.Sprintf(", and on the GPU %s beside table columns", sqlerr.FormatBytes(held))
		}
		if cost.Downloaded > 0 {
			total += fmt.Sprintf("; %s downloaded", sqlerr.FormatBytes(cost.Downloaded))
		}
		if p.advisor != nil {
			expected := p.expect(s.Vars.Threads())
			total += fmt.Sprintf("; expected were %.3f ms on the CPU, %.3f ms on the GPU", inMillis(expected.CPU), inMillis(expected.GPU))
		}
		total += "\n"
		if cost.Fallback != "" {
			total = "the CPU ran the query: " + cost.Fallback + "\n" + total
		}
	}
	var out string
	format := parse.ExplainFormat(n.Format)
	if format == "" || format == "row" {
		format = s.Vars.Text(variables.ExplainFormat)
	}
	switch format {
	case "tree":
		out, err = physical.Tree(p.Plan, p.placement, notes, st.Expressions().Interrupted)
		out += total
	case variables.FormatPipelines, "brief", "traditional":
		out, err = physical.Text(p.Plan, p.placement, notes, st.Expressions().Interrupted)
		out += total
	case "json":
		out, err = physical.JSON(p.Plan, p.placement, notes, st.Expressions().Interrupted)
	case "logical":
		out = logical.Format(p.Plan.Logical)
	case "kernels":
		if out = gpu.NoKernels(p.Plan, p.placement); p.gpu != nil {
			out = p.gpu.Kernels()
		}
	default:
		return nil, sqlerr.NotSupportedf("EXPLAIN FORMAT = "+n.Format, "the formats are tree, pipelines, json, logical and kernels")
	}
	if err != nil {
		return nil, err
	}
	cols := []result.ResultColumn{{Name: "EXPLAIN", Type: types.Text}}
	if format == "json" {
		return result.RowsResult(cols, [][]types.Value{{result.Text(out)}}), nil
	}
	var rows [][]types.Value
	for _, line := range strings.Split(strings.TrimRight(out, "\n"), "\n") {
		rows = append(rows, []types.Value{result.Text(line)})
	}
	return result.RowsResult(cols, rows), nil
}

// bindForExplain returns the query of a statement: of INSERT, UPDATE and DELETE the one that finds their rows.
func bindForExplain(st *session.Statement, n ast.StmtNode) (*logical.Query, error) {
	b := st.Binder()
	switch x := n.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		plain, _ := OutfileOf(x)
		return b.Query(plain)
	case *ast.InsertStmt:
		ins, err := b.Insert(x)
		if err != nil {
			return nil, err
		}
		return ins.Query, nil
	case *ast.UpdateStmt:
		up, err := b.Update(x)
		if err != nil {
			return nil, err
		}
		return up.Query, nil
	case *ast.DeleteStmt:
		del, err := b.Delete(x)
		if err != nil {
			return nil, err
		}
		return del.Query, nil
	}
	return nil, sqlerr.NotSupportedf("EXPLAIN of this statement", "only queries, INSERT, UPDATE and DELETE have plans")
}

// runForProfile runs a query, throws its rows away and returns what it cost.
func runForProfile(st *session.Statement, p *Planned) (*profile.Plan, error) {
	res, err := Start(st, p, true)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	for {
		b, err := res.Next(st.Context)
		if err != nil {
			return nil, err
		}
		if b == nil {
			return res.Profile, nil
		}
	}
}

func notesOf(cost *profile.Plan) physical.Notes {
	byID := map[int]*profile.Pipeline{}
	for i := range cost.Pipelines {
		byID[cost.Pipelines[i].ID] = &cost.Pipelines[i]
	}
	return func(p *physical.Pipeline, op int) (physical.Note, bool) {
		pc := byID[p.ID]
		if op == physical.WholePipeline {
			if pc == nil || pc.GPU == nil {
				return physical.Note{}, false
			}
			g := pc.GPU
			return physical.Note{
				Text: gpuCost(g), Millis: inMillis(pc.Wall), Bytes: g.Bytes, Kernel: inMillis(g.Kernel), Fill: inMillis(g.Fill), Compile: inMillis(g.Compile), Uploaded: g.Uploaded, Windows: g.Windows,
				Share: bandwidthShare(g), Devices: deviceNotes(g), Exchange: exchangeNote(g),
			}, true
		}
		if pc == nil || op >= len(pc.Operators) || pc.Operators[op].Fused {
			return physical.Note{}, false
		}
		o := pc.Operators[op]
		note := physical.Note{Millis: float64(o.CPU.Microseconds()) / 1e3, Bytes: o.Bytes, Memory: o.Memory, Text: o.Note}
		isSink := op == len(pc.Operators)-1
		_, groups := p.Sink.(*physical.Aggregate)
		switch {
		case isSink && groups:
			note.Rows, note.Groups = counted(o.RowsIn), counted(o.RowsOut)
		case isSink:
			note.Rows = counted(o.RowsIn)
		case o.RowsOut == profile.Uncounted:
			note.Read = counted(o.RowsIn)
		default:
			note.Rows = counted(o.RowsOut)
		}
		return note, true
	}
}

// heldOnGPU is the memory of the GPU that a query held at the most, table columns apart.
func heldOnGPU(cost *profile.Plan) int64 {
	held := int64(0)
	for _, p := range cost.Pipelines {
		if p.GPU != nil {
			held = max(held, p.GPU.Held)
		}
	}
	return held
}

// counted is a number of rows; nil if nobody counted them.
func counted(rows int64) *int64 {
	if rows == profile.Uncounted {
		return nil
	}
	return &rows
}

// bandwidthShare is what part of the speed at which the device can read its memory a pipeline's kernels reached; 0 if that is not known.
func bandwidthShare(c *profile.GPU) float64 {
	if c.ReadRate == 0 || c.Kernel == 0 || c.Windows > 0 { // the bus sets the pace of windows
		return 0
	}
	return float64(c.Bytes) / c.Kernel.Seconds() / c.ReadRate
}

func inMillis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// leastFill is what is worth words of the time in which a sink's memory gets its first state.
const leastFill = 50 * time.Microsecond

// gpuCost words what a pipeline cost on the GPU.
func gpuCost(c *profile.GPU) string {
	text := fmt.Sprintf("kernel %.3f ms", inMillis(c.Kernel))
	if c.Windows > 0 { // it waits for each
		text = fmt.Sprintf("%d windows in %.3f ms", c.Windows, inMillis(c.Kernel))
	}
	if c.Fill >= leastFill {
		text += fmt.Sprintf(" after %.3f ms of filling memory", inMillis(c.Fill))
	}
	if c.Launches > 1 {
		text += fmt.Sprintf(" in %d launches", c.Launches)
	}
	if c.Bytes > 0 {
		text += ", " + sqlerr.FormatBytes(c.Bytes) + " of table columns"
		if c.Kernel > 0 {
			text += fmt.Sprintf(" at %.0f GB/s", float64(c.Bytes)/float64(c.Kernel.Nanoseconds()))
		}
		if share := bandwidthShare(c); share > 0 {
			text += fmt.Sprintf(" (%.0f%% of what its memory gives)", 100*share)
		}
	}
	switch {
	case c.Compile > 0:
		text += fmt.Sprintf(", compiled in %.0f ms", float64(c.Compile.Microseconds())/1e3)
	default:
		text += ", kernel from " + c.Cache
	}
	if c.Uploaded > 0 {
		text += ", uploaded " + sqlerr.FormatBytes(c.Uploaded)
		if c.Windows > 0 && c.BusRate > 0 && c.Kernel > 0 {
			rate := float64(c.Uploaded) / c.Kernel.Seconds()
			text += fmt.Sprintf(" at %.1f GB/s (%.0f%% of what the bus gives)", rate/1e9, 100*rate/c.BusRate)
		}
	}
	for _, p := range c.Places {
		text += "\n    " + placeCost(p)
	}
	if x := exchangeNote(c); x != nil {
		text += fmt.Sprintf("\n    %s of %d rows over %s in %.3f ms", x.Kind, x.Rows, x.Link, x.Millis)
		if x.Rate > 0 {
			text += fmt.Sprintf(", %.1f GB/s", x.Rate)
		}
		if x.Share > 0 {
			text += fmt.Sprintf(" (%.0f%% of what a copy gives)", 100*x.Share)
		}
	}
	return text
}

// placeCost words what a pipeline cost on one of several GPUs.
func placeCost(p profile.Place) string {
	text := fmt.Sprintf("%s: %.3f ms, %.3f ms idle", p.Device, inMillis(p.Kernel), inMillis(p.Idle))
	if p.Rows != profile.Uncounted {
		text = fmt.Sprintf("%s: %d rows, %.3f ms, %.3f ms idle", p.Device, p.Rows, inMillis(p.Kernel), inMillis(p.Idle))
	}
	if p.Bytes > 0 {
		text += ", " + sqlerr.FormatBytes(p.Bytes) + " of table columns"
		if p.Kernel > 0 {
			text += fmt.Sprintf(" at %.0f GB/s", float64(p.Bytes)/float64(p.Kernel.Nanoseconds()))
		}
	}
	if p.In > 0 {
		text += ", " + sqlerr.FormatBytes(p.In) + " in"
	}
	if p.Out > 0 {
		text += ", " + sqlerr.FormatBytes(p.Out) + " out"
	}
	return text
}

func deviceNotes(c *profile.GPU) (notes []physical.DeviceNote) {
	for _, p := range c.Places {
		notes = append(notes, physical.DeviceNote{
			Device: p.Device, Rows: counted(p.Rows), Kernel: inMillis(p.Kernel), Idle: inMillis(p.Idle), Bytes: p.Bytes, In: p.In, Out: p.Out,
		})
	}
	return notes
}

// exchangeNote is what moving a pipeline's rows between GPUs cost; nil: they stayed.
func exchangeNote(c *profile.GPU) *physical.ExchangeNote {
	x := c.Exchange
	if x == nil {
		return nil
	}
	note := &physical.ExchangeNote{Kind: x.Kind, Link: x.Link, Rows: x.Rows, Millis: inMillis(x.Took)}
	most := int64(0)
	for _, p := range c.Places {
		most = max(most, p.In, p.Out)
	}
	if x.Took > 0 {
		note.Rate = float64(most) / float64(x.Took.Nanoseconds())
	}
	if x.LinkRate > 0 {
		note.Share = note.Rate * 1e9 / x.LinkRate
	}
	return note
}
