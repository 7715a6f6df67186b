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
		// Behind other lines of the statement.
		"SELECT 'a\nb' c":         "S{b'} c",
		"SELECT 'a'\nb 'c":        "b S{'c}",
		"SELECT /* a\n'b' */ 'c'": "C{'b' */} S{'c'}",
		"SELECT 1 -- it's\n.5, 2": ".N{5}, N{2}",
		"SELECT `a\nfrom` from":   "from` K{from}",
		"SELECT 'a \\\nb' c":      "S{b'} c",
		"/* a\nb\nc */ d":         "C{c */} d",
	} {
		before, line := cutTyped(line)
		got := string(highlighter{func() string { return before }}.Paint([]rune(line), 0))
		for color, mark := range map[string]string{colorKeyword: "K{", colorString: "S{", colorNumber: "N{", colorComment: "C{", colorReset: "}"} {
			got = strings.ReplaceAll(got, color, mark)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
	same := func(before, line string) bool {
		runes := []rune(strings.ReplaceAll(line, "\x1b", ""))
		return escape.ReplaceAllString(string(highlighter{func() string { return before }}.Paint(runes, 0)), "") == string(runes)
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

// cutTyped splits a text into its last line and those before it.
func cutTyped(text string) (before, line string) {
	i := strings.LastIndexByte(text, '\n') + 1
	return text[:i], text[i:]
}
