package jsondoc

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Problem says what keeps a text from being one JSON document, in MySQL's words as far as there are few of them, and at
// which byte. It is empty for a document. The error is that of a statement that was cancelled meanwhile.
func Problem(c Statement, text string) (why string, at int, err error) {
	r := NewReader(c, text)
	switch ok := r.skip(0) && r.Ended(); {
	case r.err != nil:
		return "", 0, r.err
	case ok:
		return "", 0, nil
	}
	if strings.TrimSpace(text) == "" {
		return "The document is empty.", len(text), nil
	}
	if err := c.Hold(decodedTimes * len(text)); err != nil {
		return "", 0, err
	}
	defer func() { err = cmp.Or(err, c.Hold(-decodedTimes*len(text))) }()
	d := json.NewDecoder(interrupt.NewReader(c, text))
	var first json.RawMessage
	err = d.Decode(&first)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		rest := strings.TrimLeft(text[d.InputOffset():], " \t\r\n")
		if rest == "" {
			return "", 0, nil
		}
		return "The document root must not be followed by other values.", len(text) - len(rest), nil
	case interrupt.IsInterrupted(err):
		return "", 0, err
	case errors.As(err, &syntax):
		return "Invalid value.", max(int(syntax.Offset)-1, 0), nil
	}
	return "Invalid value.", len(text), nil // it ends too soon
}

// TooDeep says whether arrays and objects of a document stand in each other deeper than MaxDepth.
func TooDeep(text string) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted:
			if c == '\\' {
				i++
			}
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '[' || c == '{':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

func TooDeepError() *sqlerr.Error {
	return sqlerr.New(codeTooDeep, sqlerr.User, "The JSON document exceeds the maximum depth.").
		WithHint("arrays and objects stand in each other at most %d deep", MaxDepth)
}
