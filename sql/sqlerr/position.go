package sqlerr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Position is a position in a text. Offset counts bytes from 0; Line and Column count from 1, Column in characters.
// The zero Position is no position.
type Position struct{ Offset, Line, Column int }

// Known says whether p is a position.
func (p Position) Known() bool { return p.Line > 0 }

// String writes "line 3, column 17".
func (p Position) String() string { return fmt.Sprintf("line %d, column %d", p.Line, p.Column) }

// PositionAt returns the position of a byte offset in text. An offset outside the text is moved to its nearest end, one
// inside a character to that character's start.
func PositionAt(text string, offset int) Position {
	offset = min(max(offset, 0), len(text))
	for i := 1; i < utf8.UTFMax && i <= offset; i++ {
		if r, size := utf8.DecodeRuneInString(text[offset-i:]); size > i && r != utf8.RuneError {
			offset -= i
			break
		}
	}
	lineStart := strings.LastIndexByte(text[:offset], '\n') + 1
	return Position{
		Offset: offset,
		Line:   1 + strings.Count(text[:lineStart], "\n"),
		Column: 1 + utf8.RuneCountInString(text[lineStart:offset]),
	}
}

// caretWidth is how many characters of a long line Caret shows around the position.
const caretWidth = 100

// Caret renders the line of text that pos lies in, indented by two spaces, with a caret under the position. Of a long line
// it shows the part around the position. The result is empty if the position is unknown or outside the text.
func Caret(text string, pos Position) string {
	if !pos.Known() || text == "" || pos.Offset < 0 || pos.Offset > len(text) {
		return ""
	}
	start := strings.LastIndexByte(text[:pos.Offset], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[pos.Offset:], '\n'); i >= 0 {
		end = pos.Offset + i
	}
	const most = (caretWidth + 1) * utf8.UTFMax // bytes on either side, of a line that may be very long
	if start < pos.Offset-most {
		for start = pos.Offset - most; start < pos.Offset && !utf8.RuneStart(text[start]); {
			start++
		}
	}
	end = min(end, pos.Offset+most)
	before := []rune(printable(text[start:pos.Offset]))
	after := []rune(printable(text[pos.Offset:end]))
	head, tail := "", ""
	if len(before)+len(after) > caretWidth {
		if keep := max(caretWidth/2, caretWidth-len(after)); len(before) > keep {
			head, before = "...", before[len(before)-keep:]
		}
		if keep := caretWidth - len(before); len(after) > keep {
			tail, after = "...", after[:keep]
		}
	}
	line := strings.TrimRight(head+string(before)+string(after)+tail, " ")
	return "  " + line + "\n  " + strings.Repeat(" ", runewidth.StringWidth(head+string(before))) + "^"
}

// printable replaces what would move a terminal's cursor: tabs and control characters by a space, broken UTF-8 by the
// replacement character.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}
