package jsondoc

import (
	"strings"

	"github.com/radish-sql/radish/sql/interrupt"
)

// AsJSON returns a valid document in a string as a value of type JSON. It keeps the text but for numbers, which are written as INTEGERs and DOUBLEs are, so
// that [Reread] can tell them from DECIMALs.
func AsJSON(c Statement, text string) (string, error) {
	var b strings.Builder
	copied, asked := 0, 0 // the bytes that are in b; where the statement was asked last
	for at := 0; at < len(text); {
		if at-asked > interrupt.LongBytes {
			asked = at
			if err := c.Interrupted(); err != nil {
				return "", err
			}
		}
		switch ch := text[at]; {
		case ch == '"':
			at = endOfString(text, at)
		case ch == '-' || ch >= '0' && ch <= '9':
			start := at
			for at < len(text) && strings.IndexByte("+-.eE0123456789", text[at]) >= 0 {
				at++
			}
			if n := numberValue(text[start:at], false).Text; n != text[start:at] {
				if copied == 0 {
					if err := c.Hold(len(text)); err != nil {
						return "", err
					}
				}
				b.WriteString(text[copied:start])
				b.WriteString(n)
				copied = at
			}
		default:
			at++
		}
	}
	if copied == 0 {
		return text, nil
	}
	b.WriteString(text[copied:])
	return b.String(), nil
}

// endOfString returns the position behind a string that begins at at.
func endOfString(text string, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}
