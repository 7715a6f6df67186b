package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/radish-sql/radish/docs/plots/chart"
)

// terminal draws a session of the shell.
func terminal(session string) string {
	const lineHeight, indent = 17, 16
	rows := strings.Split(strings.TrimRight(session, "\n"), "\n")
	longest := 0
	for _, row := range rows {
		longest = max(longest, utf8.RuneCountInString(row))
	}
	p := chart.NewPicture(2*indent+longest*78/10, lineHeight*len(rows)+2*indent, "A session of the shell") // a character of 12.5 px is some 7.6 wide
	p.WriteString("<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1b1f24\"/>\n<g font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"12.5\" xml:space=\"preserve\">\n")
	for i, row := range rows {
		colour := "#d0d7de"
		switch {
		case strings.HasPrefix(row, "ERROR"):
			colour = "#ff7b72"
		case strings.HasPrefix(row, "Hint"):
			colour = "#7ee787"
		case strings.HasPrefix(row, "radish>"), strings.HasPrefix(row, "     ->"), strings.HasPrefix(row, "$ "):
			colour = "#a5d6ff"
		}
		p.Text(indent, float64(indent+lineHeight*i+12), "start", fmt.Sprintf(` fill="%s"`, colour), row)
	}
	p.WriteString("</g>\n")
	return p.End()
}
