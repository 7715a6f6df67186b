package sqlerr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is whose matter an error is. A Kind is itself an error, so that errors.Is(err, sqlerr.Cancelled) works.
type Kind uint8

// The kinds.
const (
	User         Kind = iota // the statement or its data is wrong
	NotSupported             // the statement is right in MySQL, and Radish does not do it
	Resource                 // memory, disk, a file or a device failed or ran out
	Cancelled                // a context was cancelled, or its deadline passed
	Internal                 // a bug in Radish
)

var kindNames = [...]string{"user error", "not supported", "resource error", "cancelled", "internal error"}

// String names the kind.
func (k Kind) String() string { return kindNames[k] }

// Error makes a Kind a target for errors.Is.
func (k Kind) Error() string { return kindNames[k] }

// Error is a failed statement.
type Error struct {
	Kind    Kind
	Code    Code     // MySQL's error number
	State   string   // five characters of SQLSTATE
	Message string   // what is wrong, without number, position or hint
	Pos     Position // where in the statement's text; the zero Position if unknown
	Hint    string   // what would be right; may be empty
	Text    string   // the text that Pos points into; may be empty
	cause   error
	about   Expression
}

// Expression is what an error arose in: as messages write it, and the names and operators by which a statement may call it.
type Expression struct {
	Text  string
	Names []string
}

// New returns an error of the given number and kind. The SQLSTATE follows from the number.
func New(code Code, kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, State: code.State(), Message: message(format, args...)}
}

// longestMessage is how many bytes of a message are kept: values in it may be long.
const longestMessage = 2048

// message formats a message, whose middle is left out where it is long.
func message(format string, args ...any) string {
	for i, a := range args {
		if s, ok := a.(string); ok && len(s) > longestMessage {
			args = slices.Clone(args)
			args[i] = shortened(s) // without copies of all of it
		}
	}
	s := fmt.Sprintf(format, args...)
	if len(s) <= longestMessage {
		return s
	}
	return shortened(s)
}

// shortened leaves out the middle of a long string.
func shortened(s string) string {
	return strings.ToValidUTF8(s[:longestMessage*3/4], "") + " ... " + strings.ToValidUTF8(s[len(s)-longestMessage/4:], "")
}

// Error renders the error on one line: number, SQLSTATE, position, message, hint. It begins as the errors of other MySQL drivers do, for
// programs such as ent that look for "Error 1062".
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Error %d (%s)", e.Code, e.State)
	if e.Pos.Known() {
		fmt.Fprintf(&b, " at %s", e.Pos)
	}
	b.WriteString(": ")
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString(" (hint: ")
		b.WriteString(e.Hint)
		b.WriteByte(')')
	}
	return b.String()
}

// Render renders the error for a person, over several lines: the message, the line of the statement with a caret under
// the position where both are known, and the hint. It does not end in a newline.
func (e *Error) Render() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ERROR %d (%s)", e.Code, e.State)
	if e.Pos.Known() {
		fmt.Fprintf(&b, " at %s", e.Pos)
	}
	b.WriteString(": ")
	b.WriteString(e.Message)
	if caret := Caret(e.Text, e.Pos); caret != "" {
		b.WriteByte('\n')
		b.WriteString(caret)
	}
	if e.Hint != "" {
		b.WriteString("\nHint: ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Is matches a Kind, a Code, or another *Error of the same number.
func (e *Error) Is(target error) bool {
	switch t := target.(type) {
	case Kind:
		return e.Kind == t
	case Code:
		return e.Code == t
	case *Error:
		return e.Code == t.Code
	}
	return false
}

// At returns a copy of e with the position pos; an error that already has a position keeps it, because the innermost one is the
// most precise.
func (e *Error) At(pos Position) *Error {
	if e.Pos.Known() {
		return e
	}
	c := *e
	c.Pos = pos
	return &c
}

// AtOffset returns a copy of e with the position of a byte offset of text, which it keeps for rendering.
func (e *Error) AtOffset(text string, offset int) *Error {
	if e.Pos.Known() {
		return e.WithText(text)
	}
	c := *e
	c.Pos, c.Text = PositionAt(text, offset), text
	return &c
}

// WithText returns a copy of e that knows the text its position points into; a text already known is kept.
func (e *Error) WithText(text string) *Error {
	if e.Text != "" {
		return e
	}
	c := *e
	c.Text = text
	return &c
}

// WithHint returns a copy of e with a hint. An empty format leaves e as it is.
func (e *Error) WithHint(format string, args ...any) *Error {
	if format == "" {
		return e
	}
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// WithCause returns a copy of e that wraps err.
func (e *Error) WithCause(err error) *Error {
	c := *e
	c.cause = err
	return &c
}

// In returns a copy of e that knows the expression that it arose in; one that knows a smaller one already keeps it.
func (e *Error) In(x Expression) *Error {
	if e.about.Names != nil {
		return e
	}
	c := *e
	c.about = x
	return &c
}

// Expression returns what the error arose in; without names, if that is not known.
func (e *Error) Expression() Expression { return e.about }

// From returns err as an *Error: itself if it is or wraps one, Interrupted if a context ended, else an internal error
// that wraps it. From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Interrupted(err)
	}
	return Bug("%s", err).WithCause(err)
}
