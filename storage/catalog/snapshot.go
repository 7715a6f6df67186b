package catalog

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Snapshot is an immutable state of a catalog. Its With and Without methods return changed copies.
type Snapshot struct {
	databases trie[*database] // by folded name
}

// database is immutable too.
type database struct {
	name      string
	collation *types.Collation     // of new tables that name none; nil: it is not set
	tables    trie[*table.Version] // by folded name
	views     trie[*View]
	foreign   trie[*table.Version] // those of tables that have foreign keys
	checks    trie[string]         // folded names of tables by those of their CHECK constraints
}

// setTable adds a table, or puts a new version in its place.
func (d *database) setTable(v *table.Version) {
	name := fold(v.Schema.Name)
	if old := d.tables.get(name); old == nil || old.Schema != v.Schema {
		d.removeTable(name)
		for _, c := range v.Schema.Checks {
			d.checks.set(fold(c.Name), name)
		}
	}
	d.tables.set(name, v)
	if len(v.Schema.Foreign) > 0 {
		d.foreign.set(name, v)
	}
}

// removeTable takes a table, by its folded name, out if it is there.
func (d *database) removeTable(name string) {
	old := d.tables.get(name)
	if old == nil {
		return
	}
	for _, c := range old.Schema.Checks {
		d.checks.remove(fold(c.Name))
	}
	d.foreign.remove(name)
	d.tables.remove(name)
}

// View is a stored query.
type View struct {
	Database string
	Name     string
	Columns  []string // names given in CREATE VIEW; nil: the query's own
	SQL      string   // the SELECT
	// Collation is that of its literals: the connection's when the view was made.
	Collation   types.Collation
	Check       string // "LOCAL" or "CASCADED": WITH ... CHECK OPTION; empty: it has none
	IsTempTable bool   // ALGORITHM = TEMPTABLE: nobody writes through it
}

func fold(name string) string { return strings.ToLower(name) }

// Databases returns the names of all databases but hidden ones, sorted.
func (s *Snapshot) Databases() []string {
	names := []string{}
	for _, d := range s.databases.all() {
		if !IsHidden(d.name) {
			names = append(names, d.name)
		}
	}
	slices.SortFunc(names, compareFold)
	return names
}

func compareFold(a, b string) int { return strings.Compare(fold(a), fold(b)) }

// HasDatabase says whether there is a database of that name.
func (s *Snapshot) HasDatabase(name string) bool { return s.databases.get(fold(name)) != nil }

// DatabaseName returns a database's name as it was created; an error if there is none of that name.
func (s *Snapshot) DatabaseName(name string) (string, error) {
	d, err := s.database(name)
	if err != nil {
		return "", err
	}
	return d.name, nil
}

func (s *Snapshot) database(name string) (*database, error) {
	if name == "" {
		return nil, sqlerr.NoDatabaseSelected()
	}
	if d := s.databases.get(fold(name)); d != nil {
		return d, nil
	}
	return nil, sqlerr.UnknownDatabase(name, sqlerr.Suggest(name, s.Databases()))
}

// Tables returns the names of a database's tables, sorted. A database that does not exist has none.
func (s *Snapshot) Tables(db string) []string {
	var names []string
	if d := s.databases.get(fold(db)); d != nil {
		for _, t := range d.tables.all() {
			names = append(names, t.Schema.Name)
		}
	}
	slices.SortFunc(names, compareFold)
	return names
}

// Views returns the names of a database's views, sorted. A database that does not exist has none.
func (s *Snapshot) Views(db string) []string {
	var names []string
	if d := s.databases.get(fold(db)); d != nil {
		for _, v := range d.views.all() {
			names = append(names, v.Name)
		}
	}
	slices.SortFunc(names, compareFold)
	return names
}

// Suggest returns the name of a table or view of a database that name was probably meant to be, or "".
func (s *Snapshot) Suggest(db, name string) string {
	return sqlerr.Suggest(name, slices.Concat(s.Tables(db), s.Views(db)))
}

// Lookup finds a table or a view: exactly one of the two is not nil, or there is an error (1046, 1049, 1146).
func (s *Snapshot) Lookup(db, name string) (*table.Version, *View, error) {
	d, err := s.database(db)
	if err != nil {
		return nil, nil, err
	}
	if t := d.tables.get(fold(name)); t != nil {
		return t, nil, nil
	}
	if v := d.views.get(fold(name)); v != nil {
		return nil, v, nil
	}
	return nil, nil, sqlerr.NoSuchTable(d.name+"."+name, s.suggestAnywhere(d, name))
}

// Exists says whether there is a table or view of that name.
func (s *Snapshot) Exists(db, name string) bool {
	d := s.databases.get(fold(db))
	return d != nil && d.free(name) != nil
}

// suggestAnywhere looks for a similar name in the database, then for the very name in others.
func (s *Snapshot) suggestAnywhere(d *database, name string) string {
	if near := s.Suggest(d.name, name); near != "" {
		return near
	}
	for _, other := range s.Databases() {
		if o := s.databases.get(fold(other)); o.free(name) != nil {
			return other + "." + name
		}
	}
	return ""
}

// Table finds a table; a view is not one (1347).
func (s *Snapshot) Table(db, name string) (*table.Version, error) {
	t, v, err := s.Lookup(db, name)
	if v != nil {
		return nil, sqlerr.New(sqlerr.CodeWrongObject, sqlerr.User, "'%s.%s' is not BASE TABLE", v.Database, v.Name)
	}
	return t, err
}

// View finds a view; a table is not one (1347).
func (s *Snapshot) View(db, name string) (*View, error) {
	t, v, err := s.Lookup(db, name)
	if t != nil {
		return nil, sqlerr.New(sqlerr.CodeWrongObject, sqlerr.User, "'%s.%s' is not VIEW", t.Schema.Database, t.Schema.Name)
	}
	return v, err
}

