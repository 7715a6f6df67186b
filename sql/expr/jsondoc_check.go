package expr

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// jsonProblem says what keeps a text from being one JSON document, in MySQL's words as far as there are few of them, and at
// which byte. It is empty for a document. The error is that of a statement that was cancelled meanwhile.
func (c *Context) jsonProblem(text string) (why string, at int, err error) {
	if r := (jsonReader{c: c, s: text}); len(text) < jsonReadBytes && r.skip(0) && r.ended() ||
		len(text) < interruptBytes && json.Valid([]byte(text)) {
		return "", 0, nil
	}
	if strings.TrimSpace(text) == "" {
		return "The document is empty.", len(text), nil
	}
	d := json.NewDecoder(c.reader(text))
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
	case isInterrupted(err):
		return "", 0, err
	case errors.As(err, &syntax):
		return "Invalid value.", max(int(syntax.Offset)-1, 0), nil
	}
	return "Invalid value.", len(text), nil // it ends too soon
}

// jsonTooDeep says whether arrays and objects of a document stand in each other deeper than maxJSONDepth.
func jsonTooDeep(text string) bool {
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
			if depth++; depth > maxJSONDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

func errJSONTooDeep() *sqlerr.Error {
	return sqlerr.New(codeJSONTooDeep, sqlerr.User, "The JSON document exceeds the maximum depth.").
		WithHint("arrays and objects stand in each other at most %d deep", maxJSONDepth)
}
