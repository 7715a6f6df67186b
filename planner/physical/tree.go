package physical

import (
	"fmt"
	"regexp"
	"strings"
)

// Tree prints a plan as people read it: what gives the result first, below each operator what it reads, and beside each how many rows come out.
// After a run there are also times, and a bar for each operator's share of them. interrupted is as for Text.
func Tree(plan *Plan, where Placement, notes Notes, interrupted func() error) (string, error) {
	t := &tree{filled: map[Sink][]*Pipeline{}, texts: map[int]PipelineText{}, shown: map[Sink]bool{}, analyzed: notes != nil}
	all := plan.All()
	err := explain(plan, where, notes, interrupted, func(p PipelineText) error {
		t.texts[p.ID] = p
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, p := range all {
		t.filled[p.Sink] = append(t.filled[p.Sink], p)
		for _, op := range t.texts[p.ID].Operators {
			if op.Actual != nil {
				t.total += op.Actual.Millis
			}
		}
		if a := t.texts[p.ID].Actual; a != nil {
			t.total += a.Millis
		}
	}
	for _, p := range all {
		if _, ends := p.Sink.(*Result); ends && !t.shown[p.Sink] {
			t.sink(p.Sink, "", "")
		}
	}
	return t.text(all), nil
}

// tree collects the lines.
type tree struct {
	filled   map[Sink][]*Pipeline
	texts    map[int]PipelineText
	shown    map[Sink]bool
	analyzed bool
	total    float64 // milliseconds of all operators
	lines    []treeLine
}

// treeLine is a line: what stands beside the operator, and the operator behind the branches that lead to it.
type treeLine struct {
	share      float64 // of the time; below 0: none was measured
	millis     float64
	rows, text string
}

// sink prints a sink and what fills it. first leads to its line, rest to those below.
func (t *tree) sink(s Sink, first, rest string) {
	from := t.filled[s]
	if len(from) == 0 {
		t.lines = append(t.lines, treeLine{share: -1, text: first + "rows of the last round"})
		return
	}
	last := func(p *Pipeline) *Operator { ops := t.texts[p.ID].Operators; return &ops[len(ops)-1] }
	op := *last(from[0])
	if t.shown[s] {
		t.lines = append(t.lines, treeLine{share: -1, text: first + op.Name + ", as above"})
		return
	}
	t.shown[s] = true
	sum := Note{}
	for _, p := range from {
		n := last(p).Actual
		if n == nil {
			continue
		}
		sum.Millis, sum.Memory = sum.Millis+n.Millis, max(sum.Memory, n.Memory)
		sum.Rows, sum.Groups, sum.Text = added(sum.Rows, n.Rows), n.Groups, n.Text
		op.Actual = &sum
	}
	if whole := t.texts[from[0].ID].Actual; whole != nil { // its operators are one kernel
		op.Detail += "; " + whole.Text
		sum.Millis += whole.Millis
		op.Actual = &sum
	}
	t.operator(op, first)
	steps := make([]func(first, rest string), 0, len(from))
	for _, p := range from {
		steps = append(steps, func(first, rest string) { t.chain(p, len(p.Transforms), first, rest) })
	}
	if r, ok := s.(*Recursion); ok {
		steps = append(steps, func(first, rest string) { t.sink(r.Round, first, rest) })
	}
	t.below(rest, steps)
}

func added(x, y *int64) *int64 {
	if x == nil || y == nil {
		return y
	}
	sum := *x + *y
	return &sum
}

// below prints what several functions print as the children of a line.
func (t *tree) below(rest string, children []func(first, rest string)) {
	for i, child := range children {
		if i == len(children)-1 {
			child(rest+"└─ ", rest+"   ")
		} else {
			child(rest+"├─ ", rest+"│  ")
		}
	}
}

// chain prints the first n operators of a pipeline behind its source, the last on top.
func (t *tree) chain(p *Pipeline, n int, first, rest string) {
	ops := t.texts[p.ID].Operators
	if n == 0 {
		switch x := p.Source.(type) {
		case *SinkScan:
			t.sink(x.From, first, rest)
		default:
			t.operator(ops[0], first)
		}
		return
	}
	t.operator(ops[n], first)
	children := []func(first, rest string){func(first, rest string) { t.chain(p, n-1, first, rest) }}
	if probe, ok := p.Transforms[n-1].(*Probe); ok {
		children = append(children, func(first, rest string) { t.sink(probe.Build, first, rest) })
	}
	t.below(rest, children)
}

// operator prints a line.
func (t *tree) operator(op Operator, first string) {
	l := treeLine{share: -1, text: strings.TrimSpace(op.Name + " " + withoutNumbers(op))}
	if op.EstRows > 0 {
		l.rows = "~" + compact(op.EstRows)
	}
	if n := op.Actual; n != nil {
		l.millis, l.rows = n.Millis, ""
		if t.total > 0 {
			l.share = n.Millis / t.total
		}
		for _, count := range []*int64{n.Read, n.Rows, n.Groups} {
			if count != nil {
				l.rows = grouped(*count)
			}
		}
		for _, more := range []struct {
			bytes int64
			what  string
		}{{n.Bytes, "read"}, {n.Memory, "held"}} {
			if more.bytes > 0 {
				l.text += fmt.Sprintf(" [%s %s]", bytesText(more.bytes), more.what)
			}
		}
		if n.Text != "" {
			l.text += " [" + n.Text + "]"
		}
	}
	l.text = first + l.text
	t.lines = append(t.lines, l)
}

// numbered finds the numbers of pipelines, which a tree does without: its branches say what reads what.
var numbered = regexp.MustCompile(`^with [0-9]+ ?|(, runtime filter) from [0-9]+`)

func withoutNumbers(op Operator) string {
	if !strings.HasSuffix(op.Name, " join") && op.Name != "scan" {
		return op.Detail
	}
	return numbered.ReplaceAllString(op.Detail, "$1")
}

// grouped writes a number with a blank between groups of three digits.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}

// barCells is how many cells the bar of all of the time takes.
const barCells = 8

// bar draws a share in eighths of a cell.
func bar(share float64) string {
	eighths := int(share*barCells*8 + 0.5)
	out := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		out += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return out + strings.Repeat(" ", barCells-len([]rune(out)))
}

// text lays the lines out, and says where the plan runs.
func (t *tree) text(all []*Pipeline) string {
	width := len("rows")
	for _, l := range t.lines {
		width = max(width, len(l.rows))
	}
	var b strings.Builder
	if t.analyzed {
		fmt.Fprintf(&b, "%*s  %*s  plan\n", barCells+5+12, "time", width, "rows")
	} else {
		fmt.Fprintf(&b, "%*s  plan\n", width, "rows")
	}
	for _, l := range t.lines {
		switch {
		case !t.analyzed:
		case l.share < 0:
			b.WriteString(strings.Repeat(" ", barCells+5+12) + "  ")
		default:
			fmt.Fprintf(&b, "%s%4.0f%%%9.3f ms  ", bar(l.share), 100*l.share, l.millis)
		}
		fmt.Fprintf(&b, "%*s  %s\n", width, l.rows, l.text)
	}
	var reasons []string
	seen := map[string]bool{}
	for _, p := range all {
		x := t.texts[p.ID]
		if reason := "on " + x.Device + ": " + x.Reason; !seen[reason] {
			seen[reason] = true
			reasons = append(reasons, reason)
		}
	}
	for _, r := range reasons {
		b.WriteString(r + "\n")
	}
	return b.String()
}
