package sqllogic

import (
	"fmt"
	"strconv"
	"strings"
)

// SortMode says how a query's values are ordered before they are compared.
type SortMode string

const (
	NoSort    SortMode = "nosort"    // as the engine returned them
	RowSort   SortMode = "rowsort"   // whole rows, as text, bytewise
	ValueSort SortMode = "valuesort" // single values, rows forgotten
)

// Kind is what a record asks for.
type Kind uint8

const (
	Statement Kind = iota
	Query
	Halt
	HashThreshold
)

// Record is one entry of a script. Lines are numbered from one; Line is the line of the statement or query
// keyword, Start and End bound the record's own lines (conditions before it excluded, the blank line after it
// too), so that a rewriter can replace them.
type Record struct {
	Kind        Kind
	Conditions  []Condition
	Line        int
	SQL         string
	ExpectError bool
	ErrorText   string // part of the message wanted; empty: any error
	Types       string // one of T, I, R per column
	Sort        SortMode
	Label       string
	Expected    []string // one value an entry
	Hash        string   // set instead of Expected when the script gives an MD5
	HashValues  int      // how many values Hash stands for
	Threshold   int      // for HashThreshold records
	ResultStart int      // line after "----", 0 where there is none
	End         int      // last line of the record
}

// Condition is a skipif or onlyif line.
type Condition struct {
	Only   bool
	Engine string
}

// AppliesTo reports whether every condition lets the named engine run the record.
func (r *Record) AppliesTo(engine string) bool {
	for _, c := range r.Conditions {
		if c.Only != (c.Engine == engine) {
			return false
		}
	}
	return true
}

// Parser reads the records of a script one by one. It copies nothing: a record's strings are parts of the script.
type Parser struct {
	name string
	text string
	line int
}

// NewParser reads from text; name stands in error messages.
func NewParser(name, text string) *Parser {
	return &Parser{name: name, text: text}
}

// next returns the coming line without its end; ok is false at the end of the script.
func (p *Parser) next() (line string, ok bool) {
	if p.text == "" {
		return "", false
	}
	line, p.text, _ = strings.Cut(p.text, "\n")
	p.line++
	return strings.TrimSuffix(line, "\r"), true
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// header splits a control line into words, dropping a trailing comment.
func header(line string) []string {
	line, _, _ = strings.Cut(line, "#")
	return strings.Fields(line)
}

// Next returns the next record, or nil at the end of the script.
func (p *Parser) Next() (*Record, error) {
	var conditions []Condition
	for {
		line, ok := p.next()
		if !ok {
			return nil, nil
		}
		words := header(line)
		if len(words) == 0 {
			continue
		}
		rec := &Record{Conditions: conditions, Line: p.line, End: p.line}
		switch words[0] {
		case "skipif", "onlyif":
			if len(words) < 2 {
				return nil, p.errorf("%s needs the name of an engine", words[0])
			}
			conditions = append(conditions, Condition{Only: words[0] == "onlyif", Engine: words[1]})
		case "halt":
			rec.Kind = Halt
			return rec, nil
		case "hash-threshold":
			if len(words) < 2 {
				return nil, p.errorf("hash-threshold needs a number")
			}
			n, err := strconv.Atoi(words[1])
			if err != nil {
				return nil, p.errorf("hash-threshold %q is not a number", words[1])
			}
			rec.Kind, rec.Threshold = HashThreshold, n
			return rec, nil
		case "statement":
			return rec, p.statement(rec, words)
		case "query":
			return rec, p.query(rec, words)
		default:
			return nil, p.errorf("unknown record %q", words[0])
		}
	}
}

func (p *Parser) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.name, p.line, fmt.Sprintf(format, args...))
}

func (p *Parser) statement(rec *Record, words []string) error {
	rec.Kind = Statement
	if len(words) < 2 || words[1] != "ok" && words[1] != "error" {
		return p.errorf("a statement is `ok` or `error`")
	}
	rec.ExpectError = words[1] == "error"
	if rec.ExpectError {
		rec.ErrorText = strings.Join(words[2:], " ")
	}
	rec.SQL, rec.End, _ = p.sql()
	if rec.SQL == "" {
		return p.errorf("statement without SQL")
	}
	return nil
}

func (p *Parser) query(rec *Record, words []string) error {
	rec.Kind, rec.Sort = Query, NoSort
	if len(words) < 2 {
		return p.errorf("query needs column types")
	}
	if words[1] == "error" {
		rec.ExpectError = true
		rec.ErrorText = strings.Join(words[2:], " ")
	} else {
		rec.Types = words[1]
		if i := strings.IndexFunc(rec.Types, func(c rune) bool { return c != 'I' && c != 'R' && c != 'T' }); i >= 0 {
			return p.errorf("column type %q is none of I, R, T", rec.Types[i])
		}
		if len(words) > 2 {
			rec.Sort = SortMode(words[2])
			if rec.Sort != NoSort && rec.Sort != RowSort && rec.Sort != ValueSort {
				return p.errorf("sort mode %q is none of nosort, rowsort, valuesort", words[2])
			}
		}
		if len(words) > 3 {
			rec.Label = words[3]
		}
	}
	var results bool
	rec.SQL, rec.End, results = p.sql()
	if rec.SQL == "" {
		return p.errorf("query without SQL")
	}
	if !results {
		return nil
	}
	rec.ResultStart = p.line + 1
	for {
		line, ok := p.next()
		if !ok || line == "" { // a line of spaces is a value
			break
		}
		rec.End = p.line
		rec.Expected = append(rec.Expected, line)
	}
	if len(rec.Expected) == 1 {
		if n, hash, ok := parseHash(rec.Expected[0]); ok {
			rec.Expected, rec.HashValues, rec.Hash = nil, n, hash
		}
	}
	return nil
}

// sql collects lines up to a blank one, the end, or "----"; results says that it was "----", end is the last line taken.
func (p *Parser) sql() (sql string, end int, results bool) {
	first := ""
	var rest []string
	for {
		line, ok := p.next()
		if !ok || blank(line) {
			break
		}
		end = p.line
		if line == "----" {
			results = true
			break
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		if first == "" {
			first = line
		} else {
			rest = append(rest, line)
		}
	}
	if rest != nil {
		return first + "\n" + strings.Join(rest, "\n"), end, results
	}
	return first, end, results
}

// parseHash reads "30 values hashing to 3c13dee48d9356ae19af2515e05e6b54".
func parseHash(line string) (n int, hash string, ok bool) {
	count, hash, ok := strings.Cut(line, " values hashing to ")
	if !ok || len(hash) != 32 {
		return 0, "", false
	}
	n, err := strconv.Atoi(count)
	return n, hash, err == nil
}
