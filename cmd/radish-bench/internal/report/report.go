// Package report prints tables of figures, for a terminal and as markdown.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Column describes a column of a printed table.
type Column struct {
	Title string
	Right bool // numbers
	Width int  // at least this many characters, for rows that are printed as they come
}

// Text and Number are columns of strings, and of numbers, which stand on the right.
func Text(title string, width int) Column   { return Column{Title: title, Width: width} }
func Number(title string, width int) Column { return Column{Title: title, Right: true, Width: width} }

// Row formats one row for a terminal.
func Row(columns []Column, cells []string) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString("  ")
		}
		width := max(c.Width, utf8.RuneCountInString(c.Title))
		pad := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(cells[i])))
		if c.Right {
			b.WriteString(pad + cells[i])
		} else {
			b.WriteString(cells[i] + pad)
		}
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

func Titles(columns []Column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.Title
	}
	return out
}

// Markdown writes a table as markdown.
func Markdown(w io.Writer, columns []Column, rows [][]string) {
	fmt.Fprintf(w, "| %s |\n", strings.Join(Titles(columns), " | "))
	for _, c := range columns {
		if c.Right {
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

// Print prints a table with its title, and writes it to a page as markdown. The first left columns are strings, the others numbers, which stand on the right.
func Print(out, page io.Writer, title string, left int, names []string, rows [][]string) {
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i] = Column{Title: name, Right: i >= left}
		for _, row := range rows {
			columns[i].Width = max(columns[i].Width, len(row[i]))
		}
	}
	fmt.Fprintf(out, "%s\n\n%s", title, Row(columns, Titles(columns)))
	for _, row := range rows {
		fmt.Fprint(out, Row(columns, row))
	}
	fmt.Fprintln(out)
	fmt.Fprintf(page, "%s\n\n", title)
	Markdown(page, columns, rows)
	fmt.Fprintln(page)
}

// Median returns the middle of some times, the mean of the two in the middle of an even number; 0 of none.
func Median(times []time.Duration) time.Duration {
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

// GeometricMean returns the geometric mean of positive numbers; 0 of none.
func GeometricMean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	var sum float64
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

// Millis formats a time in milliseconds, three digits of it at least.
func Millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms >= 100:
		return fmt.Sprintf("%.0f", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.2f", ms)
}

// Bytes formats a number of bytes.
func Bytes(n int64) string {
	switch {
	case n <= 0:
		return "unknown"
	case n >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
}

// CountFailures makes an error of the results that failed or differed; nil if there are none. what names them.
func CountFailures[T any](results []T, what string, errOf func(*T) error) error {
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

func InMillis(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

func AllMillis(times []time.Duration) []float64 {
	out := make([]float64, len(times))
	for i, t := range times {
		out[i] = InMillis(t)
	}
	return out
}

func WriteJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// A report is a comparison: what stands under its table, and a section of a page of results.
type report interface {
	WriteSummary(out io.Writer)
	Page() (heading string, columns []Column, rows [][]string)
}

// Write writes a summary and, if a file is named, the page, with the summary under it.
func Write(r report, out io.Writer, markdown string) error {
	r.WriteSummary(out)
	if markdown == "" {
		return nil
	}
	file, err := os.Create(markdown)
	if err != nil {
		return err
	}
	heading, columns, rows := r.Page()
	fmt.Fprintf(file, "%s\n\n", heading)
	Markdown(file, columns, rows)
	r.WriteSummary(file)
	return file.Close()
}