// change returns a copy of s in which the database of that name is a copy that edit has changed.
func (s *Snapshot) change(db string, edit func(*database) error) (*Snapshot, error) {
	d, err := s.database(db)
	if err != nil {
		return nil, err
	}
	own := *d
	if err := edit(&own); err != nil {
		return nil, err
	}
	next := s.clone()
	next.databases.set(fold(db), &own)
	return next, nil
}

func (s *Snapshot) clone() *Snapshot {
	return &Snapshot{databases: s.databases}
}

// WithDatabase adds an empty database (1007 if the name is taken).
func (s *Snapshot) WithDatabase(name string) (*Snapshot, error) {
	if s.HasDatabase(name) {
		return nil, sqlerr.DatabaseExists(name)
	}
	next := s.clone()
	name = strings.Clone(name)
	next.databases.set(fold(name), &database{name: name})
	return next, nil
}

// WithCollation gives a database the collation of new tables in it that name none.
func (s *Snapshot) WithCollation(db string, c types.Collation) (*Snapshot, error) {
	return s.change(db, func(d *database) error {
		d.collation = &c
		return nil
	})
}

// Collation returns what WithCollation set; ok is false if that was nothing.
func (s *Snapshot) Collation(db string) (c types.Collation, ok bool) {
	if d := s.databases.get(fold(db)); d != nil && d.collation != nil {
		return *d.collation, true
	}
	return 0, false
}

// WithoutDatabase drops a database with all that is in it (1008 if there is none).
func (s *Snapshot) WithoutDatabase(name string) (*Snapshot, error) {
	if !s.HasDatabase(name) {
		return nil, sqlerr.NoSuchDatabaseToDrop(name)
	}
	next := s.clone()
	next.databases.remove(fold(name))
	return next, nil
}

// CreateTable adds a table under the names in its schema (1050 if the name is taken, 3822 if that of a CHECK constraint is).
func (s *Snapshot) CreateTable(v *table.Version) (*Snapshot, error) {
	return s.change(v.Schema.Database, func(d *database) error {
		if err := d.free(v.Schema.Name); err != nil {
			return err
		}
		if err := d.freeChecks(v.Schema); err != nil {
			return err
		}
		d.setTable(v)
		return nil
	})
}

// free says whether a name can be taken by a new table or view.
func (d *database) free(name string) error {
	if d.tables.get(fold(name)) != nil || d.views.get(fold(name)) != nil {
		return sqlerr.TableExists(name)
	}
	return nil
}

// ReplaceTable puts a new version in a table's place (1146 if there is none, 3822 if the name of a CHECK constraint is taken).
func (s *Snapshot) ReplaceTable(v *table.Version) (*Snapshot, error) {
	old, err := s.Table(v.Schema.Database, v.Schema.Name)
	if err != nil {
		return nil, err
	}
	return s.change(v.Schema.Database, func(d *database) error {
		if old.Schema != v.Schema {
			if err := d.freeChecks(v.Schema); err != nil {
				return err
			}
		}
		d.setTable(v)
		return nil
	})
}

// DropTable drops a table (1051 if there is none).
func (s *Snapshot) DropTable(db, name string) (*Snapshot, error) {
	return s.change(db, func(d *database) error {
		if d.tables.get(fold(name)) == nil {
			return sqlerr.UnknownTable(d.name+"."+name, sqlerr.Suggest(name, s.Tables(db)))
		}
		d.removeTable(fold(name))
		return nil
	})
}

// RenameTable gives a table another name, in another database perhaps.
func (s *Snapshot) RenameTable(db, name, toDB, toName string) (*Snapshot, error) {
	v, err := s.Table(db, name)
	if err != nil {
		return nil, err
	}
	to, err := s.DatabaseName(toDB)
	if err != nil {
		return nil, err
	}
	next, err := s.DropTable(db, name)
	if err != nil {
		return nil, err
	}
	schema := *v.Schema
	schema.Database, schema.Name = to, strings.Clone(toName)
	schema.Checks = renamedChecks(schema.Checks, v.Schema.Name, toName)
	if next, err = next.CreateTable(v.WithSchema(&schema)); err != nil {
		return nil, err
	}
	return next.redirect(db, v.Schema.Name, &schema)
}

// CreateView adds a view (1050 if the name is taken). With replace it may take the place of a view, but not of a table.
func (s *Snapshot) CreateView(v *View, replace bool) (*Snapshot, error) {
	return s.change(v.Database, func(d *database) error {
		if replace {
			d.views.remove(fold(v.Name))
		}
		if err := d.free(v.Name); err != nil {
			return err
		}
		own := *v
		own.Database, own.Name, own.SQL = d.name, strings.Clone(v.Name), strings.Clone(v.SQL)
		own.Columns = slices.Clone(v.Columns)
		for i, name := range own.Columns { // which are parts of a text that may be long
			own.Columns[i] = strings.Clone(name)
		}
		d.views.set(fold(own.Name), &own)
		return nil
	})
}

// DropView drops a view (1051 if there is none).
func (s *Snapshot) DropView(db, name string) (*Snapshot, error) {
	return s.change(db, func(d *database) error {
		if d.views.get(fold(name)) == nil {
			return sqlerr.UnknownTable(d.name+"."+name, sqlerr.Suggest(name, s.Views(db)))
		}
		d.views.remove(fold(name))
		return nil
	})
}

// Bytes returns about how much memory all tables take.
func (s *Snapshot) Bytes() int64 {
	total := int64(0)
	for _, d := range s.databases.all() {
		for _, t := range d.tables.all() {
			total += t.Bytes()
		}
	}
	return total
}
