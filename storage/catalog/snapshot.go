package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Snapshot is an immutable state of a catalog. Its With and Without methods return changed copies.
type Snapshot struct {
	databases map[string]*database // by folded name
	version   uint64
}

// database is immutable too.
type database struct {
	name      string
	collation *types.Collation          // of new tables that name none; nil: it is not set
	tables    map[string]*table.Version // by folded name
	views     map[string]*View
}

// View is a stored query.
type View struct {
	Database string
	Name     string
	Columns  []string // names given in CREATE VIEW; nil: the query's own
	SQL      string   // the SELECT
	// Collation is that of its literals: the connection's when the view was made.
	Collation types.Collation
	Check     string // "LOCAL" or "CASCADED": WITH ... CHECK OPTION; empty: it has none
	TempTable bool   // ALGORITHM = TEMPTABLE: nobody writes through it
}

func fold(name string) string { return strings.ToLower(name) }

// Version is a number that grows with every change. Two snapshots of one catalog with the same number are the same.
func (s *Snapshot) Version() uint64 { return s.version }

// Databases returns the names of all databases but hidden ones, sorted.
func (s *Snapshot) Databases() []string {
	names := make([]string, 0, len(s.databases))
	for _, d := range s.databases {
		if !IsHidden(d.name) {
			names = append(names, d.name)
		}
	}
	slices.SortFunc(names, compareFold)
	return names
}

func compareFold(a, b string) int { return strings.Compare(fold(a), fold(b)) }

// HasDatabase says whether there is a database of that name.
func (s *Snapshot) HasDatabase(name string) bool { return s.databases[fold(name)] != nil }

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
	if d := s.databases[fold(name)]; d != nil {
		return d, nil
	}
	return nil, sqlerr.UnknownDatabase(name, sqlerr.Suggest(name, s.Databases()))
}

// Tables returns the names of a database's tables, sorted. A database that does not exist has none.
func (s *Snapshot) Tables(db string) []string {
	var names []string
	if d := s.databases[fold(db)]; d != nil {
		for _, t := range d.tables {
			names = append(names, t.Schema.Name)
		}
	}
	slices.SortFunc(names, compareFold)
	return names
}

// Views returns the names of a database's views, sorted. A database that does not exist has none.
func (s *Snapshot) Views(db string) []string {
	var names []string
	if d := s.databases[fold(db)]; d != nil {
		for _, v := range d.views {
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
	if t := d.tables[fold(name)]; t != nil {
		return t, nil, nil
	}
	if v := d.views[fold(name)]; v != nil {
		return nil, v, nil
	}
	return nil, nil, sqlerr.NoSuchTable(d.name+"."+name, s.suggestAnywhere(d, name))
}

// suggestAnywhere looks for a similar name in the database, then for the very name in others.
func (s *Snapshot) suggestAnywhere(d *database, name string) string {
	if near := s.Suggest(d.name, name); near != "" {
		return near
	}
	for _, other := range s.Databases() {
		if o := s.databases[fold(other)]; o.tables[fold(name)] != nil || o.views[fold(name)] != nil {
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
	own := &database{name: d.name, collation: d.collation, tables: maps.Clone(d.tables), views: maps.Clone(d.views)}
	if own.tables == nil {
		own.tables = map[string]*table.Version{}
	}
	if own.views == nil {
		own.views = map[string]*View{}
	}
	if err := edit(own); err != nil {
		return nil, err
	}
	next := s.clone()
	next.databases[fold(db)] = own
	return next, nil
}

func (s *Snapshot) clone() *Snapshot {
	return &Snapshot{databases: maps.Clone(s.databases), version: s.version + 1}
}

// WithDatabase adds an empty database (1007 if the name is taken).
func (s *Snapshot) WithDatabase(name string) (*Snapshot, error) {
	if s.HasDatabase(name) {
		return nil, sqlerr.DatabaseExists(name)
	}
	next := s.clone()
	name = strings.Clone(name)
	next.databases[fold(name)] = &database{name: name}
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
	if d := s.databases[fold(db)]; d != nil && d.collation != nil {
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
	delete(next.databases, fold(name))
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
		d.tables[fold(v.Schema.Name)] = v
		return nil
	})
}

// free says whether a name can be taken by a new table or view.
func (d *database) free(name string) error {
	if d.tables[fold(name)] != nil || d.views[fold(name)] != nil {
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
		d.tables[fold(v.Schema.Name)] = v
		return nil
	})
}

// DropTable drops a table (1051 if there is none).
func (s *Snapshot) DropTable(db, name string) (*Snapshot, error) {
	return s.change(db, func(d *database) error {
		if d.tables[fold(name)] == nil {
			return sqlerr.UnknownTable(d.name+"."+name, sqlerr.Suggest(name, s.Tables(db)))
		}
		delete(d.tables, fold(name))
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
			delete(d.views, fold(v.Name))
		}
		if err := d.free(v.Name); err != nil {
			return err
		}
		own := *v
		own.Database, own.Name, own.SQL = d.name, strings.Clone(v.Name), strings.Clone(v.SQL)
		d.views[fold(own.Name)] = &own
		return nil
	})
}

// DropView drops a view (1051 if there is none).
func (s *Snapshot) DropView(db, name string) (*Snapshot, error) {
	return s.change(db, func(d *database) error {
		if d.views[fold(name)] == nil {
			return sqlerr.UnknownTable(d.name+"."+name, sqlerr.Suggest(name, s.Views(db)))
		}
		delete(d.views, fold(name))
		return nil
	})
}

// Bytes returns about how much memory all tables take.
func (s *Snapshot) Bytes() int64 {
	total := int64(0)
	for _, d := range s.databases {
		for _, t := range d.tables {
			total += t.Bytes()
		}
	}
	return total
}
