package engine

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// show runs SHOW and DESCRIBE.
func (s *Session) show(st *statement, n *ast.ShowStmt) (*Result, error) {
	snap := s.snapshot()
	switch n.Tp {
	case ast.ShowDatabases:
		names := append(snap.Databases(), informationSchema)
		return s.showNames(st, n, "Database", names)
	case ast.ShowTables:
		return s.showTables(st, n, snap)
	case ast.ShowColumns:
		return s.showColumns(st, n, snap)
	case ast.ShowCreateTable, ast.ShowCreateView:
		return s.showCreate(n, snap)
	case ast.ShowCreateDatabase:
		name, err := snap.DatabaseName(n.DBName)
		if err != nil {
			return nil, err
		}
		row := []types.Value{text(name), text("CREATE DATABASE " + quoteName(name))}
		return rowsResult(textColumns("Database", "Create Database"), [][]types.Value{row}), nil
	case ast.ShowIndex:
		return s.showIndex(n, snap)
	case ast.ShowVariables:
		return s.showVariables(st, n)
	case ast.ShowWarnings, ast.ShowErrors:
		return s.showWarnings(n), nil
	case ast.ShowEngines:
		row := []types.Value{text("Radish"), text("DEFAULT"), text("In-memory columnar tables")}
		return rowsResult(textColumns("Engine", "Support", "Comment"), [][]types.Value{row}), nil
	case ast.ShowCharset:
		row := []types.Value{text("utf8mb4"), text("UTF-8 Unicode"), text("utf8mb4_bin")}
		return rowsResult(textColumns("Charset", "Description", "Default collation"), [][]types.Value{row}), nil
	case ast.ShowCollation:
		return rowsResult(textColumns("Collation", "Charset"), [][]types.Value{{text("utf8mb4_bin"), text("utf8mb4")}}), nil
	}
	return nil, sqlerr.NotSupportedf("this SHOW",
		"%s; SHOW TABLES, DATABASES, COLUMNS, INDEX, CREATE TABLE, VARIABLES and WARNINGS are there", firstWords(st.Text))
}

// pattern returns a test of names for a SHOW's LIKE.
func (s *Session) pattern(st *statement, n *ast.ShowStmt) (func(string) (bool, error), error) {
	if n.Where != nil {
		return nil, sqlerr.NotSupportedf("SHOW ... WHERE", "use LIKE, or query information_schema")
	}
	if n.Pattern == nil {
		return func(string) (bool, error) { return true, nil }, nil
	}
	return func(name string) (bool, error) {
		v, err := st.binder().Like(strings.ToLower(name), n.Pattern)
		if err != nil {
			return false, err
		}
		return v, nil
	}, nil
}

func (s *Session) showNames(st *statement, n *ast.ShowStmt, heading string, names []string) (*Result, error) {
	matches, err := s.pattern(st, n)
	if err != nil {
		return nil, err
	}
	var rows [][]types.Value
	for _, name := range names {
		ok, err := matches(name)
		if err != nil {
			return nil, err
		}
		if ok {
			rows = append(rows, []types.Value{text(name)})
		}
	}
	return rowsResult([]ResultColumn{{Name: heading, Type: types.Text}}, rows), nil
}

func (s *Session) showTables(st *statement, n *ast.ShowStmt, snap *catalog.Snapshot) (*Result, error) {
	db := n.DBName
	if db == "" {
		db = s.database
	}
	if strings.EqualFold(db, informationSchema) {
		return s.showNames(st, n, "Tables_in_"+informationSchema, virtualTableNames())
	}
	name, err := snap.DatabaseName(db)
	if err != nil {
		return nil, err
	}
	matches, err := s.pattern(st, n)
	if err != nil {
		return nil, err
	}
	cols := []ResultColumn{{Name: "Tables_in_" + name, Type: types.Text}}
	if n.Full {
		cols = append(cols, ResultColumn{Name: "Table_type", Type: types.Text})
	}
	var rows [][]types.Value
	add := func(names []string, kind string) error {
		for _, t := range names {
			ok, err := matches(t)
			if err != nil {
				return err
			}
			if ok {
				rows = append(rows, []types.Value{text(t), text(kind)}[:len(cols)])
			}
		}
		return nil
	}
	if err := add(snap.Tables(name), "BASE TABLE"); err != nil {
		return nil, err
	}
	if err := add(snap.Views(name), "VIEW"); err != nil {
		return nil, err
	}
	return rowsResult(cols, rows), nil
}

// describeColumn is a column as DESCRIBE shows it.
func describeColumn(schema *table.Schema, ordinal int) []types.Value {
	def := &schema.Columns[ordinal]
	null := "NO"
	if def.Nullable {
		null = "YES"
	}
	value := types.NullOf(types.Text)
	extra := ""
	if d := def.Default; d != nil {
		if d.Expr != "" {
			value, extra = text(d.Expr), "DEFAULT_GENERATED"
		} else if !d.Value.Null {
			value = text(d.Value.Text())
		}
	}
	if def.AutoIncrement {
		extra = "auto_increment"
	}
	return []types.Value{
		text(def.Name), text(strings.ToLower(def.Type.String())), text(null), text(keyOf(schema, ordinal)), value, text(extra),
	}
}

