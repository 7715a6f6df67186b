package session

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/infoschema"
	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/delimited"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// CatalogView is the binder's view of the catalog: one snapshot, information_schema and files.
type CatalogView struct {
	Statement *Statement // the one that is bound, for the positions of names in it and the files that it reads
	Session   *Session
	Snap      *catalog.Snapshot
	permanent bool // without TEMPORARY tables
	// Temporary is the last TEMPORARY table that was found.
	Temporary string
}

// Permanent implements [bind.Catalog].
func (c *CatalogView) Permanent() bind.Catalog {
	if c.permanent {
		return c
	}
	own := *c
	own.permanent = true
	return &own
}

// hidden returns the database that holds the TEMPORARY table of a name; empty: there is none.
func (c *CatalogView) hidden(db, name string) string {
	if c.permanent {
		return ""
	}
	return c.Session.Shadowing(db, name)
}

// Table implements [bind.Catalog].
func (c *CatalogView) Table(db, name string) (*table.Version, error) {
	v, err := c.table(db, name)
	c.Statement.Reads.note(c, db, name, v, err)
	return v, err
}

func (c *CatalogView) table(db, name string) (*table.Version, error) {
	if strings.EqualFold(db, infoschema.Name) {
		return infoschema.Table(c.Session.InfoSource(), c.Snap, name)
	}
	if hidden := c.hidden(db, name); hidden != "" {
		c.Temporary = name
		return c.Snap.Table(hidden, name)
	}
	v, err := c.Snap.Table(db, name)
	if tx := c.Session.Tx; err == nil && c.Statement.relies && tx != nil {
		if before, err := tx.base.Table(db, name); err == nil {
			tx.rely(before)
		}
	}
	if file := db + "." + name; err != nil && files.FormatOf(file) != files.Unknown && !c.Snap.HasDatabase(db) {
		return nil, sqlerr.From(err).WithHint("put the file's whole name in backticks: FROM `%s`", file)
	}
	if err == nil || !strings.Contains(name, ".") {
		return v, err
	}
	if e := sqlerr.From(err); e.Hint == "" {
		if info, statErr := c.Session.Vars.Access.Stat(c.Statement.Context, name); statErr == nil && info.Mode().IsRegular() {
			return nil, e.WithHint("a file of this name exists, but %s", files.WhyUnknown(name))
		}
	}
	return nil, err
}

// View implements [bind.Catalog].
func (c *CatalogView) View(db, name string) (bind.View, bool) {
	v := c.Defined(db, name)
	if v == nil {
		return bind.View{}, false
	}
	stmt, err := parse.One(v.SQL, parse.DefaultMode)
	if err != nil {
		c.Statement.Reads.noteOther()
		return bind.View{}, false // the text was parsed when the view was made
	}
	c.Statement.Reads.noteView(c, db, name, v, stmt.Node)
	if stmt.Memory > 0 {
		if err := c.Statement.TakeTree(stmt.Kept + stmt.Memory); err != nil {
			return bind.View{Err: err}, true
		}
	}
	return bind.View{Select: stmt.Node, Columns: v.Columns, Collation: v.Collation, Check: checkOptions[v.Check], IsTempTable: v.IsTempTable}, true
}

// Defined returns the view that a name means; nil: it means none.
func (c *CatalogView) Defined(db, name string) *catalog.View {
	if c.hidden(db, name) != "" {
		return nil
	}
	if _, v, err := c.Snap.Lookup(db, name); err == nil {
		return v
	}
	return nil
}

var checkOptions = map[string]bind.CheckOption{"LOCAL": bind.CheckLocal, "CASCADED": bind.CheckCascaded}

// HasDatabase implements [bind.Catalog].
func (c *CatalogView) HasDatabase(db string) bool { return c.Snap.HasDatabase(db) }

// File implements [bind.Catalog].
func (c *CatalogView) File(name string) (*table.Version, bool, error) {
	v, ok, err := c.file(name)
	if ok || strings.Contains(name, "(") { // some day a function of the program may have the name
		c.Statement.Reads.noteOther()
	}
	return v, ok, err
}

func (c *CatalogView) file(name string) (*table.Version, bool, error) {
	if v, ok, err := c.made(name); ok {
		if err != nil {
			err = c.Statement.LocateName(sqlerr.From(err), c.Session.Vars.ParseMode, name)
		}
		return v, true, err
	}
	if name == delimited.TableName && c.Statement.Files.Loaded != nil {
		return c.Statement.Files.Loaded, true, nil
	}
	if v := c.Session.wouldBe(name); v != nil {
		return v, true, nil
	}
	v, err := c.Statement.File(name)
	if err != nil {
		return nil, true, c.Statement.LocateName(sqlerr.From(err), c.Session.Vars.ParseMode, name)
	}
	return v, v != nil, nil
}

// TableReads notes what binding a statement asks of the catalog.
type TableReads struct {
	Tables      []plans.ReadTable
	Views       []plans.ReadView
	ReadsOthers bool // than tables that every session sees, and views whose queries repeat
}

// note adds a table that was found under a name.
func (r *TableReads) note(c *CatalogView, db, name string, v *table.Version, err error) {
	if r == nil {
		return
	}
	if err != nil || c.hidden(db, name) != "" || strings.EqualFold(db, infoschema.Name) {
		r.ReadsOthers = true
		return
	}
	t := plans.ReadTable{NamedRead: plans.NamedRead{Database: db, Name: name, Permanent: c.permanent}, Version: v}
	if !slices.Contains(r.Tables, t) {
		r.Tables = append(r.Tables, t)
	}
}

// noteView adds a view that was found under a name, with its query. What that reads is noted as it is bound.
func (r *TableReads) noteView(c *CatalogView, db, name string, v *catalog.View, query ast.StmtNode) {
	if r == nil {
		return
	}
	if !plans.Repeats(query) {
		r.ReadsOthers = true
		return
	}
	w := plans.ReadView{NamedRead: plans.NamedRead{Database: db, Name: name, Permanent: c.permanent}, View: v}
	if !slices.Contains(r.Views, w) {
		r.Views = append(r.Views, w)
	}
}

// noteOther notes that a name may have meant something else than a table.
func (r *TableReads) noteOther() {
	if r != nil {
		r.ReadsOthers = true
	}
}
