package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// tableColumn describes a column of a printed table.
type tableColumn struct {
	title string
	right bool // numbers
	width int  // at least this many characters, for rows that are printed as they come
}

// textRow formats one row for a terminal.
func textRow(columns []tableColumn, cells []string) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString("  ")
		}
		width := max(c.width, utf8.RuneCountInString(c.title))
		pad := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(cells[i])))
		if c.right {
			b.WriteString(pad + cells[i])
		} else {
			b.WriteString(cells[i] + pad)
		}
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

func titles(columns []tableColumn) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.title
	}
	return out
}

// writeMarkdown writes a table as markdown.
func writeMarkdown(w io.Writer, columns []tableColumn, rows [][]string) {
	fmt.Fprintf(w, "| %s |\n", strings.Join(titles(columns), " | "))
	for _, c := range columns {
		if c.right {
			fmt.Fprint(w, "|---:")
		} else {
			fmt.Fprint(w, "|---")
		}
	}
	fmt.Fprintln(w, "|")
	for _, row := range rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
	}
}

// printTable prints a table with its title, and writes it to a page as markdown. The first columns, so many, are texts, the others numbers.
func printTable(out, page io.Writer, title string, texts int, names []string, rows [][]string) {
	columns := make([]tableColumn, len(names))
	for i, name := range names {
		columns[i] = tableColumn{title: name, right: i >= texts}
		for _, row := range rows {
			columns[i].width = max(columns[i].width, len(row[i]))
		}
	}
	fmt.Fprintf(out, "%s\n\n%s", title, textRow(columns, titles(columns)))
	for _, row := range rows {
		fmt.Fprint(out, textRow(columns, row))
	}
	fmt.Fprintln(out)
	fmt.Fprintf(page, "%s\n\n", title)
	writeMarkdown(page, columns, rows)
	fmt.Fprintln(page)
}

// median returns the middle of some times, the mean of the two in the middle of an even number; 0 of none.
func median(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

// geometricMean returns the geometric mean of positive numbers; 0 of none.
func geometricMean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	var sum float64
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

// millis formats a time in milliseconds, three digits of it at least.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms >= 100:
		return fmt.Sprintf("%.0f", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.2f", ms)
}

// byteText formats a number of bytes.
func byteText(n int64) string {
	switch {
	case n <= 0:
		return "unknown"
	case n >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
}

// countFailures makes an error of the results that failed or differed; nil if there are none. what names them.
func countFailures[T any](results []T, what string, errOf func(*T) error) error {
	failures := 0
	for i := range results {
		if errOf(&results[i]) != nil {
			failures++
		}
	}
	if failures == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d %s failed or gave different results", failures, len(results), what)
}
