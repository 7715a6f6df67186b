// Command plots draws the pictures of the documentation: plots of the tables in docs/benchmarks.md, a recorded session of the shell, and
// how hash functions spread keys.
//
//	go run ./docs/plots docs
//
// What is drawn follows from the tables' text alone, so a figure and its plot cannot differ; TestPlots holds the committed pictures against it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/docs/plots/chart"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: plots FOLDER, which has benchmarks.md and plots/session.txt")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "plots:", err)
		os.Exit(1)
	}
}

// write draws all pictures into the folder's plots.
func write(docs string) error {
	pictures, err := draw(docs)
	if err != nil {
		return err
	}
	for name, picture := range pictures {
		if err := os.WriteFile(filepath.Join(docs, "plots", name), []byte(picture), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// draw returns the pictures by their files' names.
func draw(docs string) (map[string]string, error) {
	page, err := os.ReadFile(filepath.Join(docs, "benchmarks.md"))
	if err != nil {
		return nil, err
	}
	pictures := map[string]string{}
	for picture, recorded := range map[string]string{"shell.svg": "session.txt", "files.svg": "files.txt", "explain.svg": "explain.txt"} {
		session, err := os.ReadFile(filepath.Join(docs, "plots", recorded))
		if err != nil {
			return nil, err
		}
		pictures[picture] = terminal(string(session))
	}
	if pictures["hashes.svg"], err = hashSpread(64); err != nil {
		return nil, err
	}
	for _, p := range []struct {
		file, heading string
		chart         tableChart
	}{
		{"tpch-cpu.svg", "TPC-H on the CPU", tableChart{Chart: chart.Chart{Title: "TPC-H, scale factor 1, 2 cores", Unit: "ms, the fastest of 45 hot runs", Label: "query",
			Columns: []string{"Radish ms", "DuckDB ms"}}, draw: chart.Bars}},
		{"tpch-gpu.svg", "TPC-H on a GPU", tableChart{Chart: chart.Chart{Title: "TPC-H, scale factor 100", Unit: "ms, logarithmic", Label: "query",
			Columns: []string{"GPU, ms", "cuDF, ms", "CPU, 16 cores, ms", "DuckDB, ms"}, Logarithmic: true}, draw: chart.Bars}},
		{"groupby-gpu.svg", "Group-by over 10^9 rows", tableChart{Chart: chart.Chart{Title: "GROUP BY over 10^9 rows, one H200: sum", Unit: "10^9 rows a second", Label: "keys",
			Columns: []string{"G rows/s"}}, only: "sum", draw: chart.Bars}},
		{"crossover.svg", "From how many rows on a GPU is faster", tableChart{Chart: chart.Chart{Title: "GROUP BY of a thousand keys", Unit: "ms, both axes logarithmic", Label: "rows",
			Columns: []string{"CPU, ms", "GPU, ms"}, Logarithmic: true}, draw: chart.Lines}},
	} {
		if err := p.chart.read(string(page), p.heading); err != nil {
			return nil, fmt.Errorf("%s: %w", p.heading, err)
		}
		pictures[p.file] = p.chart.draw(&p.chart.Chart)
	}
	return pictures, nil
}

// tableChart is a table's columns and how to draw them.
type tableChart struct {
	chart.Chart        // Columns are those of the table that are drawn
	only        string // rows whose second cell is another are left out; empty: none is
	draw        func(c *chart.Chart) string
}

// read takes the first table below a heading of the page.
func (c *tableChart) read(page, heading string) error {
	_, section, ok := strings.Cut(page, "\n### "+heading+"\n")
	if !ok {
		return fmt.Errorf("there is no such heading")
	}
	section, _, _ = strings.Cut(section, "\n### ")
	_, table, ok := strings.Cut(section, "\n| "+c.Label+" |")
	if !ok {
		return fmt.Errorf("there is no table that begins with %q", c.Label)
	}
	table, _, _ = strings.Cut("| "+c.Label+" |"+table, "\n\n")
	rows := strings.Split(strings.TrimSpace(table), "\n")
	at := map[string]int{}
	for i, name := range slices.Backward(cells(rows[0])) { // of two columns of one name the first
		at[name] = i
	}
	c.Values = make([][]float64, len(c.Columns))
	for _, row := range rows[2:] {
		row := cells(row)
		if strings.ContainsAny(row[0], "*") || strings.HasPrefix(row[0], "geometric") || c.only != "" && row[1] != c.only {
			continue // sums and means
		}
		c.Labels = append(c.Labels, row[0])
		for i, name := range c.Columns {
			column, ok := at[name]
			if !ok || column >= len(row) {
				return fmt.Errorf("row %s has no column %q", row[0], name)
			}
			v, err := strconv.ParseFloat(strings.ReplaceAll(row[column], ",", ""), 64)
			if err != nil {
				return fmt.Errorf("row %s, column %s: %w", row[0], name, err)
			}
			c.Values[i] = append(c.Values[i], v)
		}
	}
	return nil
}

// cells are the cells of a table's row.
func cells(row string) []string {
	parts := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