// keyOf returns MySQL's letters for the part that a column plays in keys: PRI, UNI, MUL or nothing.
func keyOf(schema *table.Schema, ordinal int) string {
	out := ""
	for _, k := range schema.Keys {
		for i, o := range k.Columns {
			switch {
			case o != ordinal:
			case k.Primary:
				return "PRI"
			case k.Unique && len(k.Columns) == 1:
				out = "UNI"
			case i == 0 && out == "":
				out = "MUL"
			}
		}
	}
	return out
}

func (s *Session) showColumns(st *statement, n *ast.ShowStmt, snap *catalog.Snapshot) (*Result, error) {
	schema, err := s.schemaOf(st, n, snap)
	if err != nil {
		return nil, err
	}
	matches, err := s.pattern(st, n)
	if err != nil {
		return nil, err
	}
	var rows [][]types.Value
	for i := range schema.Columns {
		name := schema.Columns[i].Name
		if n.Column != nil && !strings.EqualFold(n.Column.Name.O, name) {
			continue
		}
		ok, err := matches(name)
		if err != nil {
			return nil, err
		}
		if ok {
			row := describeColumn(schema, i)
			if n.Full {
				collation := types.NullOf(types.Text)
				if t := schema.Columns[i].Type; t.IsString() && !t.IsBinaryString() {
					collation = text("utf8mb4_bin")
				}
				row = append(append([]types.Value{row[0], row[1], collation}, row[2:]...),
					text("select,insert,update"), text(schema.Columns[i].Comment))
			}
			rows = append(rows, row)
		}
	}
	if n.Full {
		return rowsResult(textColumns("Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment"), rows), nil
	}
	return rowsResult(textColumns("Field", "Type", "Null", "Key", "Default", "Extra"), rows), nil
}

// schemaOf returns the definition of the table, view or file of a SHOW; a view's is made from its query.
func (s *Session) schemaOf(st *statement, n *ast.ShowStmt, snap *catalog.Snapshot) (*table.Schema, error) {
	t := *n.Table
	if n.DBName != "" && t.Schema.O == "" {
		t.Schema = ast.NewCIStr(n.DBName)
	}
	if t.Schema.O == "" {
		if v, ok, err := st.catalogView().File(t.Name.O); err != nil {
			return nil, err
		} else if ok {
			return v.Schema, nil
		}
	}
	db, name, err := s.qualify(&t)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(db, informationSchema) {
		v, err := s.virtualTable(snap, name)
		if err != nil {
			return nil, err
		}
		return v.Schema, nil
	}
	v, view, err := snap.Lookup(db, name)
	if err != nil {
		return nil, err
	}
	if v != nil {
		return v.Schema, nil
	}
	bound, _ := st.catalogView().View(db, name)
	b := st.binder()
	b.Locate = nil
	q, err := b.Query(bound.Select)
	if err != nil {
		return nil, err
	}
	schema := &table.Schema{Database: db, Name: name}
	for i, c := range q.Cols {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: view.Columns[i], Type: c.Typ, Nullable: c.Null})
	}
	return schema, nil
}

func (s *Session) showCreate(n *ast.ShowStmt, snap *catalog.Snapshot) (*Result, error) {
	db, name, err := s.qualify(n.Table)
	if err != nil {
		return nil, err
	}
	v, view, err := snap.Lookup(db, name)
	if err != nil {
		return nil, err
	}
	if view != nil {
		return rowsResult(textColumns("View", "Create View"), [][]types.Value{{text(view.Name), text(CreateViewSQL(view))}}), nil
	}
	if n.Tp == ast.ShowCreateView {
		return nil, sqlerr.New(sqlerr.CodeWrongObject, sqlerr.User, "'%s.%s' is not VIEW", db, name)
	}
	return rowsResult(textColumns("Table", "Create Table"), [][]types.Value{{text(v.Schema.Name), text(CreateTableSQL(v.Schema))}}), nil
}

