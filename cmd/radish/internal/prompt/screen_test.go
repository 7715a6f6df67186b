package prompt

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// striped colours every other character, to see that colours take no columns.
func striped(text []rune, put func(string, []rune)) {
	for i := range text {
		put([]string{"", "\x1b[31m"}[i%2], text[i:i+1])
	}
}

// expected writes a text as it is to a terminal of its own, and returns what that shows and where the cursor is.
func expected(columns, rows int, first, more, text string, cursor int) (shown string, row, col int) {
	runes := []rune(text)
	lines := func(text []rune) string { return first + strings.ReplaceAll(string(text), "\n", "\n"+more) }
	all, before := newVT(columns, rows), newVT(columns, rows)
	fmt.Fprint(all, lines(runes))
	fmt.Fprint(before, lines(runes[:cursor]))
	switch {
	case cursor == len(runes) || runes[cursor] != '\n':
		// The next character may be too wide for the row.
		next := " "
		if cursor < len(runes) {
			next = string(runes[cursor])
		}
		fmt.Fprint(before, next)
		width := runeWidth([]rune(next)[0], 0)
		if before.full {
			return all.String(), before.row, before.columns - width
		}
		return all.String(), before.row, before.col - width
	}
	return all.String(), before.row, before.col
}

// TestScreen edits texts at random. What the terminal shows after each step, of which the screen draws what has changed, is what it shows
// if the whole is written to it.
func TestScreen(t *testing.T) {
	const seed = 20261122
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	alphabet := []rune("ab cdefghijk\n日本é")
	for range 60 {
		columns := 3 + r.IntN(25)
		first, more := "> ", "-> "
		if columns > 20 {
			first, more = "radish> ", "     -> "
		}
		term := newVT(columns, 60)
		s := &screen{out: term, size: term.size, paint: striped}
		s.begin(first, more)
		var text []rune
		for step := range 40 {
			at := r.IntN(len(text) + 1)
			if r.IntN(3) == 0 {
				text = append([]rune{}, text[:at]...)
			} else {
				n := 1 + r.IntN(3*columns)
				piece := make([]rune, n)
				for i := range piece {
					piece[i] = alphabet[r.IntN(len(alphabet))]
				}
				text = append(append(append([]rune{}, text[:at]...), piece...), text[at:]...)
			}
			want, _, _ := expected(columns, 150, first, more, string(text), 0)
			if strings.Count(want, "\n") > 50 {
				text = s.text
				break
			}
			cursor := r.IntN(len(text) + 1)
			want, row, col := expected(columns, 60, first, more, string(text), cursor)
			s.drawn = time.Time{} // at once
			s.show(text, cursor, nil)
			if got := term.String(); got != want || term.row != row || term.col != col {
				t.Fatalf("step %d, %d columns, %q, cursor %d:\n%s\nat %d, %d; want\n%s\nat %d, %d", step, columns, string(text), cursor, got, term.row, term.col, want, row, col)
			}
		}
		whole := newVT(columns, 60)
		fmt.Fprint(whole, first+strings.ReplaceAll(string(text), "\n", "\n"+more))
		if whole.full { // where the cursor has a row of its own
			fmt.Fprintln(whole)
		}
		fmt.Fprint(whole, "\nEND")
		want := whole.String()
		s.finish("")
		fmt.Fprint(term, "END")
		if got := term.String(); got != want {
			t.Fatalf("at the end\n%s\nwant\n%s", got, want)
		}
	}
}

// TestScreenWindow shows what is round the cursor of a text that has more lines than the terminal, with a line below, and leaves the whole.
func TestScreenWindow(t *testing.T) {
	term := newVT(10, 4)
	s := &screen{out: term, size: term.size, paint: striped}
	s.begin("> ", "- ")
	text := []rune("a\nb\nc\nd\ne\nf")
	for _, step := range []struct {
		cursor int
		notes  []string
		want   string
	}{
		{11, nil, "- c\n- d\n- e\n- f"},
		{7, nil, "- c\n- d\n- e\n- f"},
		{2, nil, "- b\n- c\n- d\n- e"},
		{0, nil, "> a\n- b\n- c\n- d"},
		{0, []string{"note"}, "> a\n- b\n- c\nnote"},
		{9, []string{"note"}, "- c\n- d\n- e\nnote"},
		{11, []string{"1", "2", "3", "4"}, "- f\n1\n2\n3"},
		{0, nil, "> a\n- b\n- c\n- d"},
	} {
		s.drawn = time.Time{}
		s.show(text, step.cursor, step.notes)
		if got := term.String(); got != step.want {
			t.Errorf("cursor %d: got\n%s\nwant\n%s", step.cursor, got, step.want)
		}
	}
	term.written = 0
	s.finish("")
	if got := term.String(); got != "- d\n- e\n- f" {
		t.Errorf("at the end\n%s", got)
	}
	if term.written < len("> a\n- b\n- c\n- d\n- e\n- f\n") {
		t.Errorf("only %d bytes at the end: the text is not whole above the screen", term.written)
	}
}

// TestScreenResize makes the terminal narrower and wider while a text is edited.
func TestScreenResize(t *testing.T) {
	for _, cursor := range []int{0, 4, 12, 30} {
		term := newVT(30, 20)
		s := &screen{out: term, size: term.size, paint: striped}
		s.begin("radish> ", "     -> ")
		text := "SELECT 日本\n12, 34 AS words;\nEND"[:30]
		s.show([]rune(text), min(cursor, len([]rune(text))), nil)
		for _, columns := range []int{19, 40, 60, 25} {
			term.resize(columns)
			s.resized()
			want, row, col := expected(columns, 20, "radish> ", "     -> ", text, min(cursor, len([]rune(text))))
			if got := term.String(); got != want || term.row != row || term.col != col {
				t.Errorf("%d columns, cursor %d:\n%s\nat %d, %d; want\n%s\nat %d, %d", columns, cursor, got, term.row, term.col, want, row, col)
			}
		}
	}
}

// Control characters and tabs are shown so that they can do nothing to the terminal; prompts may have colours and several lines.
func TestScreenControls(t *testing.T) {
	term := newVT(30, 5)
	s := &screen{out: term, size: term.size, paint: striped}
	s.begin("db\n\x1b[1msql>\x1b[0m ", "-> ")
	s.show([]rune("a\tb\x1b[2J\x07\tc\nd"), 12, nil)
	if got, want := term.String(), "db\nsql> a   b·[2J·  c\n-> d"; got != want || term.bells > 0 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if term.row != 2 || term.col != 4 {
		t.Errorf("the cursor is at %d, %d", term.row, term.col)
	}
}
