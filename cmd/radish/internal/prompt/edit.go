package prompt

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// lineBreak stands for a line break in the line editor and in the file of the history, to both of which a line end means the end of
// the input. It is of the private use area.
const lineBreak = '\uf7e8'

// encode and decode translate between text with line ends and that of the line editor.
func encode(text string) string { return strings.ReplaceAll(text, "\n", string(lineBreak)) }
func decode(text string) string { return strings.ReplaceAll(text, string(lineBreak), "\n") }

// change is what a key does to a text with a cursor. It leaves the text that it is given as it is.
type change func(line []rune, cursor int) ([]rune, int)

// insert returns the change that inserts a text at the cursor.
func insert(text ...rune) change {
	return func(line []rune, cursor int) ([]rune, int) {
		return slices.Insert(slices.Clone(line), cursor, text...), cursor + len(text)
	}
}

// moveTo returns the change that moves the cursor.
func moveTo(cursor int) change {
	return func(line []rune, _ int) ([]rune, int) { return line, min(cursor, len(line)) }
}

// deleteNext deletes the character at the cursor.
func deleteNext(line []rune, cursor int) ([]rune, int) {
	if cursor == len(line) {
		return line, cursor
	}
	return slices.Delete(slices.Clone(line), cursor, cursor+1), cursor
}

// transpose swaps the characters round the cursor, at the end of a line the last two of it.
func transpose(line []rune, cursor int) ([]rune, int) {
	start, end := lineStart(line, cursor), lineEnd(line, cursor)
	if end-start < 2 || cursor == start {
		return line, cursor
	}
	cursor = min(cursor, end-1)
	line = slices.Clone(line)
	line[cursor-1], line[cursor] = line[cursor], line[cursor-1]
	return line, cursor + 1
}

// lineStart returns where the line that the cursor is in begins.
func lineStart(line []rune, cursor int) int {
	for cursor > 0 && line[cursor-1] != lineBreak {
		cursor--
	}
	return cursor
}

// lineEnd returns where the line that the cursor is in ends.
func lineEnd(line []rune, cursor int) int {
	for cursor < len(line) && line[cursor] != lineBreak {
		cursor++
	}
	return cursor
}

// wordStart returns where the word before the cursor begins.
func wordStart(line []rune, cursor int) int {
	inWord := func(c rune) bool { return c == '_' || c != lineBreak && (unicode.IsLetter(c) || unicode.IsDigit(c)) }
	for cursor > 0 && !inWord(line[cursor-1]) {
		cursor--
	}
	for cursor > 0 && inWord(line[cursor-1]) {
		cursor--
	}
	return cursor
}

// column returns how many columns of the terminal the cursor is behind the start of its line.
func column(line []rune, cursor int) (width int) {
	for _, c := range line[lineStart(line, cursor):cursor] {
		width += runeWidth(c, width)
	}
	return width
}

// vertical returns the cursor in the line above, or below, at a column or where that line ends before it. ok is false if there is none.
func vertical(line []rune, cursor int, up bool, goal int) (moved int, ok bool) {
	at := lineEnd(line, cursor) + 1
	if up {
		at = lineStart(line, cursor) - 1
		if at >= 0 {
			at = lineStart(line, at)
		}
	}
	if at < 0 || at > len(line) {
		return cursor, false
	}
	for width, end := 0, lineEnd(line, at); at < end; at++ {
		if width += runeWidth(line[at], width); width > goal {
			break
		}
	}
	return at, true
}

const tabWidth = 4

// runeWidth returns how many columns a character takes at a column of its line.
func runeWidth(c rune, column int) int {
	switch {
	case c == '\t':
		return tabWidth - column%tabWidth
	case unicode.IsControl(c):
		return 1 // shown as a dot
	}
	return runewidth.RuneWidth(c)
}
