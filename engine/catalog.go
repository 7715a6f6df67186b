package engine

import (
	"strings"

	"github.com/radish-sql/radish/engine/infoschema"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/delimited"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// catalogView is the binder's view of the catalog: one snapshot, information_schema and files.
type catalogView struct {
	statement *statement // the one that is bound, for the positions of names in it and the files that it reads
	session   *Session
	snap      *catalog.Snapshot
	permanent bool // without TEMPORARY tables
	// temporary is the last TEMPORARY table that was found.
	temporary string
}

// Permanent implements [bind.Catalog].
func (c *catalogView) Permanent() bind.Catalog {
	if c.permanent {
		return c
	}
	own := *c
	own.permanent = true
	return &own
}

// hidden returns the database that holds the TEMPORARY table of a name; empty: there is none.
func (c *catalogView) hidden(db, name string) string {
	if c.permanent {
		return ""
	}
	return c.session.shadowing(db, name)
}

// Table implements [bind.Catalog].
func (c *catalogView) Table(db, name string) (*table.Version, error) {
	v, err := c.table(db, name)
	c.statement.reads.note(c, db, name, v, err)
	return v, err
}

func (c *catalogView) table(db, name string) (*table.Version, error) {
	if strings.EqualFold(db, infoschema.Name) {
		return infoschema.Table(infoSource{c.session}, c.snap, name)
	}
	if hidden := c.hidden(db, name); hidden != "" {
		c.temporary = name
		return c.snap.Table(hidden, name)
	}
	v, err := c.snap.Table(db, name)
	if tx := c.session.tx; err == nil && c.statement.relies && tx != nil {
		if before, err := tx.base.Table(db, name); err == nil {
			tx.rely(before)
		}
	}
	if file := db + "." + name; err != nil && files.FormatOf(file) != files.Unknown && !c.snap.HasDatabase(db) {
		return nil, sqlerr.From(err).WithHint("put the file's whole name in backticks: FROM `%s`", file)
	}
	if err == nil || !strings.Contains(name, ".") {
		return v, err
	}
	if e := sqlerr.From(err); e.Hint == "" {
		if info, statErr := c.session.vars.access.Stat(c.statement.ctx, name); statErr == nil && info.Mode().IsRegular() {
			return nil, e.WithHint("a file of this name exists, but %s", files.WhyUnknown(name))
		}
	}
	return nil, err
}

// View implements [bind.Catalog].
func (c *catalogView) View(db, name string) (bind.View, bool) {
	v := c.view(db, name)
	if v == nil {
		return bind.View{}, false
	}
	stmt, err := parse.One(v.SQL, parse.DefaultMode)
	if err != nil {
		c.statement.reads.noteOther()
		return bind.View{}, false // the text was parsed when the view was made
	}
	c.statement.reads.noteView(c, db, name, v, stmt.Node)
	if stmt.Memory > 0 {
		if err := c.statement.takeTree(stmt.Kept + stmt.Memory); err != nil {
			return bind.View{Err: err}, true
		}
	}
	return bind.View{Select: stmt.Node, Columns: v.Columns, Collation: v.Collation, Check: checkOptions[v.Check], IsTempTable: v.IsTempTable}, true
}

// view returns the view that a name means; nil: it means none.
func (c *catalogView) view(db, name string) *catalog.View {
	if c.hidden(db, name) != "" {
		return nil
	}
	if _, v, err := c.snap.Lookup(db, name); err == nil {
		return v
	}
	return nil
}

var checkOptions = map[string]bind.CheckOption{"LOCAL": bind.CheckLocal, "CASCADED": bind.CheckCascaded}

func (c *catalogView) HasDatabase(db string) bool { return c.snap.HasDatabase(db) }

// File implements [bind.Catalog].
func (c *catalogView) File(name string) (*table.Version, bool, error) {
	v, ok, err := c.file(name)
	if ok || strings.Contains(name, "(") { // some day a function of the program may have the name
		c.statement.reads.noteOther()
	}
	return v, ok, err
}

func (c *catalogView) file(name string) (*table.Version, bool, error) {
	if v, ok, err := c.made(name); ok {
		if err != nil {
			err = c.statement.LocateName(sqlerr.From(err), c.session.vars.parseMode, name)
		}
		return v, true, err
	}
	if name == delimited.TableName && c.statement.files.loaded != nil {
		return c.statement.files.loaded, true, nil
	}
	if v := c.session.wouldBe(name); v != nil {
		return v, true, nil
	}
	v, err := c.statement.file(name)
	if err != nil {
		return nil, true, c.statement.LocateName(sqlerr.From(err), c.session.vars.parseMode, name)
	}
	return v, v != nil, nil
}
