package render

import (
	"strings"

	"github.com/radish-sql/radish/column"
)

// plain writes values a line each; on a terminal, the lines of a plan that are too long are continued below, behind what leads to them.
type plain struct {
	output
	line []byte
}

func (p *plain) begin() {}

func (p *plain) row(b *column.Batch, at int) {
	for _, v := range b.Cols {
		p.line = p.appendValue(p.line[:0], v, at)
		if width := p.settings.Columns; width > 0 && textWidth(p.line) > width {
			for _, line := range wrapPlan(string(p.line), width) {
				p.w.WriteString(line + "\n")
			}
			continue
		}
		p.line = append(p.line, '\n')
		p.w.Write(p.line)
	}
}

func (p *plain) batchEnd() {}

func (p *plain) end() {}

// leastPlanWidth is how many cells a line of a plan needs for its text to be broken rather than left to the terminal.
const leastPlanWidth = 12

// wrapPlan breaks a line between words. Lines that follow begin below the text of the first, behind the branches that go on.
func wrapPlan(line string, width int) []string {
	from := strings.LastIndex(line, "─ ")
	if from >= 0 {
		from += len("─ ")
	} else {
		from = len(line) - len(strings.TrimLeft(line, " "))
	}
	lead := strings.Map(func(r rune) rune {
		switch r {
		case '│', '├':
			return '│'
		}
		return ' '
	}, line[:from]) + "  "
	left := width - textWidth([]byte(lead))
	if left < leastPlanWidth {
		return []string{line}
	}
	var out []string
	begin, rest := line[:from], line[from:]
	for {
		space := width - textWidth([]byte(begin))
		if textWidth([]byte(rest)) <= space {
			return append(out, begin+rest)
		}
		end, cells := 0, 0
		for i, r := range rest {
			if cells += terminal.RuneWidth(r); cells > space {
				break
			}
			if r == ' ' {
				end = i
			}
		}
		if end == 0 { // a word that is longer than a line
			for i, r := range rest {
				if cells = textWidth([]byte(rest[:i])); cells+terminal.RuneWidth(r) > space {
					break
				}
				end = i
			}
		}
		out = append(out, begin+rest[:end])
		begin, rest = lead, strings.TrimLeft(rest[end:], " ")
	}
}
