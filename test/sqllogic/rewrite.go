package sqllogic

import (
	"context"
	"fmt"
	"strings"
)

// mostValues is how many values of a result Rewrite writes out.
const mostValues = 200

// Rewrite returns the script with every expectation replaced by what the engine answers: results below "----",
// errors as `error`. Comments, conditions and records that do not apply to "mysql" stay as they are. More than
// mostValues values become a hash. A query whose types do not fit its columns is an error.
func Rewrite(ctx context.Context, s Script, open func(context.Context) (Engine, error)) (string, error) {
	engine, err := open(ctx)
	if err != nil {
		return "", err
	}
	defer engine.Close()
	lines := strings.SplitAfter(s.Text, "\n")
	var out strings.Builder
	copied := 0 // lines of the script that out holds
	p := NewParser(s.Name, s.Text)
	for {
		rec, err := p.Next()
		if err != nil {
			return "", err
		}
		if rec == nil || rec.Kind == Halt && rec.AppliesTo("mysql") {
			out.WriteString(strings.Join(lines[copied:], ""))
			return out.String(), nil
		}
		if rec.Kind != Statement && rec.Kind != Query || !rec.AppliesTo("mysql") {
			continue
		}
		out.WriteString(strings.Join(lines[copied:rec.Line-1], ""))
		copied = rec.End
		if rec.Kind == Statement {
			head := "statement ok"
			if err := engine.Exec(ctx, rec.SQL); err != nil {
				head = "statement error"
				if !rec.ExpectError {
					return "", fmt.Errorf("%s:%d: %w", s.Name, rec.Line, err)
				}
				head = strings.TrimSpace(head + " " + rec.ErrorText)
			}
			fmt.Fprintf(&out, "%s\n%s\n", head, rec.SQL)
			continue
		}
		values, err := engine.Query(ctx, rec.SQL, rec.Types)
		if err != nil {
			if !rec.ExpectError {
				return "", fmt.Errorf("%s:%d: %w", s.Name, rec.Line, err)
			}
			fmt.Fprintf(&out, "%s\n%s\n", strings.TrimSpace("query error "+rec.ErrorText), rec.SQL)
			continue
		}
		if rec.ExpectError {
			return "", fmt.Errorf("%s:%d: an error is expected and none came", s.Name, rec.Line)
		}
		head := fmt.Sprintf("query %s %s %s", rec.Types, rec.Sort, rec.Label)
		fmt.Fprintf(&out, "%s\n%s\n----\n", strings.TrimSpace(head), rec.SQL)
		values = sortValues(values, rec.Sort, len(rec.Types))
		if len(values) > mostValues {
			fmt.Fprintf(&out, "%d values hashing to %s\n", len(values), hashValues(values))
			continue
		}
		for _, v := range values {
			fmt.Fprintln(&out, v)
		}
	}
}
