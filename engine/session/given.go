package session

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// wouldBe returns the file that a statement which Check has seen would have written; nil: there is none of that name or pattern.
func (s *Session) wouldBe(name string) *table.Version {
	if len(s.Outfiles) == 0 {
		return nil
	}
	source, _, err := files.ParseName(name)
	if err != nil {
		return nil
	}
	pattern, err := filepath.Abs(source.Pattern)
	if err != nil {
		return nil
	}
	if v := s.Outfiles[pattern]; v != nil {
		return v
	}
	for path, v := range s.Outfiles {
		if match, err := filepath.Match(pattern, path); err == nil && match {
			return v
		}
		folders := strings.Repeat("*/", strings.Count(path, PartitionFolder))
		if match, err := filepath.Match(strings.Replace(pattern, "**/", folders, 1), path); err == nil && match && folders != "" {
			return v
		}
	}
	return nil
}

// GivenKey is the context's key of the tables that a statement is given.
type GivenKey struct{}

// WithTable returns a context whose statements find a table under a name in backticks.
func WithTable(parent context.Context, name string, v *table.Version) context.Context {
	return context.WithValue(parent, GivenKey{}, givenTable{name, v})
}

type givenTable struct {
	name string
	v    *table.Version
}

// made returns the table of a name in FROM that is one given to the statement or the call of a table function; ok is false if it is
// neither.
func (c *CatalogView) made(name string) (v *table.Version, ok bool, err error) {
	if given, _ := c.Statement.Context.Value(GivenKey{}).(givenTable); given.v != nil && given.name == name {
		return given.v, true, nil
	}
	function, rest, found := strings.Cut(name, "(")
	f := c.Session.DB.Added.Table(strings.TrimSpace(function))
	if !found || f == nil {
		return nil, false, nil
	}
	list, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
	if !closed {
		return nil, true, sqlerr.New(sqlerr.CodeParseError, sqlerr.User, "the call %s has no closing parenthesis", name)
	}
	if err := c.Statement.Effects(); err != nil {
		return nil, true, err
	}
	args, err := c.Statement.evaluateList(list)
	if err != nil {
		return nil, true, err
	}
	held := &memory.Account{Budget: c.Statement.Budget(), Operator: "table function " + strings.TrimSpace(function)}
	if v, err = f(table.WithMeter(c.Statement.Context, held.Set), c.Session.Vars.Location, args); err == nil {
		err = held.Set(v.Bytes())
	}
	if err != nil {
		held.Close()
		return nil, true, sqlerr.From(err)
	}
	c.Statement.Files.held = append(c.Statement.Files.held, held.Close)
	return v, true, nil
}

// PartitionFolder is a folder as it would be named, for those who only check statements.
const PartitionFolder = "key=value/"
