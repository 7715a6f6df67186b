package session

import (
	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/engine/values"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/types"
)

// KeepText keeps the statements of a text, in place of the oldest if there are many. Where the memory limit leaves no memory for them, it does not.
func (s *Session) KeepText(text string, list []parse.Statement) {
	for i := range list {
		if list[i].Rows != nil || accessOf(list[i].Node) != accessRead && accessOf(list[i].Node) != accessWrite {
			return
		}
	}
	s.Plans.KeepText(text, s.Vars.ParseMode, list, plans.MostTreesWithin(s.DB.Opts.MemoryLimit), &s.Values.OfTexts)
}

// HoldForClient counts bytes, instead of those before, that the session's client holds. what is what errors call them.
func (s *Session) HoldForClient(what string, bytes int64) error {
	s.Values.OfClient.Operator = what
	if err := values.Grow(&s.Values.OfClient, bytes-s.Values.OfClient.Used()); err != nil {
		return err
	}
	return nil
}

// Assign gives @name a value, which it keeps as [values.VariableType] says.
func (s *Session) Assign(name string, v types.Value) error {
	t := values.VariableType(v.Type, s.Vars.Collation("collation_connection"))
	if !v.Null && t.IsString() && !v.Type.IsString() {
		v = types.Value{S: v.TextIn(s.Vars.Location)}
	}
	v.Type, v.IsBits = t, false // a literal's bytes are a string in a variable
	return s.Values.Set(name, v)
}

// SetUserVariable gives @name a client's value, or fails for lack of memory. A string is of the connection's collation, as a literal would be.
func (s *Session) SetUserVariable(name string, v types.Value) error {
	if v.Type.HasCollation() {
		v.Type = v.Type.Collate(s.Vars.Collation("collation_connection"))
	}
	return s.Assign(name, v)
}