// CreateTableSQL writes the statement that makes a table.
func CreateTableSQL(schema *table.Schema) string {
	var parts []string
	for i := range schema.Columns {
		c := &schema.Columns[i]
		p := "  " + quoteName(c.Name) + " " + c.Type.String()
		if !c.Nullable {
			p += " NOT NULL"
		}
		if d := c.Default; d != nil {
			switch {
			case d.Expr != "":
				if !strings.HasPrefix(d.Expr, "(") { // a call that stood alone
					p += " DEFAULT (" + d.Expr + ")"
				} else {
					p += " DEFAULT " + d.Expr
				}
			case !d.Value.Null:
				p += " DEFAULT " + quoteText(d.Value.Text())
			}
		}
		if c.AutoIncrement {
			p += " AUTO_INCREMENT"
		}
		if c.Comment != "" {
			p += " COMMENT " + quoteText(c.Comment)
		}
		parts = append(parts, p)
	}
	for _, k := range schema.Keys {
		names := make([]string, len(k.Columns))
		for i, o := range k.Columns {
			names[i] = quoteName(schema.Columns[o].Name)
		}
		kind := "KEY " + quoteName(k.Name)
		switch {
		case k.Primary:
			kind = "PRIMARY KEY"
		case k.Unique:
			kind = "UNIQUE KEY " + quoteName(k.Name)
		}
		parts = append(parts, "  "+kind+" ("+strings.Join(names, ",")+")")
	}
	for _, c := range schema.Checks {
		p := "  CONSTRAINT " + quoteName(c.Name) + " CHECK (" + c.SQL + ")"
		if c.NotEnforced {
			p += " NOT ENFORCED"
		}
		parts = append(parts, p)
	}
	out := "CREATE TABLE " + quoteName(schema.Name) + " (\n" + strings.Join(parts, ",\n") + "\n)"
	if schema.Comment != "" {
		out += " COMMENT=" + quoteText(schema.Comment)
	}
	return out
}

// CreateViewSQL writes the statement that makes a view.
func CreateViewSQL(v *catalog.View) string {
	names := make([]string, len(v.Columns))
	for i, c := range v.Columns {
		names[i] = quoteName(c)
	}
	return "CREATE VIEW " + quoteName(v.Name) + " (" + strings.Join(names, ",") + ") AS " + v.SQL
}

func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func (s *Session) showIndex(n *ast.ShowStmt, snap *catalog.Snapshot) (*Result, error) {
	db, name, err := s.qualify(n.Table)
	if err != nil {
		return nil, err
	}
	v, err := snap.Table(db, name)
	if err != nil {
		return nil, err
	}
	var rows [][]types.Value
	for _, k := range v.Schema.Keys {
		for i, o := range k.Columns {
			nonUnique, null := int64(1), ""
			if k.Unique {
				nonUnique = 0
			}
			if v.Schema.Columns[o].Nullable {
				null = "YES"
			}
			rows = append(rows, []types.Value{
				text(v.Schema.Name), types.IntValue(nonUnique), text(k.Name), types.IntValue(int64(i + 1)),
				text(v.Schema.Columns[o].Name), text(null),
			})
		}
	}
	cols := textColumns("Table", "Non_unique", "Key_name", "Seq_in_index", "Column_name", "Null")
	cols[1].Type, cols[3].Type = types.Int64, types.Int64
	return rowsResult(cols, rows), nil
}

func (s *Session) showVariables(st *statement, n *ast.ShowStmt) (*Result, error) {
	matches, err := s.pattern(st, n)
	if err != nil {
		return nil, err
	}
	var rows [][]types.Value
	for i := range systemVariables {
		def := &systemVariables[i]
		ok, err := matches(def.name)
		if err != nil {
			return nil, err
		}
		if ok {
			rows = append(rows, []types.Value{text(def.name), text(s.vars.get(def))})
		}
	}
	return rowsResult(textColumns("Variable_name", "Value"), rows), nil
}

func (s *Session) showWarnings(n *ast.ShowStmt) *Result {
	var rows [][]types.Value
	for _, w := range s.warnings.List() {
		if n.Tp == ast.ShowErrors && w.Level != sqlerr.LevelError {
			continue
		}
		rows = append(rows, []types.Value{text(w.Level.String()), types.IntValue(int64(w.Code)), text(w.Message)})
	}
	if n.CountWarningsOrErrors {
		what := "warning"
		if n.Tp == ast.ShowErrors {
			what = "error"
		}
		return rowsResult([]ResultColumn{{Name: "@@session." + what + "_count", Type: types.Int64}},
			[][]types.Value{{types.IntValue(int64(len(rows)))}})
	}
	cols := textColumns("Level", "Code", "Message")
	cols[1].Type = types.Int64
	return rowsResult(cols, rows)
}

// analyze runs ANALYZE TABLE, which has nothing to do: statistics are made when a plan asks for them. As in MySQL, tables that are
// not there are told of in the rows.
func (s *Session) analyze(n *ast.AnalyzeTableStmt) (*Result, error) {
	snap := s.snapshot()
	var rows [][]types.Value
	for _, t := range n.TableNames {
		db, name, err := s.qualify(t)
		if err != nil {
			return nil, err
		}
		message := func(kind, words string) {
			rows = append(rows, []types.Value{text(db + "." + name), text("analyze"), text(kind), text(words)})
		}
		if _, err := snap.Table(db, name); err != nil {
			message("Error", sqlerr.From(err).Message)
			message("status", "Operation failed")
			continue
		}
		message("status", "OK")
	}
	return rowsResult(textColumns("Table", "Op", "Msg_type", "Msg_text"), rows), nil
}
