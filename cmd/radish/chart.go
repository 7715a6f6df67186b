package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guptarohit/asciigraph"
	"github.com/mattn/go-runewidth"

	"github.com/radish-sql/radish"
)

// Limits of charts: more points than a terminal has columns are averaged by the library; bars take a line each.
const (
	maxChartPoints = 100_000
	maxBars        = 200
	chartHeight    = 15
)

// chart draws the last column of a query.
func (r *runner) chart(arg string) error {
	kind, query, _ := strings.Cut(arg, " ")
	if query = strings.TrimSpace(query); query == "" || kind != "bar" && kind != "line" {
		return fmt.Errorf("usage: .chart bar QUERY or .chart line QUERY")
	}
	if r.checking != nil {
		return r.query(query)
	}
	labels, values, err := r.points(query)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(values, func(v float64) bool { return !math.IsNaN(v) }) {
		return fmt.Errorf("the query gives no numbers to draw")
	}
	width := terminalWidth(80)
	if kind == "line" {
		plot := lines(values, width)
		fmt.Fprintln(r.streams.out, plot+"\n"+xAxis(plot, labels))
		return nil
	}
	if len(values) > maxBars {
		return fmt.Errorf("%d bars are too many to see; LIMIT the query to %d", len(values), maxBars)
	}
	fmt.Fprint(r.streams.out, bars(labels, values, width))
	return nil
}

// points runs a query and returns the strings of its first column and the numbers of its last; NULL is no number.
func (r *runner) points(query string) (labels []string, values []float64, err error) {
	ctx, done := r.running()
	defer done()
	rows, err := r.conn.Query(ctx, query)
	if err != nil {
		return nil, nil, r.described(query, err)
	}
	defer rows.Close()
	for rows.Next() {
		row := rows.Values()
		label := ""
		if len(row) > 1 {
			switch x := row[0].(type) {
			case nil:
				label = "NULL"
			case []byte:
				label = string(x)
			case time.Time:
				label = strings.TrimSuffix(x.Format("2006-01-02 15:04:05.999999"), " 00:00:00")
			default:
				label = fmt.Sprint(x)
			}
		}
		value := math.NaN()
		switch x := row[len(row)-1].(type) {
		case nil:
		case int64:
			value = float64(x)
		case uint64:
			value = float64(x)
		case float64:
			value = x
		case string:
			d, err := radish.ParseDecimal(x)
			if err != nil {
				return nil, nil, fmt.Errorf("the last column holds %q, which is no number", x)
			}
			value = d.Float64()
		default:
			return nil, nil, fmt.Errorf("the last column holds %v, which is no number", x)
		}
		if len(values) == maxChartPoints {
			return nil, nil, fmt.Errorf("the query gives more than %d points", maxChartPoints)
		}
		labels, values = append(labels, label), append(values, value)
	}
	return labels, values, rows.Err()
}

// lines draws a line through values. Those that would take more digits than can be read are shown with an exponent.
func lines(values []float64, width int) string {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			lowest, highest = min(lowest, v), max(highest, v)
		}
	}
	format := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) } // about the library's own
	options := []asciigraph.Option{asciigraph.Height(chartHeight)}
	if span := highest - lowest; math.IsInf(span, 0) || max(-lowest, highest) >= 1e15 || span > 0 && span < 0.05 {
		scale := math.Exp2(float64(math.Ilogb(max(-lowest, highest)))) // the library computes with spans, and in fixed digits
		if scale == 0 || math.IsInf(scale, 0) {
			scale = 1
		}
		values = slices.Clone(values)
		for i := range values {
			values[i] /= scale
		}
		lowest, highest = lowest/scale, highest/scale
		format = func(v float64) string { return strconv.FormatFloat(v*scale, 'g', 5, 64) }
		options = append(options, asciigraph.YAxisValueFormatter(format))
	}
	widest := max(len(format(lowest)), len(format(highest)))
	return asciigraph.Plot(values, append(options, asciigraph.Width(max(10, width-widest-4)))...)
}

// xAxis draws the axis below a plot, with the labels of its first and its last point, and of the one in the middle if it fits. Points without
// labels have numbers.
func xAxis(plot string, labels []string) string {
	start, end := 0, 0 // of the axis, in characters
	for _, line := range strings.Split(plot, "\n") {
		runes := []rune(strings.TrimRight(line, " "))
		if at := slices.IndexFunc(runes, func(c rune) bool { return c == '┤' || c == '┼' }); at >= 0 {
			start, end = at, max(end, len(runes))
		}
	}
	name := func(i int) string {
		if labels[i] == "" {
			return strconv.Itoa(i + 1)
		}
		return runewidth.Truncate(strings.ReplaceAll(labels[i], "\n", " "), max(8, (end-start)/3), "…")
	}
	last := len(labels) - 1
	line := []rune(strings.Repeat(" ", start) + "└" + strings.Repeat("─", max(1, end-start-1)))
	text := strings.Repeat(" ", start) + name(0)
	put := func(label string, from int) {
		if gap := from - runewidth.StringWidth(text); gap >= 2 {
			text += strings.Repeat(" ", gap) + label
		}
	}
	if last > 1 {
		middle := name(last / 2)
		if from := (start+end)/2 - runewidth.StringWidth(middle)/2; from+runewidth.StringWidth(middle)+2 <= end-runewidth.StringWidth(name(last)) {
			put(middle, from)
		}
	}
	if last > 0 {
		put(name(last), max(end-runewidth.StringWidth(name(last)), runewidth.StringWidth(text)+2))
	}
	return string(line) + "\n" + text
}

// bars draws a bar a line, from zero on; those below zero reach to the left of it.
func bars(labels []string, values []float64, width int) string {
	label, number := 0, 0
	shown := make([]string, len(values))
	lowest, highest := 0.0, 0.0
	for i, v := range values {
		shown[i] = "NULL"
		if !math.IsNaN(v) {
			if shown[i] = strconv.FormatFloat(v, 'f', -1, 64); math.Abs(v) >= 1e15 {
				shown[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
			lowest, highest = min(lowest, v), max(highest, v)
		}
		labels[i] = runewidth.Truncate(strings.ReplaceAll(labels[i], "\n", " "), max(10, width/3), "…")
		label, number = max(label, runewidth.StringWidth(labels[i])), max(number, len(shown[i]))
	}
	cells := float64(max(10, width-label-number-4))
	scale := 0.0
	if highest > lowest {
		scale = cells / 2 / (highest/2 - lowest/2) // the difference may be none of a double
	}
	zero := int(math.Round(-lowest * scale))
	var b strings.Builder
	for i, v := range values {
		b.WriteString(labels[i] + strings.Repeat(" ", label-runewidth.StringWidth(labels[i])+1))
		fmt.Fprintf(&b, "%*s ", number, shown[i])
		n := 0
		if !math.IsNaN(v) {
			n = int(math.Round(v * scale))
		}
		switch {
		case n < 0:
			b.WriteString(strings.Repeat(" ", zero+n) + strings.Repeat("█", -n))
		case v > 0 && n == 0:
			b.WriteString(strings.Repeat(" ", zero) + "▏")
		default:
			b.WriteString(strings.Repeat(" ", zero) + strings.Repeat("█", n))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
