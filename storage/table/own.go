package table

import (
	"slices"
	"strings"
)

// Own returns a copy of a definition whose strings are its own: a name that is a piece of a long statement would keep the statement's text in memory.
func (s *Schema) Own() *Schema {
	out := *s
	for _, text := range []*string{&out.Database, &out.Name, &out.Comment} {
		*text = strings.Clone(*text)
	}
	out.Columns = slices.Clone(s.Columns)
	for i := range out.Columns {
		out.Columns[i].own()
	}
	out.Keys = slices.Clone(s.Keys)
	for i := range out.Keys {
		out.Keys[i].Name = strings.Clone(out.Keys[i].Name)
	}
	out.Foreign = slices.Clone(s.Foreign)
	for i := range out.Foreign {
		f := &out.Foreign[i]
		f.Name, f.Database, f.Table, f.Referenced = strings.Clone(f.Name), strings.Clone(f.Database), strings.Clone(f.Table), ownAll(f.Referenced)
	}
	out.Checks = slices.Clone(s.Checks)
	for i := range out.Checks {
		out.Checks[i].Name, out.Checks[i].SQL = strings.Clone(out.Checks[i].Name), strings.Clone(out.Checks[i].SQL)
	}
	return &out
}

func (c *ColumnDef) own() {
	c.Name, c.Comment = strings.Clone(c.Name), strings.Clone(c.Comment)
	if c.Default != nil {
		d := *c.Default
		d.Value.S, d.Expr = strings.Clone(d.Value.S), strings.Clone(d.Expr)
		c.Default = &d
	}
	if c.Generated != nil {
		g := *c.Generated
		g.SQL = strings.Clone(g.SQL)
		c.Generated = &g
	}
}

func ownAll(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = strings.Clone(out[i])
	}
	return out
}
