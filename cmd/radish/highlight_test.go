package main

import (
	"regexp"
	"strings"
	"testing"
	"testing/quick"
)

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestHighlight checks what is coloured, and that colours are all that is added.
func TestHighlight(t *testing.T) {
	for line, want := range map[string]string{
		"SELECT a1, 12.5e3":          "K{SELECT} a1, N{12.5e3}",
		"select 'it''s' from `from`": "K{select} S{'it'}S{'s'} K{from} `from`",
		"5--3 -- rest 'x'":           "N{5}--N{3} C{-- rest 'x'}",
		"1 /* two */ 3 # four":       "N{1} C{/* two */} N{3} C{# four}",
		"'open \\' still":            "S{'open \\' still}",
		"/*/ x":                      "C{/*/ x}",
		".mode csv":                  ".mode csv",
		"größe = 'ü'":                "größe = S{'ü'}",
		"":                           "",
		// Over several lines.
		"SELECT 'a\nb' c":         "K{SELECT} S{'a\nb'} c",
		"SELECT 'a'\nb 'c":        "K{SELECT} S{'a'}\nb S{'c}",
		"SELECT /* a\n'b' */ 'c'": "K{SELECT} C{/* a\n'b' */} S{'c'}",
		"SELECT 1 -- it's\n.5, 2": "K{SELECT} N{1} C{-- it's}\n.N{5}, N{2}",
		"SELECT `a\nfrom` from":   "K{SELECT} `a\nfrom` K{from}",
		"SELECT 'a \\\nb' c":      "K{SELECT} S{'a \\\nb'} c",
		"/* a\nb\nc */ d":         "C{/* a\nb\nc */} d",
		".mode csv\nSELECT":       ".mode csv\nK{SELECT}",
	} {
		got := highlighted(line)
		for color, mark := range map[string]string{colorKeyword: "K{", colorString: "S{", colorNumber: "N{", colorComment: "C{", colorReset: "}"} {
			got = strings.ReplaceAll(got, color, mark)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
	same := func(text string) bool {
		text = strings.ReplaceAll(text, "\x1b", "")
		return escape.ReplaceAllString(highlighted(text), "") == string([]rune(text))
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

func highlighted(text string) string {
	var b strings.Builder
	highlight([]rune(text), func(color string, part []rune) {
		b.WriteString(color + string(part))
		if color != "" {
			b.WriteString(colorReset)
		}
	})
	return b.String()
}
